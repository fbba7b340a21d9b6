"""How text becomes terms, at indexing and at search time alike."""

from java.util import HashMap
from org.apache.lucene.analysis import Analyzer
from org.apache.lucene.analysis.core import KeywordAnalyzer
from org.apache.lucene.analysis.custom import CustomAnalyzer
from org.apache.lucene.analysis.miscellaneous import PerFieldAnalyzerWrapper

from shared import schema

_TEXT_FILTERS = ("lowercase", "icuFolding")
"""Names of Lucene's token filters. ICU folding makes "Café" and "cafe" one term (UTR #30)."""


def analyzer() -> Analyzer:
    """The analyzer of every field: text is cut at word boundaries (UAX #29) and folded, keywords
    stay whole. It may be shared by threads. The virtual machine must run.
    """
    text = CustomAnalyzer.builder().withTokenizer("standard", [])
    for name in _TEXT_FILTERS:
        text = text.addTokenFilter(name, [])
    keywords = HashMap()
    for field in schema.KEYWORD_FIELDS:
        keywords.put(field, KeywordAnalyzer())
    return PerFieldAnalyzerWrapper(text.build(), keywords)
