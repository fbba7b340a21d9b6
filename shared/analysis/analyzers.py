"""Analyzers of the fields: the tokenizer and token filters that make their terms."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

import lucene  # noqa: F401 - makes the packages org and java importable
from java.nio.file import Paths
from java.util import Hashtable
from org.apache.lucene.analysis import Analyzer, TokenStream
from org.apache.lucene.analysis.core import KeywordAnalyzer
from org.apache.lucene.analysis.custom import CustomAnalyzer
from org.apache.lucene.analysis.miscellaneous import PerFieldAnalyzerWrapper
from org.apache.lucene.analysis.tokenattributes import (
    CharTermAttribute,
    PositionIncrementAttribute,
)

from shared.analysis.languages import (
    FOLDED,
    KNOWN,
    LANGUAGES,
    Chain,
    Step,
    chain,
    dictionary_lookup,
)
from shared.model import schema

_REMEMBERED: Final = 10_000
"""Number of query words whose terms are cached; many words recur."""

_LONGEST: Final = 64
"""Maximum length of a cached word, in characters; longer texts would fill the memory, and do not
recur."""

_RESOURCES: Final = Path(__file__).parent
"""Folder that is searched for dictionaries and word lists before Lucene's own resources."""

_CONNECTING: Final = "-_./:@#+&"
"""Characters that join several words to one identifier, as in DEC-0054 or user@host."""

_OTHER_SIGNS: Final = (
    " \t\r\n\f\v\u0085\u00a0\u2007\u2028\u2029\u202f\u3000()[]{}<>,;!?|\\*%$=~^`'\""
)
_QUOTES: Final = "„“”‚‘’«»‹›…。、，；：！？（）「」『』【】·•–—"  # noqa: RUF001 - as in texts


def _escaped(characters: str) -> str:
    """Return characters escaped for a Lucene regular expression (`RegExp`)."""
    return "".join(f"\\{character}" for character in characters)


_SIGN: Final = f"[{_escaped(_CONNECTING)}]"
_LETTER: Final = f"[^{_escaped(_CONNECTING + _OTHER_SIGNS + _QUOTES)}]"
_IDENTIFIER: Final = "|".join(
    (
        rf"[\@\#\.]?{_LETTER}+({_SIGN}+{_LETTER}+)+(\+\+|\#)?",
        rf"{_LETTER}+(\+\+|\#)",
        rf"[\@\#\.]{_LETTER}+",
    )
)
"""Word with punctuation in it, or with leading or trailing signs that belong to names: .NET,
C++."""

_IDENTIFIER_TOKENIZER: Final = Step("simplePattern", {"pattern": _IDENTIFIER})

_FIELDS: Final[Mapping[str, Chain]] = {
    schema.REVERSED: chain(*FOLDED, "reverseString"),
    schema.STEMS: chain(tokenizer="whitespace"),
    schema.TITLE_STEMS: chain(tokenizer="whitespace"),
    schema.IDENTIFIERS: chain(
        Step(
            "wordDelimiterGraph",
            {
                "preserveOriginal": "1",
                "catenateWords": "1",
                "splitOnCaseChange": "0",
                "splitOnNumerics": "0",
                "stemEnglishPossessive": "0",
            },
        ),
        "flattenGraph",
        *FOLDED,
        tokenizer=_IDENTIFIER_TOKENIZER,
    ),
}
"""Chains of fields with their own analysis, for writing to the index."""

_TEXT: Final = chain(*FOLDED)
"""Chain of all other fields: words at the boundaries of Unicode (UAX #29), folded."""

_IN_QUERIES: Final = {schema.IDENTIFIERS: chain(*FOLDED, tokenizer=_IDENTIFIER_TOKENIZER)}
"""Chains of fields that differ in queries: identifiers are searched whole, while the index also has
their parts."""


def writing_analyzer() -> Analyzer:
    """Return the analyzer of an `IndexWriter`, to which `prepare` adds the fields beforehand.

    Keywords stay whole. The virtual machine must run.
    """
    # Lucene keeps a reference to this map, so a language costs nothing before its first text.
    return PerFieldAnalyzerWrapper(_built(_TEXT), _prepared())


@cache
def _prepared() -> Any:
    """Return the analyzers of fields that are not analyzed as plain text."""
    # Synchronized: Lucene reads it in one thread while another one adds to it.
    by_field = Hashtable()
    for field in schema.KEYWORD_FIELDS:
        by_field.put(field, KeywordAnalyzer())
    return by_field


@cache
def prepare(field: str) -> None:
    """Add the chain of a field to the writing analyzer."""
    _prepared().put(field, writing_analyzer_of(field))


def writing_steps(field: str) -> Chain:
    """Return the chain that makes the terms of a text field when it is written to the index."""
    return _FIELDS.get(field, _TEXT)


@cache
def writing_analyzer_of(field: str) -> Analyzer:
    """Return the analyzer of a text field when it is written; threads may share it."""
    return _built(writing_steps(field))


@cache
def query_analyzer(field: str) -> Analyzer:
    """Return the analyzer for query text in a field; threads may share it."""
    return _built(_IN_QUERIES[field]) if field in _IN_QUERIES else writing_analyzer_of(field)


def tokens(field: str, text: str) -> Sequence[Sequence[str]]:
    """Return the terms of a query text in a field, a sequence for each position.

    A position has several terms if a word has several lemmas.
    """
    if is_ascii_word(text) and field not in _IN_QUERIES:
        return ((text.lower(),),)
    return _known_tokens(field, text) if len(text) <= _LONGEST else _tokens(field, text)


def is_ascii_word(text: str) -> bool:
    """Check whether a text is a word of the letters A to Z, which folding only makes small.

    Calling an analyzer takes far longer.
    """
    return len(text) <= _LONGEST and text.isascii() and text.isalpha()


def _tokens(field: str, text: str) -> Sequence[Sequence[str]]:
    return tokens_of(query_analyzer(field), text)


def tokens_of(analyzer: Analyzer, text: str) -> Sequence[Sequence[str]]:
    """Return the terms that an analyzer makes of a text, a sequence for each position."""
    stream = TokenStream.cast_(analyzer.tokenStream("", text))
    return tuple(map(tuple, _positions(stream)))


_known_tokens: Final = lru_cache(maxsize=_REMEMBERED)(_tokens)


@lru_cache(maxsize=_REMEMBERED)
def is_in_dictionary(language: str, word: str) -> bool:
    """Check whether the dictionary of a language has a word, in any of its forms.

    Args:
        language: a language of `WITH_LEMMAS`.
        word: the word as typed.
    """
    stream = TokenStream.cast_(_dictionary(language).tokenStream(schema.CONTENT, word))
    return any(text.endswith(KNOWN) for texts in _positions(stream) for text in texts)


@cache
def _dictionary(language: str) -> Analyzer:
    return _built(dictionary_lookup(language))


def dictionary_lemmas(language: str, words: Iterable[str]) -> dict[str, list[str]]:
    """Return the lemmas of the words that are in the dictionary of a language.

    Args:
        language: a language of `WITH_LEMMAS`.
        words: folded words, with the letters a to z only.
    """
    asked = list(dict.fromkeys(words))
    if len(asked) == 1:
        lemmas = _lemmas(language, asked[0])
        return {asked[0]: list(lemmas)} if lemmas else {}
    stream = TokenStream.cast_(_dictionary(language).tokenStream(schema.CONTENT, " ".join(asked)))
    found = zip(asked, _positions(stream), strict=True)
    known = ((word, lemmas) for word, lemmas in found if lemmas[0].endswith(KNOWN))
    return {word: [lemma.removesuffix(KNOWN) for lemma in lemmas] for word, lemmas in known}


@lru_cache(maxsize=_REMEMBERED)
def _lemmas(language: str, word: str) -> Sequence[str]:
    """Return the lemmas of a word; none if the dictionary does not have it."""
    stream = TokenStream.cast_(_dictionary(language).tokenStream(schema.CONTENT, word))
    (lemmas,) = _positions(stream)
    return [lemma.removesuffix(KNOWN) for lemma in lemmas] if lemmas[0].endswith(KNOWN) else []


def normalized(field: str, text: str) -> str:
    """Return a part of a word, such as a prefix, folded like the words of a field."""
    if is_ascii_word(text):
        return text.lower()
    return query_analyzer(field).normalize(field, text).utf8ToString()


def _positions(stream: Any) -> Iterator[list[str]]:
    term = CharTermAttribute.cast_(stream.getAttribute(CharTermAttribute.class_))
    increment = PositionIncrementAttribute.cast_(
        stream.getAttribute(PositionIncrementAttribute.class_)
    )
    found: list[str] = []
    try:
        stream.reset()
        while stream.incrementToken():
            if found and increment.getPositionIncrement():
                yield found
                found = []
            found.append(term.toString())
        if found:
            yield found
        stream.end()
    finally:
        stream.close()


@cache
def stemming_analyzer(language: str) -> Analyzer:
    """Return the analyzer that makes the stems of a language; threads may share it.

    Args:
        language: a code of `LANGUAGES`; for any other one, words are folded only.
    """
    return _built(LANGUAGES.get(language, _TEXT))


def _built(steps: Chain) -> Analyzer:
    builder = CustomAnalyzer.builder(Paths.get(str(_RESOURCES)))
    builder = builder.withTokenizer(steps.tokenizer.name, _pairs(steps.tokenizer))
    for step in steps.filters:
        builder = builder.addTokenFilter(step.name, _pairs(step))
    return builder.build()


def _pairs(step: Step) -> list[str]:
    return [text for pair in step.parameters.items() for text in pair]
