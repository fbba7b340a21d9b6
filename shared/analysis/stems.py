"""Stems of words: the terms of the field in which words are searched.

The words of texts recur (Zipf's law), and analyzing one takes far longer than finding it in a
Python dictionary, so each language has a cache.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, Final

import lucene  # noqa: F401 - makes the packages org and java importable
from org.apache.lucene.analysis import TokenStream
from org.apache.lucene.analysis.tokenattributes import CharTermAttribute, OffsetAttribute

from shared.analysis.analyzers import (
    dictionary_lemmas,
    is_ascii_word,
    is_in_dictionary,
    normalized,
    stemming_analyzer,
    tokens_of,
)
from shared.analysis.detection import presumed_languages
from shared.analysis.languages import (
    FOLDED_LAST,
    UNDETERMINED,
    WITH_LEMMAS,
    WITHOUT_BLANKS,
)
from shared.analysis.stop_words import WITH_FUNCTION_WORDS, is_function_word
from shared.analysis.transliteration import without_digraphs
from shared.model.schema import CONTENT

_MAX_CACHED_WORDS: Final = 50_000
"""Maximum number of words of a language whose stems are cached, with some 200 bytes each."""

_MAX_CACHED_LENGTH: Final = 64
"""Maximum length of a cached word, in characters; longer ones are addresses and encoded data."""

_SEPARATOR: Final = "\n"

_HYPHENATED: Final = re.compile(r"\W*([^\W\d_]+(?:-[^\W\d_]+){1,2})\W*")
"""Word of letters with a hyphen in it, which is also written as one word: e-mail, email."""

IRREGULAR_STEMS: Final = Path(__file__).parent / "lemmas" / "en.irregular.txt"
"""Stems of English words, each with those of the forms that have another stem; see
`shared.analysis.lemmas.build`."""

_LETTERS: Final = re.compile("[a-z]+")


def stems(languages: Iterable[str], words: Collection[str], text: str) -> dict[str, list[str]]:
    """Return the terms of words in the field of stems, each once.

    A term is a stem after the code of its language, as in ``en:contract``. In a text of an unknown
    language a word has its stems in all languages that the text may be in.

    Args:
        languages: the languages of the text: codes of `LANGUAGES`, or `UNDETERMINED`.
        words: its words as separated by blanks, with the punctuation around them.
        text: the text, to presume its language if that is unknown.

    Returns:
        For each word its terms; none if it has no letters or digits, or is a function word.
    """
    found = [stemmer.stems(words) for stemmer in _stemmers(languages, text)]
    if len(found) == 1:
        return {word: found[0][word].split() for word in words}
    return {
        word: list(dict.fromkeys(chain.from_iterable(each[word].split() for each in found)))
        for word in words
    }


def stemmed(languages: Sequence[str], text: str, beside: str = "") -> str:
    """Return the terms of a text in the field of stems, joined by blanks.

    Args:
        languages: as for `stems`.
        text: any text.
        beside: a longer text in the same language, to presume the language if it is unknown.
    """
    if not WITHOUT_BLANKS.isdisjoint(languages):
        # The terms of such a text cross the boundaries of its "words", and none recurs.
        return " ".join(f"{code}:{term}" for code in languages for term in segments(code, text))
    words = text.split()
    if languages != (UNDETERMINED,) and len(languages) == 1:
        return " ".join(map(_stemmer(languages[0], languages[0]).stems(words).__getitem__, words))
    each = stems(languages, set(words), beside or text)
    return " ".join(chain.from_iterable(each[word] for word in words))


def segments(language: str, text: str) -> Iterator[str]:
    """Yield the terms of a text without blanks between words, without the code of the language."""
    return chain.from_iterable(tokens_of(stemming_analyzer(language), text))


def stems_of_query(languages: Sequence[str], word: str) -> list[str]:
    """Return the terms by which the forms of a word are found in texts of some languages.

    Beside the stem of the word in each language there is that of its lemma, so that "contracted"
    also finds a "Contract" in a German text.

    Args:
        languages: the languages of the index.
        word: the word as typed.
    """
    folded = normalized(CONTENT, word.strip(_PUNCTUATION))
    # Perhaps typed without the accents that the stemmer needs.
    typed = [f"{code}:{folded}" for code in languages if code in FOLDED_LAST and folded]
    if len(languages) == 1 or not _LETTERS.fullmatch(folded):
        return list(dict.fromkeys((*stems(languages, [word], word)[word], *typed)))
    with_dictionary = [code for code in WITH_LEMMAS if code in languages]
    lemmas = {
        code: known
        for code in with_dictionary
        if (known := dictionary_lemmas(code, [folded]).get(folded))
    }
    found: dict[str, None] = {}
    for code in languages:
        others = (of for other, of in lemmas.items() if other != code)
        forms = dict.fromkeys((word, *chain.from_iterable(others)))
        terms = list(chain.from_iterable(stems([code], forms, word).values()))
        if lemmas and code in with_dictionary and code not in lemmas:
            # A foreign word: its ending is not one of this language.
            whole = {f"{code}:{form}" for form in (folded, without_digraphs(folded), *forms)}
            terms = [term for term in terms if term in whole]
        found |= dict.fromkeys(terms)
    return list(found | dict.fromkeys(typed))


def stem_together(languages: Iterable[str], words: Collection[str]) -> None:
    """Stem the words of a query at once, so that `stems_of_query` need not analyze each of them.

    Args:
        languages: the languages of the index.
        words: the words as typed.
    """
    for code in languages:
        if code != UNDETERMINED and code not in WITHOUT_BLANKS:
            _stemmer(code, code).stems(words)


def irregular_stems(terms: Iterable[str]) -> list[str]:
    """Return the terms of the irregular forms of words, and of what they are forms of.

    "paid" and "pay", "mice" and "mouse" have different stems.

    Args:
        terms: the terms of a word in English texts, or in texts of an unknown language; others have
            no irregular forms, since their stemmers know them.
    """
    split = ((code, stem) for code, _, stem in (term.partition(":") for term in terms))
    found = (
        f"{code}:{other}"
        for code, stem in split
        if code in {"en", UNDETERMINED}
        for other in _irregular().get(stem, ())
    )
    return list(dict.fromkeys(found))


@cache
def _irregular() -> Mapping[str, Collection[str]]:
    """Return the stems of words with the same lemma, by the stem of each."""
    related: dict[str, dict[str, None]] = defaultdict(dict)
    for line in IRREGULAR_STEMS.read_text(encoding="utf-8").splitlines():
        stems = line.split()
        for stem in stems:
            related[stem] |= dict.fromkeys(other for other in stems if other != stem)
    return related


def _stemmers(languages: Iterable[str], text: str) -> Iterator["_Stemmer"]:
    for language in languages:
        known = (language,) if language != UNDETERMINED else presumed_languages(text)
        for code in known:
            yield _stemmer(code, language)


class _Stemmer:
    """Terms of words in one language, with a cache; threads may share it.

    Args:
        language: the language.
        code: the code that the terms begin with.
    """

    def __init__(self, language: str, code: str) -> None:
        self._language = language
        self._code = code
        self._stems: dict[str, str] = {}

    def stems(self, words: Collection[str]) -> Mapping[str, str]:
        """Return the stems of some words, and perhaps more, joined by blanks."""
        # Bound once, since another thread may replace the dictionary. No dictionary loses entries.
        known = self._stems
        missing = {word for word in words if word not in known}
        if not missing:
            return known
        found = self._analyzed(list(missing))
        long = {word for word in missing if len(word) > _MAX_CACHED_LENGTH}
        if len(known) + len(found) > _MAX_CACHED_WORDS:
            known = self._stems = {word: known[word] for word in words if word in known}
        known.update((word, terms) for word, terms in found.items() if word not in long)
        return (
            {**{word: known[word] for word in words if word in known}, **found} if long else known
        )

    def _analyzed(self, words: list[str]) -> dict[str, str]:
        analyzer = stemming_analyzer(self._language)
        spelled = {word: list(self._spellings(word)) for word in words}
        each = terms_of_each(analyzer, list(chain.from_iterable(spelled.values())))
        found = {
            word: list(chain.from_iterable(next(each) for _ in forms))
            for word, forms in spelled.items()
        }
        if self._language == "en":
            found |= {
                word: [stem]
                for word in words
                if (stem := SEPARATE.get(word.lower().strip(_PUNCTUATION)))
            }
        for word, terms in self._unknown(words):
            if self._code != UNDETERMINED:
                found[word] += terms
            elif self._language != "en":
                # A word in none of the possible languages has its stem in English only.
                found[word] = []
        return {
            word: ""
            if self._is_left_out(word)
            else " ".join(f"{self._code}:{term}" for term in dict.fromkeys(terms))
            for word, terms in found.items()
        }

    def _unknown(self, words: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
        """Yield the words that the language may not know, each with its terms as typed, folded.

        A stemmer that needs accents does not know a word that is typed without them. A word that is
        in no dictionary of a language may be of another one, in which it has another stem.
        """
        if self._language in FOLDED_LAST:
            words = [word for word in words if not word.isascii()]
        elif self._language not in WITH_LEMMAS:
            return
        folded: dict[str, Sequence[str]] = {
            word: (word.lower(),) for word in words if is_ascii_word(word)
        }
        others = [word for word in words if word not in folded]
        if others:
            each = terms_of_each(stemming_analyzer(UNDETERMINED), others)
            folded |= zip(others, each, strict=True)
        letters = {text for terms in folded.values() for text in terms if _LETTERS.fullmatch(text)}
        known = self._language in WITH_LEMMAS and dictionary_lemmas(self._language, letters)
        for word, terms in folded.items():
            if not known or known.keys().isdisjoint(terms):
                yield word, terms

    def _spellings(self, word: str) -> Iterator[str]:
        """Yield the spellings of a word under which it is found."""
        yield word.replace("_", " ")
        if hyphenated := _HYPHENATED.fullmatch(word):
            yield hyphenated[1].replace("-", "")
        umlaut = without_digraphs(low := word.lower())
        if umlaut != low and (self._language == "de" or self._is_name(word)):
            yield umlaut

    def _is_name(self, word: str) -> bool:
        """Check whether a word is hardly anything but a name."""
        return word[:1].isupper() and not (
            self._language in WITH_LEMMAS and is_in_dictionary(self._language, word)
        )

    def _is_left_out(self, word: str) -> bool:
        return self._language in WITH_FUNCTION_WORDS and is_function_word(self._language, word)


SEPARATE: Final = {
    word: stem
    for row in (
        "universe universes",
        "universal universally",
        "organs organ",
        "organic organically",
        "experiment experiments experimented experimenting experimental experimentally",
        "internal internally internals",
        "paste pastes pasted pasting",
        "lateral laterals laterally",
        "emergency emergencies",
        "busy busier busiest",
        "authority authorities",
        "important importantly importance",
        "relativity relativistic",
        "several",
        "apartment apartments",
        "department departments departmental",
        "hospital hospitals",
        "evening evenings",
        "engine engines",
        "rational rationally rationality",
        "procession processions",
        "numerous",
        "witness witnesses witnessed witnessing",
        "suite suites",
        "informal informally",
        "executive executives",
        "animal animals",
        "polite politely politeness",
    )
    for stem, words in [(row.split()[0], row.split())]
    for word in words
}
"""Stems of English words that the stemmer takes for others: university, organization, experience,
international, past, later, emerge, business, author; import, relative, severe, apart, depart,
hospitality, even, engineer, ration, process, numerical, wit, suit, information, execute,
animation, politics."""

_PUNCTUATION: Final = "()[]{}<>,;:.!?\"'`*„“”‚‘’«»‹›…-–—"  # noqa: RUF001 - as in texts


@cache
def _stemmer(language: str, code: str) -> _Stemmer:
    return _Stemmer(language, code)


def terms_of_each(analyzer: Any, words: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the terms of each of some texts without blanks.

    All of them are analyzed at once and told apart by their offsets.
    """
    # Java counts a character beyond the basic plane as two.
    lengths = (len(word.encode("utf-16-le")) // 2 + len(_SEPARATOR) for word in words)
    starts = list(accumulate(lengths, initial=0))
    found: dict[int, list[str]] = defaultdict(list)
    for start, term in _with_offsets(analyzer, _SEPARATOR.join(words)):
        found[bisect_right(starts, start) - 1].append(term)
    return (found[number] for number in range(len(words)))


def _with_offsets(analyzer: Any, text: str) -> Iterator[tuple[int, str]]:
    stream = TokenStream.cast_(analyzer.tokenStream("", text))
    term = CharTermAttribute.cast_(stream.getAttribute(CharTermAttribute.class_))
    offset = OffsetAttribute.cast_(stream.getAttribute(OffsetAttribute.class_))
    try:
        stream.reset()
        while stream.incrementToken():
            yield offset.startOffset(), term.toString()
        stream.end()
    finally:
        stream.close()
