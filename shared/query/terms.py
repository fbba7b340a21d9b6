"""Terms of an index as queries need them, and the forms of the words of a query among them."""

import math
import re
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar, cast

from shared.analysis.analyzers import Token, as_typed, tokens
from shared.analysis.dictionaries import irregular_stems, lemmas
from shared.analysis.languages import (
    LANGUAGES,
    PUNCTUATION,
    SPELLED_OUT,
    UNDETERMINED,
    WITH_DICTIONARY,
    WITH_IRREGULAR_FORMS,
    function_words_in,
    is_capital_name,
)
from shared.model import schema
from shared.query.tree import (
    Best,
    Clauses,
    Node,
    Nothing,
    TermPhrase,
    Terms,
    Values,
    ValueWords,
    Weighted,
)

Result = TypeVar("Result")

_MOST_WORDS: Final = 10_000  # in the cache of a commit, with some kilobytes each
_LONGEST_WORD: Final = 64  # in characters; longer ones do not recur


class IndexTerms(ABC):
    """Terms and fields of a commit; threads may share it.

    The steps of a query ask nothing else of an index, whichever kind it is. Numbers of chunks
    include deleted ones that are not merged yet.
    """

    def __init__(self) -> None:
        self._results: dict[Callable[[Any], Any], Any] = {}
        self.words: dict[Any, Any] = {}  # what words of queries become, in this commit

    def remember(self, key: tuple[Any, ...], value: Any) -> None:
        """Add to the cache for words of queries, unless the word is a long one."""
        if len(self.words) >= _MOST_WORDS:
            # Another thread may be reading the old one.
            self.words = {}
        if len(str(key[0])) <= _LONGEST_WORD:
            self.words[key] = value

    @abstractmethod
    def frequency(self, field: str, text: str) -> int:
        """Return the number of chunks that have a term."""

    def there(self, field: str, texts: Iterable[str]) -> tuple[str, ...]:
        """Return those of some terms that a chunk has."""
        return tuple([text for text in texts if self.frequency(field, text)])

    def known(self, field: str, text: str) -> Node:
        """Return the node for a term; `Nothing` if no chunk has it."""
        return Terms(field, (text,)) if self.frequency(field, text) else Nothing()

    def row(self, field: str, positions: Sequence[Iterable[str]], slop: int = 0) -> Node:
        """Return terms next to each other, several at one position being alternatives.

        `Nothing` if no chunk has any of those at some position.
        """
        there = [self.there(field, texts) for texts in positions]
        if not all(there):
            return Nothing()
        return Terms(field, there[0]) if len(there) == 1 else TermPhrase(field, tuple(there), slop)

    @abstractmethod
    def chunks(self, field: str) -> int:
        """Return the number of chunks that have a field."""

    @abstractmethod
    def dictionary(self, field: str) -> int:
        """Return the approximate number of terms of a field."""

    @property
    @abstractmethod
    def total(self) -> int:
        """Number of chunks."""

    @property
    @abstractmethod
    def fields(self) -> frozenset[str]:
        """All fields of the index, by their names in `shared.model.schema`."""

    @abstractmethod
    def beginning_with(self, field: str, prefix: str) -> Iterator[tuple[str, int]]:
        """Yield the terms with a prefix in alphabetical order, each with its frequency."""

    def may_begin(self, field: str, prefix: str) -> bool:  # noqa: ARG002 - for subclasses
        """Check whether a term may have a prefix, where that takes less than to look one up."""
        return True

    @abstractmethod
    def within(self, field: str, text: str, edits: int, beginning: int) -> Mapping[str, int]:
        """Return the terms that differ from a text by a few letters, with their frequencies.

        Edits, 1 or 2, are the maximum distance of Damerau and Levenshtein; so many letters at the
        beginning must match.
        """

    @abstractmethod
    def has_value(self, words: ValueWords) -> bool:
        """Check whether any value of a field contains some words."""

    @abstractmethod
    def look_up(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Prepare to be asked for the frequencies of several terms, each after its field."""

    def once(self, work: "Callable[[IndexTerms], Result]") -> Result:
        """Return the result of a function of these terms, which runs once for each commit."""
        if work not in self._results:
            self._results[work] = work(self)
        return cast("Result", self._results[work])

    def rarity_of(self, frequency: int) -> float:
        """Return the inverse document frequency of a term that some chunks have."""
        return math.log(1 + (self.total - frequency + 0.5) / (frequency + 0.5))

    @cached_property
    def languages(self) -> Mapping[str, float]:
        """Languages of the index, each with the share of its chunks, from 0 to 1."""
        counts = {
            code: self.frequency(schema.LANGUAGES, code) for code in (*LANGUAGES, UNDETERMINED)
        }
        return {code: min(1.0, count / self.total) for code, count in counts.items() if count}

    def rarity(self, node: Node) -> float:
        """Return the inverse document frequency of a part, as in Lucene's ``BM25Similarity``.

        Of alternatives the most common one counts. It is the greatest possible if the frequency is
        not known, or no chunk has the part.
        """
        match node:
            case Terms(field, texts) | Values(field, texts) if texts:
                found = self.rarity_of(max(self.frequency(field, text) for text in texts))
            case TermPhrase(field, positions):
                found = sum(self.rarity(Terms(field, texts)) for texts in positions)
            case Weighted(part):
                found = self.rarity(part)
            case Best(nodes):
                found = min(map(self.rarity, nodes))
            case Clauses(clauses) if required := [c.node for c in clauses if c.occur == "must"]:
                found = sum(map(self.rarity, required))
            case Clauses(clauses):
                optional = (self.rarity(c.node) for c in clauses if c.occur == "should")
                found = min(optional, default=self.rarity_of(0))
            case _:
                found = self.rarity_of(0)
        return found


DIGRAPH: Final = re.compile("(?<![aeiouq])([aou])e(?=[^aeiou])", re.IGNORECASE)
"""Digraph with an e in place of an umlaut.

After a vowel or a q, and at the end of a word, it is not a digraph: Bauer, queue, blue.
"""

_TO_KATAKANA: Final = {code: code + 0x60 for code in range(0x3041, 0x3097)}
_TO_OLD: Final = str.maketrans(
    "辺沢浜広斎斉桜栄恵徳関竜滝瀬黒塩鉄蔵寛暁顕渋総実児呉亀豊国学条館島崎富",
    "邊澤濱廣齋齊櫻榮惠德關龍瀧瀨黑鹽鐵藏寬曉顯澁總實兒吳龜豐國學條舘嶋﨑冨",
)
"""Characters of Japanese names with the older ones, which some people write: 渡邊 for 渡辺."""

_JAPANESE: Final = tuple(
    table
    for one in (_TO_KATAKANA, _TO_OLD)
    for table in (one, {other: code for code, other in one.items()})
)

_BRITISH: Final = re.compile(r"(?<=\w{3})i([sz])(?=(?:e[drs]?|ers|ing|ations?)$)")
"""End of a word that English writes with s and with z: organise."""

_LONGEST_OF_SYLLABLES: Final = 8  # characters; in a sentence other characters hardly matter
_LONG_NAME: Final = 6  # letters of a name that hardly becomes another word without one of them
_LONGEST_ABBREVIATION: Final = 5  # letters; longer words are in capitals by emphasis
_MOST_FORMS: Final = 20  # terms of texts without a language that are examined for a stem
_LONGEST_ENDING: Final = 5  # letters by which a word in such a text may exceed its stem
_FEWEST_OF_A_STEM: Final = 2  # letters of a stem that may have others
_MOST_TEXTS: Final = 0.5  # share of the chunks that a main language has more than
_FEWEST_OF_A_VERB: Final = 3  # letters in the stem of a verb

_SHORTENED: Final = (("str", "strass"), ("strass", "str"), ("nr", "numm"), ("numm", "nr"))
"""Ends of German stems that mean the same: Hauptstr., Hauptstraße; Kundennr., Kundennummer."""


class Form(NamedTuple):
    """A part of a word of a query, in the forms that some chunk of the index has."""

    term: str  # as it was typed, as a term of the content
    stems: tuple[str, ...]  # its terms in the field of stems
    others: tuple[str, ...]  # those of irregular forms, and of languages that do not know the word
    is_of_syllables: bool  # whether it is of Chinese, Japanese or Korean
    is_capital: bool = False  # whether it is a function word in capitals, such as IT, and a name


def forms_of(word: str, languages: Sequence[str], terms: IndexTerms) -> Iterator[Form]:
    """Yield the parts of a word, in the forms that some chunk has; none without letters."""
    text = as_typed(word)
    parts = tokens(text)
    spelled = [text, *_other_spellings(text, parts, languages)]
    analyzed = [
        of_word
        for language in languages
        for one in (*spelled, *_spellings_in(language, text))
        if len(of_word := tokens(one, language)) == len(parts)
    ]
    is_name = len(parts) == 1 and _is_name(text)
    letters = text.strip(PUNCTUATION)
    is_capital = is_capital_name(letters) and bool(function_words_in(letters.lower()))
    for number, part in enumerate(parts):
        if is_name and terms.frequency(schema.CONTENT, part.text):
            yield Form(part.text, (), (), is_of_syllables=False)
            continue
        stems = [stem for of in analyzed for stem in (of[number].text, *of[number].others)]
        if not part.is_of_syllables:
            # Perhaps typed without the accents that the stemmer needs.
            stems += [f"{language}:{part.text}" for language in languages]
            if UNDETERMINED in languages:
                known = [code for code in languages if code != UNDETERMINED] or WITH_DICTIONARY
                of_part = (tokens(part.text, code) for code in dict.fromkeys((*known, "en")))
                stems += _without_language([of[0].text for of in of_part if len(of) == 1], terms)
        foreign = _foreign(part.text, languages, terms.languages)
        own, others = _told_apart(dict.fromkeys(stems), foreign, terms)
        if not is_name and (irregular := _irregular(stems)):
            others += irregular
            if UNDETERMINED in languages:
                others += _without_language(irregular, terms)
        yield Form(
            part.text,
            tuple(stem for stem in own if terms.frequency(schema.STEMS, stem)),
            tuple(stem for stem in others if terms.frequency(schema.STEMS, stem)),
            part.is_of_syllables,
            is_capital,
        )


def _foreign(part: str, languages: Sequence[str], shares: Mapping[str, float]) -> tuple[str, ...]:
    """Return the beginnings of stems in languages that do not know a word, if others do.

    In the language of most texts it is a loanword, such as "Header" among German texts.
    """
    asked = [code for code in languages if code in WITH_DICTIONARY]
    unknown = [code for code in asked if not lemmas(code, part)]
    if len(unknown) == len(asked):
        return ()
    return tuple(f"{code}:" for code in unknown if shares.get(code, 0.0) <= _MOST_TEXTS)


def _told_apart(
    stems: Iterable[str], foreign: tuple[str, ...], terms: IndexTerms
) -> tuple[list[str], list[str]]:
    """Return the stems of a word, apart from those in languages that it is foreign to.

    It is foreign to none of them if no chunk has it in another one.
    """
    own: list[str] = []
    others: list[str] = []
    for stem in stems:
        (others if stem.startswith(foreign) else own).append(stem)
    found = {stem for stem in stems if terms.frequency(schema.STEMS, stem)}
    return (own, others) if found.intersection(own) else (own + others, [])


def _other_spellings(text: str, parts: Sequence[Token], languages: Sequence[str]) -> Iterator[str]:
    """Yield spellings with and without the e for an umlaut, and in other characters of Japanese.

    Müller is Mueller and Muller, and りんご is リンゴ. A word without its e may be another one, as
    "poet" and "pot", unless the word is in no dictionary.
    """
    if parts and parts[0].is_of_syllables and len(text) <= _LONGEST_OF_SYLLABLES:
        others = (text.translate(table) for table in _JAPANESE)
        yield from (other for other in others if other != text)
    if (spelled_out := text.translate(SPELLED_OUT)) != text:
        yield spelled_out
    if len(parts) == 1 and (without := DIGRAPH.sub(r"\1", text)) != text:
        is_name = text[:1].isupper() and len(text) >= _LONG_NAME
        known = (code for code in languages if code in WITH_DICTIONARY)
        if ("de" in languages or is_name) and not any(
            lemmas(code, parts[0].text) for code in known
        ):
            yield without


def _spellings_in(language: str, text: str) -> Iterator[str]:
    """Yield other spellings of a word of a language: organise, Aarhus, and fotos for foto's."""
    word = text.strip(PUNCTUATION).lower()
    if language in ("da", "no") and ("\u00e5" in word or "aa" in word):
        yield word.replace("\u00e5", "aa") if "\u00e5" in word else word.replace("aa", "\u00e5")
    if language == "en" and (found := _BRITISH.search(word)):
        other = "z" if found[1] == "s" else "s"
        yield f"{word[: found.start(1)]}{other}{word[found.end(1) :]}"
    is_plural = language == "nl" and word.endswith("s") and lemmas("nl", word[:-1])
    if is_plural and not lemmas("nl", word):
        # As in fotos; gas is a word of its own.
        yield word[:-1]


def _without_language(stems: Iterable[str], terms: IndexTerms) -> Iterator[str]:
    """Yield the terms of texts without a language that have one of some stems."""
    codes = defaultdict(set)
    for stem in stems:
        code, _, beginning = stem.partition(":")
        codes[beginning].add(code)
    for beginning in sorted(codes):
        longest = len(UNDETERMINED) + 1 + len(beginning) + _LONGEST_ENDING
        begun = terms.beginning_with(schema.STEMS, f"{UNDETERMINED}:{beginning}")
        for term, _ in islice(begun, _MOST_FORMS):
            letters = term.partition(":")[2]
            # The stemmer may need accents that the term lacks.
            if letters == beginning or (
                len(term) <= longest
                and any(
                    len(of := tokens(letters, code)) == 1 and of[0].text == f"{code}:{beginning}"
                    for code in codes[beginning]
                )
            ):
                yield term


def _is_name(text: str) -> bool:
    """Check whether a word is in capitals, as USA and API are, and not only by emphasis."""
    letters = text.strip(PUNCTUATION)
    return (
        is_capital_name(letters)
        and len(letters) <= _LONGEST_ABBREVIATION
        and letters.isalpha()
        and letters.isascii()
        and not function_words_in(letters.lower())
    )


def _irregular(stems: Sequence[str]) -> list[str]:
    """Return the stems of irregular forms of a word, and of the word of which it is one."""
    found: dict[str, None] = {}
    for stem in stems:
        code, _, letters = stem.partition(":")
        language = "en" if code == UNDETERMINED else code
        if language in WITH_IRREGULAR_FORMS and len(letters) >= _FEWEST_OF_A_STEM:
            found |= dict.fromkeys(f"{code}:{one}" for one in _other_stems(language, letters))
    return [stem for stem in found if stem not in stems]


def _other_stems(language: str, stem: str) -> Iterable[str]:
    """Return the stems that other forms of a word may have."""
    near = irregular_stems(language, stem)
    if language != "de":
        return near
    near = (
        *near,
        *(f"{stem.removesuffix(end)}{by}" for end, by in _SHORTENED if stem.endswith(end)),
    )
    # The stemmer leaves the endings and beginnings of verbs: ginget, geht, gefahren.
    verbs = dict.fromkeys((*near, *_of_verb(stem)))
    further = (
        other for one in verbs for other in (*irregular_stems(language, one), *_of_verb(one))
    )
    return dict.fromkeys((*verbs, *further))


def _of_verb(stem: str) -> Iterator[str]:
    """Yield the stems that a German verb may have: kauf, kauft, gekauft, gefahr."""
    if len(stem) < _FEWEST_OF_A_VERB:
        return
    yield from (f"{stem}t", f"ge{stem}t", f"ge{stem}")
    if stem.endswith("t") and len(stem) > _FEWEST_OF_A_VERB:
        yield stem[:-1]
    if stem.startswith("ge") and len(stem) > _FEWEST_OF_A_VERB + 2:
        yield from (stem[2:], stem[2:].removesuffix("t"))
