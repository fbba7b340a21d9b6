"""Passages of a text that match a query, with the matches highlighted.

The terms of the query are looked up in a cache of words by their terms
(`shared.analysis.analyzers.KnownWords`), and the words in the text: this takes a small part of the
time that Lucene's highlighters take to analyze the text again.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import Final, NamedTuple

from shared.analysis.analyzers import Token, known_words, tokens_of
from shared.analysis.languages import UNDETERMINED
from shared.model import schema
from shared.model.search_results import MARKS
from shared.query.pipeline import ParsedQuery
from shared.query.tree import Fuzzy, Leaf, Pattern, TermPhrase, Terms, Values, leaves

MAX_PASSAGES: Final = 3

PASSAGE_LENGTH: Final = 200
"""Approximate length of a passage, in characters; it ends with a whole word."""

_LEAD: Final = 100
"""Maximum length of a passage before its first match, in characters."""

_SENTENCE_END: Final = re.compile(r"[.!?…:]\s+|[\u3002\uff01\uff1f]\s*|\n\s*")

_WORD: Final = re.compile(r"[^\W_](?:\S*[^\W_])?[+#]*")
"""A word without the punctuation around it, but with the signs of C++ and C#."""

_BLANK: Final = re.compile(r"\s+")

_IN_PATTERN: Final = re.compile(r"\\(.)|([*?])|(.)", re.DOTALL)

_MOST_PATTERNS: Final = 20
"""Maximum number of phrases, and of other patterns, that are looked for in a text."""


class _Found(NamedTuple):
    """A match in a text: its place, the part of the query that matches, and its rarity."""

    start: int
    end: int
    part: Leaf
    rarity: float


class _Passage(NamedTuple):
    """A part of a text, the matches in it, and the sum of the rarities of what matches."""

    start: int
    end: int
    found: Sequence[_Found]
    weight: float


class Passages:
    """Highlighter of the passages that match one query.

    Function words are not highlighted if the query has other words, and rarer parts weigh more in
    the choice of passages.
    """

    def __init__(self, query: ParsedQuery) -> None:
        self._terms: dict[str, tuple[Leaf, float]] = {}
        self._syllables: dict[str, tuple[Leaf, float]] = {}
        self._phrases: list[tuple[TermPhrase, float]] = []
        self._patterns: list[tuple[re.Pattern[str], Leaf, float]] = []
        self._fuzzy: list[tuple[Fuzzy, float]] = []
        for part in chain(query.parts, query.rewritten):
            found = list(leaves(part.found))
            has_stems = any(
                isinstance(leaf, Terms) and leaf.field == schema.STEMS for leaf in found
            )
            for leaf in found:
                # A word as typed has its stem, too.
                if not (has_stems and isinstance(leaf, Terms) and leaf.field == schema.CONTENT):
                    self._add(leaf, part.rarity)
        self._by_language: dict[str | None, list[str]] = {}
        for text in self._terms:
            code, colon, _ = text.partition(":")
            self._by_language.setdefault(code if colon else None, []).append(text)
        syllables = "|".join(map(re.escape, self._syllables)) or "(?!)"
        # Korean has blanks between words, which are marked as a whole.
        self._in_syllables = re.compile(f"[가-힣]*?({syllables})(?:(?<=[가-힣])[가-힣]*)?")

    def _add(self, leaf: Leaf, rarity: float) -> None:
        match leaf:
            case Terms(schema.CONTENT | schema.STEMS, texts) | Values(schema.CONTENT, texts):
                for text in texts:
                    letters = text.partition(":")[2] if leaf.field == schema.STEMS else text
                    of = self._syllables if _is_of_syllables(letters) else self._terms
                    key = letters if of is self._syllables else text
                    if rarity > of.get(key, (leaf, -1.0))[1]:
                        of[key] = (leaf, rarity)
            case TermPhrase(schema.CONTENT, positions):
                if any(_is_of_syllables(text) for texts in positions for text in texts):
                    for texts in positions:
                        self._add(Terms(schema.CONTENT, texts), rarity)
                else:
                    self._phrases.append((leaf, rarity))
            case Pattern(schema.CONTENT | schema.REVERSED, pattern):
                self._patterns.append((_expression(leaf, pattern), leaf, rarity))
            case Fuzzy(field=schema.CONTENT):
                self._fuzzy.append((leaf, rarity))

    def best_in(self, text: str, language: str = "") -> list[str]:
        """Return the passages of a chunk's content that match best, the best first.

        It is the beginning if nothing in it matched, for example if only the title did.
        """
        chosen: list[_Passage] = []
        passages = _passages(text, self._found(text, language))
        for passage in sorted(passages, key=lambda one: (-one.weight, one.start)):
            if all(passage.end <= one.start or one.end <= passage.start for one in chosen):
                chosen.append(passage)
            if len(chosen) == MAX_PASSAGES:
                break
        return [_marked(text, one.start, one.end, one.found) for one in chosen] or [
            _first_words(text)
        ]

    def marked(self, text: str, language: str = "") -> str:
        """Return a whole text with each match between `MARKS`."""
        return _marked(text, 0, len(text), self._found(text, language), strips=False)

    def _found(self, text: str, language: str) -> list[_Found]:
        """Return the matches in a text in order; they do not overlap."""
        found = []
        if self._syllables:
            found += [
                _Found(*match.span(), *self._syllables[match[1]])
                for match in self._in_syllables.finditer(text)
            ]
        if self._terms:
            words = set(text.split())
            own = self._by_language.keys() & {None, language, UNDETERMINED}
            marks = (language and self._marks(words, own)) or self._marks(words, self._by_language)
            for word, mark in marks.items():
                letters = _WORD.search(word)
                begin, end = letters.span() if letters else (0, len(word))
                found += [
                    _Found(place + begin, place + end, *mark) for place in _places(text, word)
                ]
        if self._phrases or self._patterns or self._fuzzy:
            matches = list(_WORD.finditer(text))
            typed = tokens_of([match[0] for match in matches])
            found += self._of_patterns(matches, typed)
            found += self._of_phrases(matches, typed)
        apart: list[_Found] = []
        for one in sorted(found, key=lambda one: (one.start, -one.end)):
            if not apart or one.start >= apart[-1].end:
                apart.append(one)
        return apart

    def _marks(
        self, words: set[str], languages: Iterable[str | None]
    ) -> dict[str, tuple[Leaf, float]]:
        """Return the words that have a term of the query in some languages, each with the term."""
        marks: dict[str, tuple[Leaf, float]] = {}
        for language in languages:
            known = known_words(words, language)
            for term in self._by_language[language]:
                for word in words & known.words.get(term, frozenset()):
                    if word not in marks and (mark := self._mark(known.terms[word])):
                        marks[word] = mark
            long = list(words.difference(known.terms))
            for word, tokens in zip(long, tokens_of(long, language), strict=True):
                if mark := self._mark(tokens):
                    marks[word] = mark
        return marks

    def _mark(self, tokens: Sequence[Token]) -> tuple[Leaf, float] | None:
        terms = self._terms
        if len(tokens) == 1 and not tokens[0].others:
            return terms.get(tokens[0].text)
        texts = (text for token in tokens for text in (token.text, *token.others))
        marks = [mark for text in texts if (mark := terms.get(text))]
        joined = terms.get("".join(token.text for token in tokens))
        return joined or max(marks, key=lambda mark: mark[1], default=None)

    def _of_patterns(
        self, words: Sequence[re.Match[str]], typed: Sequence[Sequence[Token]]
    ) -> Iterator[_Found]:
        for word, tokens in zip(words, typed, strict=True):
            texts = {*(token.text for token in tokens), "".join(token.text for token in tokens)}
            for expression, leaf, rarity in self._patterns[:_MOST_PATTERNS]:
                if any(map(expression.fullmatch, texts)):
                    yield _Found(*word.span(), leaf, rarity)
            for fuzzy, rarity in self._fuzzy[:_MOST_PATTERNS]:
                if any(_are_alike(fuzzy, text) for text in texts):
                    yield _Found(*word.span(), fuzzy, rarity)

    def _of_phrases(
        self, words: Sequence[re.Match[str]], typed: Sequence[Sequence[Token]]
    ) -> Iterator[_Found]:
        places = [
            (word, token.text)
            for word, tokens in zip(words, typed, strict=True)
            for token in tokens
        ]
        for phrase, rarity in self._phrases[:_MOST_PATTERNS]:
            wanted = [frozenset(texts) for texts in phrase.positions]
            for first, (_, text) in enumerate(places):
                if text in wanted[0]:
                    for place in _row(places, first, wanted, phrase.slop):
                        yield _Found(*places[place][0].span(), phrase, rarity)


def _places(text: str, word: str) -> Iterator[int]:
    """Yield the places of a text at which a word stands between blanks."""
    place = text.find(word)
    while place >= 0:
        end = place + len(word)
        if (not place or text[place - 1].isspace()) and (end == len(text) or text[end].isspace()):
            yield place
        place = text.find(word, end)


def _row(
    places: Sequence[tuple[re.Match[str], str]],
    first: int,
    wanted: Sequence[frozenset[str]],
    slop: int,
) -> list[int]:
    """Return the places of the terms of a phrase that begins at a place; empty if it does not."""
    row = [first]
    for terms in wanted[1:]:
        following = range(row[-1] + 1, min(len(places), row[-1] + 2 + slop))
        found = next((place for place in following if places[place][1] in terms), None)
        if found is None:
            return []
        slop -= found - row[-1] - 1
        row.append(found)
    return row


def _is_of_syllables(text: str) -> bool:
    """Check whether a term is of Chinese, Japanese or Korean, without blanks between words."""
    return text > "\u1100" and (text[0] >= "\u2e80" or text[0] <= "\u11ff")


def _expression(leaf: Pattern, pattern: str) -> re.Pattern[str]:
    """Return an expression for the words that a pattern matches."""
    signs = {"*": ".*", "?": "."}
    parts = [
        signs[found[2]] if found[2] else re.escape(found[1] or found[3])
        for found in _IN_PATTERN.finditer(pattern)
    ]
    if leaf.field == schema.REVERSED:
        parts.reverse()
    return re.compile("".join(parts), re.DOTALL)


def _are_alike(fuzzy: Fuzzy, text: str) -> bool:
    """Check whether a word differs by a few letters (Damerau and Levenshtein)."""
    wanted, most = fuzzy.text, fuzzy.edits
    if abs(len(text) - len(wanted)) > most or text[: fuzzy.prefix] != wanted[: fuzzy.prefix]:
        return False
    before: list[int] = []
    row = list(range(len(text) + 1))
    for number, letter in enumerate(wanted, 1):
        last, before, row = before, row, [number]
        for place, other in enumerate(text, 1):
            changed = before[place - 1] + (letter != other)
            best = min(changed, before[place] + 1, row[place - 1] + 1)
            if (
                number > 1
                and place > 1
                and wanted[number - 2 : number] == text[place - 2 : place][::-1]
            ):
                best = min(best, last[place - 2] + 1)
            row.append(best)
    return row[-1] <= most


def _marked(
    text: str, begin: int, end: int, found: Iterable[_Found], *, strips: bool = True
) -> str:
    """Return a part of a text with each match between `MARKS`."""
    opening, closing = MARKS
    pieces = []
    for one in found:
        pieces += [text[begin : one.start], opening, text[one.start : one.end], closing]
        begin = one.end
    whole = "".join((*pieces, text[begin:end]))
    return whole.strip() if strips else whole


def _passages(text: str, found: Sequence[_Found]) -> Iterator[_Passage]:
    """Yield the passage of each match that is the first one in it."""
    for number, first in enumerate(found):
        start = _start(text, found[number - 1].end if number else 0, first.start)
        end = start + PASSAGE_LENGTH
        if end < len(text):
            blank = _BLANK.search(text, end - 1, end + PASSAGE_LENGTH)
            end = blank.start() if blank else end
        end = max(end, first.end)
        behind = bisect_right(found, end, lo=number, key=attrgetter("end"))
        within = found[number:behind]
        yield _Passage(start, end, within, sum({of.part: of.rarity for of in within}.values()))


def _start(text: str, least: int, match: int) -> int:
    """Return where the passage of a match begins: with its sentence or line, if it is near."""
    least = max(least, match - _LEAD)
    ends = [*_SENTENCE_END.finditer(text, least, match)]
    if ends:
        return ends[-1].end()
    if least == 0:
        return 0
    blank = _BLANK.search(text, least - 1, match)
    return blank.end() if blank else least


def _first_words(text: str) -> str:
    """Return the words within the length of a passage; a part of the first if it is longer."""
    if len(text) <= PASSAGE_LENGTH:
        return text
    words = text[:PASSAGE_LENGTH].rsplit(maxsplit=1)
    return words[0] if words else ""
