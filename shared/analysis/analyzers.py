"""Analyzers: the char filters, the tokenizer and the token filters that make terms.

All text fields have one chain, which is the same for texts and for queries. Before the tokenizer,
char filters write numbers and signs in one way (`shared.analysis.chains`). After it, words of
several parts are taken apart, as ``node.js``, ``unlockDoor`` and ``10kg``; texts also have the
parts joined to one term. The field of stems has a stemmer in this chain and the code of the
language before each term, as in ``en:contract``.
"""

import re
import threading
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import accumulate
from typing import Any, Final, NamedTuple

import lucene  # noqa: F401 - makes the packages org and java importable
from java.util import Hashtable
from org.apache.lucene.analysis import Analyzer, TokenStream
from org.apache.lucene.analysis.core import KeywordAnalyzer
from org.apache.lucene.analysis.miscellaneous import PerFieldAnalyzerWrapper
from org.apache.lucene.analysis.tokenattributes import (
    CharTermAttribute,
    OffsetAttribute,
    PositionIncrementAttribute,
    TypeAttribute,
)

from shared.analysis.chains import COMPATIBLE, SIGNS, Chain, built, replaced
from shared.analysis.languages import (
    LANGUAGES,
    UNDETERMINED,
    WITH_FUNCTION_WORDS,
    WITH_TONES,
    WITHOUT_BLANKS,
    Step,
)
from shared.model import schema

REMEMBERED: Final = 50_000  # words of queries whose terms are cached; many recur (Zipf's law)
_LONGEST: Final = 64  # characters of a cached word; longer texts fill the memory, and do not recur

_FOLDED: Final = (
    # Voiced and unvoiced kana are different letters, and words of Thai differ in their tones alone;
    # its digits are those of any script.
    Step("icuFolding", {"filter": f"[[^\u3040-\u30ff{WITHOUT_BLANKS}][:Nd:]]"}),
)

ELISION: Final = Step("elision", {"articles": "elision.txt"})


def _parts(*, joins: bool) -> tuple[Step, ...]:
    """Return the filters that take words apart; a text has the parts joined, too."""
    parts = {
        "generateWordParts": "1",
        "generateNumberParts": "1",
        "catenateAll": str(int(joins)),
        "catenateWords": str(int(joins)),
        "splitOnCaseChange": "1",
        "splitOnNumerics": "1",
        "stemEnglishPossessive": "1",
        "types": "word_parts.txt",
    }
    length = Step("length", {"min": "1", "max": str(schema.MAX_WORD)})
    graph = Step("wordDelimiterGraph", parts)
    return (ELISION, length, graph, *([Step("flattenGraph")] if joins else []))


def _bigrams(*, with_unigrams: bool) -> Step:
    """Return the filter that makes bigrams of Chinese, Japanese and Korean."""
    return Step("cjkBigram", {"outputUnigrams": str(with_unigrams).lower()})


_DIGITS: Final = Chain(
    (replaced("[^0-9]", ""), Step("reverseString")),
    Step(
        "simplePattern",
        {
            "pattern": "[0-9](([ ()/\u00a0\u2013\\-]{0,2}| [/\u2013\\-] )[0-9]){4,33}"
            "|[0-9]{1,4}([.][0-9]{3}){2,9}([/\\-]?[0-9]){0,12}"
            "|[1-9][ \u00a0\u202f][0-9]{3}"
        },
    ),
    COMPATIBLE,
)
"""Chain of runs of five digits and more, such as telephone numbers, without the signs in them, also
with several points between thousands, as numbers of taxes have, and of thousands with a blank."""


def chain_of(field: str, language: str = UNDETERMINED, *, of_query: bool = False) -> Chain:
    """Return the chain of a text field; words of a query are neither joined nor left out.

    The stems of another language than those of `LANGUAGES` are folded words.
    """
    lowercase = Step("lowercase")
    if field == schema.DIGITS:
        return _DIGITS
    if field == schema.REVERSED:
        return Chain((lowercase, *_FOLDED, Step("reverseString")), Step("standard"))
    parts = _parts(joins=not of_query)
    if field not in schema.STEM_FIELDS:
        return Chain((*parts, lowercase, *_FOLDED, _bigrams(with_unigrams=False)))
    leaves_out = not of_query and language in WITH_FUNCTION_WORDS
    # Case matters: IT and WHO are no function words.
    function_words = {"words": f"function_words/{language}.txt", "ignoreCase": "false"}
    filters = (
        *parts,
        *([Step("stop", function_words)] if leaves_out else []),
        *LANGUAGES.get(language, (lowercase,)),
        *(() if language in WITH_TONES else _FOLDED),
        _bigrams(with_unigrams=not of_query),
        replaced("^", f"{language}:"),
    )
    return Chain(filters)


@cache
def analyzer_of(
    field: str,
    language: str = UNDETERMINED,
    *,
    of_query: bool = False,
    is_normalized: bool = False,
) -> Analyzer:
    """Return the analyzer of a text field, perhaps for `normalized` texts; threads may share it."""
    chain = chain_of(field, language, of_query=of_query)
    return built(replace(chain, char_filters=()) if is_normalized else chain)


_WRITING: Final = threading.Lock()  # for the stems: Lucene has one analyzer for each field


@cache
def _by_field() -> Any:
    # Synchronized: Lucene reads it in one thread while another one changes it.
    by_field = Hashtable()
    for field in schema.KEYWORD_FIELDS:
        by_field.put(field, KeywordAnalyzer())
    by_field.put(schema.REVERSED, analyzer_of(schema.REVERSED, is_normalized=True))
    # The field of digits gets texts as they are.
    by_field.put(schema.DIGITS, analyzer_of(schema.DIGITS))
    return by_field


def writing_analyzer() -> Analyzer:
    """Return the analyzer of an `IndexWriter`, for `normalized` texts, once Java runs."""
    # Lucene keeps a reference to this map.
    return PerFieldAnalyzerWrapper(analyzer_of(schema.CONTENT, is_normalized=True), _by_field())


@contextmanager
def writing(language: str) -> Iterator[None]:
    """Let the writing analyzer make the stems of a language in the block, in which texts are added.

    The language is one of `LANGUAGES`, or `UNDETERMINED`.
    """
    with _WRITING:
        for field in schema.STEM_FIELDS:
            _by_field().put(field, analyzer_of(field, language, is_normalized=True))
        yield


@cache
def topic_analyzer(language: str) -> Analyzer:
    """Return an analyzer for the stems of the words that a text is about; threads may share it.

    It does without what is made of signs and numbers, which would take most of the time.
    """
    left_out = {"wordDelimiterGraph", "flattenGraph"}
    filters = chain_of(schema.STEMS, language).filters
    kept = tuple(step for step in filters if step.name not in left_out)
    return built(Chain(kept, char_filters=()))


class Token(NamedTuple):
    text: str
    is_of_syllables: bool  # whether it is of Chinese, Japanese or Korean: one or two characters
    others: tuple[str, ...] = ()  # further terms of the same word, if a dictionary has several


_SYLLABLES: Final = frozenset(
    ("<DOUBLE>", "<SINGLE>", "<IDEOGRAPHIC>", "<HIRAGANA>", "<KATAKANA>", "<HANGUL>")
)
"""Types of tokens of Chinese, Japanese and Korean."""


class KnownWords:
    """Cache of the terms of words, in both directions, which threads may share."""

    def __init__(self) -> None:
        self.terms: dict[str, Sequence[Token]] = {}  # by the word
        self.words: dict[str, set[str]] = defaultdict(set)  # by the term, or the joined parts

    def add(self, word: str, tokens: Sequence[Token]) -> None:
        for token in tokens:
            for text in (token.text, *token.others):
                self.words[text].add(word)
        if len(tokens) > 1:
            self.words["".join(token.text for token in tokens)].add(word)
        # Last, so that another thread that knows the word finds it by its terms.
        self.terms[word] = tokens


_known: Final[dict[str | None, KnownWords]] = defaultdict(KnownWords)
"""Words of queries and of their hits, by the language of the stems."""


def known_words(words: set[str], language: str | None = None) -> KnownWords:
    """Return a cache in which some words are, unless they are very long ones.

    The language is that of the stems; None for the terms of all other fields.
    """
    known = _known[language]
    missing = [word for word in words.difference(known.terms) if len(word) <= _LONGEST]
    if not missing:
        return known
    if len(known.terms) + len(missing) > REMEMBERED:
        # Another thread may be reading the old one.
        known = _known[language] = KnownWords()
        missing = [word for word in words if len(word) <= _LONGEST]
    for word, found in zip(missing, _analyzed(missing, language), strict=True):
        known.add(word, found)
    return known


def tokens_of(words: Sequence[str], language: str | None = None) -> list[Sequence[Token]]:
    """Return the terms of each of some words of a query, in the stems of a language or as typed.

    All unknown words are analyzed at once, since each call of an analyzer takes far longer.
    """
    known = known_words(set(words), language).terms
    long = [word for word in words if word not in known]
    others = dict(zip(long, _analyzed(long, language), strict=True)) if long else {}
    return [others[word] if word in others else known[word] for word in words]


def tokens(word: str, language: str | None = None) -> Sequence[Token]:
    """Return the terms of a word of a query; see `tokens_of`."""
    known = _known[language].terms.get(word)
    return tokens_of((word,), language)[0] if known is None else known


_OPTION: Final = re.compile(r"^--?(?=[^\W\d_])")


def as_typed(word: str) -> str:
    """Return a word as the analyzer takes it: it knows an option only behind a blank."""
    return _OPTION.sub("opt_", word) if word[:1] == "-" else word


_BREAK: Final = "\n\n"
"""Separator of words that are analyzed at once; no char filter takes the words on both sides as
one."""


def _analyzed(words: Sequence[str], language: str | None) -> Iterator[Sequence[Token]]:
    """Yield the terms of each of some words, analyzed at once and told apart by their offsets."""
    # Java counts a character beyond the basic plane as two.
    lengths = (len(word.encode("utf-16-le", "surrogatepass")) // 2 for word in words)
    starts = list(accumulate((length + len(_BREAK) for length in lengths), initial=0))
    field = schema.CONTENT if language is None else schema.STEMS
    analyzer = analyzer_of(field, language or UNDETERMINED, of_query=True)
    stream = TokenStream.cast_(analyzer.tokenStream("", _BREAK.join(words)))
    term, offset, kind, increment = (
        _attribute(stream, of)
        for of in (CharTermAttribute, OffsetAttribute, TypeAttribute, PositionIncrementAttribute)
    )
    found: dict[int, list[Token]] = defaultdict(list)
    for _ in _each(stream):
        number = bisect_right(starts, offset.startOffset()) - 1
        tokens, text = found[number], term.toString()
        if tokens and not increment.getPositionIncrement():
            tokens[-1] = tokens[-1]._replace(others=(*tokens[-1].others, text))
        else:
            tokens.append(Token(text, kind.type() in _SYLLABLES))
    return (found[number] for number in range(len(words)))


_RUN: Final = re.compile(
    rf"(?<![-+!:*?~^/\\@_.{WITHOUT_BLANKS}])[{WITHOUT_BLANKS}]{{2,}}+(?![-:*~^/\\@_]|\?\S)"
)
"""Words of such a script, but for those that belong to what has a meaning in a query."""


def with_blanks(text: str) -> str:
    """Return a query with blanks between the words of the scripts that write none, such as Thai."""
    return _RUN.sub(lambda run: " ".join(word for _, word in words_within(run[0])), text)


def words_within(text: str) -> Iterator[tuple[int, str]]:
    """Yield the words of a text without blanks, each after its place."""
    end = 0
    for _, word in positions_of(_segmenter(), text):
        place = text.find(word, end)
        end = place + len(word)
        yield place, word


@cache
def _segmenter() -> Analyzer:
    return built(Chain((), char_filters=()))


def positions_of(analyzer: Analyzer, text: str) -> Iterator[tuple[int, str]]:
    """Yield the terms of a text, each with its position, from 0."""
    stream = TokenStream.cast_(analyzer.tokenStream("", text))
    term = _attribute(stream, CharTermAttribute)
    increment = _attribute(stream, PositionIncrementAttribute)
    position = -1
    for _ in _each(stream):
        position += increment.getPositionIncrement()
        yield position, term.toString()


def _attribute(stream: Any, java_class: Any) -> Any:
    return java_class.cast_(stream.addAttribute(java_class.class_))


def _each(stream: Any) -> Iterator[None]:
    """Step to each token of a stream, and close it."""
    try:
        stream.reset()
        while stream.incrementToken():
            yield
        stream.end()
    finally:
        stream.close()


def folded(text: str) -> str:
    """Return a part of a word, such as a prefix, folded like the words of all text fields."""
    if text.isascii() and text.isalnum():
        return text.lower()
    return str(_folding().normalize("", text).utf8ToString())


@cache
def _folding() -> Analyzer:
    return built(Chain((Step("lowercase"), *_FOLDED), char_filters=(*COMPATIBLE, SIGNS)))
