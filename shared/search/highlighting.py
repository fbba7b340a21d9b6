"""Passages of a text that match a query, with the matches highlighted.

The words that have a term of the query are taken from a cache of words by their terms
(`shared.analysis.analyzers.KnownWords`), and looked up in the text: this takes a small part of the
time that Lucene's highlighters take to analyze the text again.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count, product
from operator import itemgetter
from typing import Final, NamedTuple

from shared.analysis.analyzers import KnownWords, known_words, tokens_of, words_within
from shared.analysis.languages import COMBINING, UNDETERMINED, WITHOUT_BLANKS
from shared.model import schema
from shared.model.search_results import MARKS
from shared.query.pipeline import ParsedQuery
from shared.query.terms import IndexTerms
from shared.query.tree import Fuzzy, Node, Pattern, TermPhrase, Terms, Values, leaves

MAX_PASSAGES: Final = 3

PASSAGE_LENGTH: Final = 200  # characters, about; a passage ends with a whole word
_LEAD: Final = 100  # characters of a passage before its first match, at most

_SENTENCE_END: Final = re.compile(r"[.!?…:]\s+|[\u3002\uff01\uff1f]\s*|\n\s*")

_NO_LETTERS: Final = re.compile(r"[\W\d_]+")
_WORD: Final = re.compile(rf"[^\W_](?:\S*[^\W_])?[{COMBINING}]*[+#]*")
"""A word without the punctuation around it, but with the signs of C++ and C#."""

_BETWEEN_BLANKS: Final = re.compile(r"\S+")
_BLANK: Final = re.compile(r"\s+")
_WITHOUT_BLANKS: Final = re.compile(f"[{WITHOUT_BLANKS}]")

_IN_PATTERN: Final = re.compile(r"\\(.)|([*?])|(.)", re.DOTALL)

_MOST_PATTERNS: Final = 20  # phrases, and other patterns, that are looked for in a text


class _Mark(NamedTuple):
    """A part of the query, by its number, and its rarity."""

    part: int
    rarity: float


_Found = tuple[int, int, _Mark]
"""Match in a text, or in a word of it: its beginning, its end, and what matches."""


_Passage = tuple[float, int, int, Sequence[_Found]]
"""Part of a text: less the sum of the rarities of what matches, its beginning, its end, and the
matches in it."""


class Passages:
    """Highlighter of the passages that match one query.

    Function words are not highlighted if the query has other words, and rarer parts weigh more in
    the choice of passages.
    """

    def __init__(self, query: ParsedQuery, terms: IndexTerms) -> None:
        self._terms: dict[str, _Mark] = {}
        self._syllables: dict[str, _Mark] = {}
        self._phrases: list[tuple[TermPhrase, _Mark]] = []
        self._patterns: list[tuple[re.Pattern[str], _Mark]] = []
        numbers = count()
        for part in chain(query.parts, query.rewritten):
            found = leaves(part.found)
            has_stems = any(
                isinstance(leaf, Terms) and leaf.field == schema.STEMS for leaf in found
            )
            for leaf in found:
                # A word as typed has its stem, too.
                if not (has_stems and isinstance(leaf, Terms) and leaf.field == schema.CONTENT):
                    self._add(leaf, _Mark(next(numbers), part.rarity), terms)
        self._by_language: dict[str | None, list[str]] = {}
        for text in self._terms:
            code, colon, _ = text.partition(":")
            self._by_language.setdefault(code if colon else None, []).append(text)
        syllables = "|".join(map(re.escape, self._syllables)) or "(?!)"
        # Korean has blanks between words, which are marked as a whole.
        self._in_syllables = re.compile(f"[가-힣]*?({syllables})(?:(?<=[가-힣])[가-힣]*)?")

    def _add(self, leaf: Node, mark: _Mark, terms: IndexTerms) -> None:
        match leaf:
            case Terms(schema.CONTENT | schema.STEMS, texts) | Values(schema.CONTENT, texts):
                for text in texts:
                    letters = text.partition(":")[2] if leaf.field == schema.STEMS else text
                    is_of_syllables = _is_of_syllables(letters)
                    of = self._syllables if is_of_syllables else self._terms
                    key = letters if is_of_syllables else text
                    if key not in of or mark.rarity > of[key].rarity:
                        of[key] = mark
            case TermPhrase(schema.CONTENT, positions):
                if any(map(_has_no_blanks, chain.from_iterable(positions))):
                    for texts in positions:
                        self._add(Terms(schema.CONTENT, texts), mark, terms)
                else:
                    self._phrases.append((leaf, mark))
            case Pattern(schema.CONTENT | schema.REVERSED):
                self._patterns.append((_expression(leaf), mark))
            case Fuzzy(text, edits, prefix, schema.CONTENT):
                alike = tuple(terms.within(schema.CONTENT, text, edits, prefix))
                self._add(Terms(schema.CONTENT, alike), mark, terms)

    def best_in(self, text: str, language: str, otherwise: tuple[int, int] | None) -> list[str]:
        """Return the passages of a chunk's content that match best, the best first.

        If nothing in it matched, for example if only the title did, it is the part between two
        offsets, or the beginning.
        """
        waiting = sorted(_passages(text, self._found(text, language)), key=itemgetter(0, 1))
        chosen: list[str] = []
        while waiting and len(chosen) < MAX_PASSAGES:
            _, start, end, found = waiting[0]
            chosen.append(_marked(text, start, end, found))
            waiting = [one for one in waiting if one[2] <= start or end <= one[1]]
        return chosen or [_marked(text, *otherwise, ()) if otherwise else _first_words(text)]

    def marked(self, text: str, language: str) -> str:
        """Return a whole text with each match between `MARKS`."""
        return _marked(text, 0, len(text), self._found(text, language), strips=False)

    def _found(self, text: str, language: str) -> list[_Found]:
        """Return the matches in a text in order; they do not overlap."""
        found = []
        if self._syllables:
            found += [
                (*match.span(), self._syllables[match[1]])
                for match in self._in_syllables.finditer(text)
            ]
        if self._terms:
            found += self._of_words(text, language)
        if self._phrases or self._patterns:
            found += self._of_patterns(text)
        # The longest of those that begin at one place comes first.
        found.sort(key=itemgetter(1), reverse=True)
        found.sort(key=itemgetter(0))
        apart: list[_Found] = []
        end = 0
        for one in found:
            if one[0] >= end:
                apart.append(one)
                end = one[1]
        return apart

    def _of_words(self, text: str, language: str) -> list[_Found]:
        words, every = set(text.split()), list(self._by_language)
        within = list(_words_within(text)) if _WITHOUT_BLANKS.search(text) else []
        if within:
            words = {word for word in words if not _WITHOUT_BLANKS.search(word)}
        asked = words.union(word for _, word in within)
        own = [code for code in every if code in {None, language, UNDETERMINED}]
        marks = (language and self._marks(asked, own)) or self._marks(asked, every)
        found = [(at, at + len(word), marks[word]) for at, word in within if word in marks]
        for word in words & marks.keys():
            mark = marks[word]
            letters = _WORD.search(word)
            begin, end = letters.span() if letters else (0, len(word))
            place = text.find(word)
            while place >= 0:
                after = place + len(word)
                # Between blanks, as the words were split.
                if not text[place - 1 : place].strip() and not text[after : after + 1].strip():
                    found.append((place + begin, place + end, mark))
                place = text.find(word, after)
        return found

    def _marks(self, words: set[str], languages: Iterable[str | None]) -> dict[str, _Mark]:
        """Return the rarest mark of each of some words that have a term of the query."""
        marks: dict[str, _Mark] = {}
        for language in languages:
            known = known_words(words, language)
            long = [*words.difference(known.terms)]
            others = KnownWords()
            for word, tokens in zip(long, tokens_of(long, language) if long else (), strict=True):
                others.add(word, tokens)
            for term, of in product(self._by_language[language], (known, others)):
                mark = self._terms[term]
                for word in words.intersection(of.words.get(term, ())):
                    if term[-1:].isalpha() and _NO_LETTERS.fullmatch(word):
                        # Of "£250" only the sign is "pound": it is another amount.
                        continue
                    if word not in marks or mark.rarity > marks[word].rarity:
                        marks[word] = mark
        return marks

    def _of_patterns(self, text: str) -> Iterator[_Found]:
        words = list(_WORD.finditer(text))
        typed = tokens_of([word[0] for word in words])
        for word, of_word in zip(words, typed, strict=True):
            texts = [token.text for token in of_word]
            for expression, mark in self._patterns[:_MOST_PATTERNS]:
                if any(map(expression.fullmatch, {*texts, "".join(texts)})):
                    yield *word.span(), mark
        places = [
            (word, token.text)
            for word, of_word in zip(words, typed, strict=True)
            for token in of_word
        ]
        for phrase, mark in self._phrases[:_MOST_PATTERNS]:
            wanted = [frozenset(texts) for texts in phrase.positions]
            for first, (_, term) in enumerate(places):
                if term in wanted[0]:
                    for place in _row(places, first, wanted, phrase.slop):
                        yield *places[place][0].span(), mark


def _words_within(text: str) -> Iterator[tuple[int, str]]:
    """Yield the words of a text that have no blanks between them, each after its place."""
    for part in _BETWEEN_BLANKS.finditer(text):
        if _WITHOUT_BLANKS.search(part[0]):
            yield from ((part.start() + at, word) for at, word in words_within(part[0]))


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


def _has_no_blanks(text: str) -> bool:
    """Check whether a text has words of a script without blanks between them."""
    return _is_of_syllables(text) or _WITHOUT_BLANKS.search(text) is not None


def _expression(leaf: Pattern) -> re.Pattern[str]:
    signs = {"*": ".*", "?": "."}
    parts = [
        signs[found[2]] if found[2] else re.escape(found[1] or found[3])
        for found in _IN_PATTERN.finditer(leaf.pattern)
    ]
    if leaf.field == schema.REVERSED:
        parts.reverse()
    return re.compile("".join(parts), re.DOTALL)


def _marked(
    text: str, begin: int, end: int, found: Iterable[_Found], *, strips: bool = True
) -> str:
    opening, closing = MARKS
    pieces: list[str] = []
    for start, stop, _ in found:
        if pieces and start == begin:
            # Chinese and others have no blanks between words.
            pieces[-1] = text[start:stop]
        else:
            pieces += [text[begin:start], opening, text[start:stop]]
        pieces.append(closing)
        begin = stop
    whole = "".join((*pieces, text[begin:end]))
    return whole.strip() if strips else whole


def _passages(text: str, found: Sequence[_Found]) -> list[_Passage]:
    """Return the passage of each match that is the first one in it.

    It begins with its sentence or line, if that is near.
    """
    ends, marks = [end for _, end, _ in found], [mark for _, _, mark in found]
    passages = []
    for number, (first, last, _) in enumerate(found):
        least = max(ends[number - 1] if number else 0, first - _LEAD)
        sentences = [*_SENTENCE_END.finditer(text, least, first)]
        start = least
        if sentences:
            start = sentences[-1].end()
        elif least and (blank := _BLANK.search(text, least - 1, first)):
            start = blank.end()
        end = start + PASSAGE_LENGTH
        if end < len(text) and (blank := _BLANK.search(text, end - 1, end + PASSAGE_LENGTH)):
            end = blank.start()
        end = max(end, last)
        stop = bisect_right(ends, end, lo=number)
        rarities = dict(marks[number:stop]).values()
        passages.append((-sum(rarities), start, end, found[number:stop]))
    return passages


def _first_words(text: str) -> str:
    if len(text) <= PASSAGE_LENGTH:
        return text
    words = text[:PASSAGE_LENGTH].rsplit(maxsplit=1)
    return words[0] if words else ""
