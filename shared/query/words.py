"""The step for words: each is looked for in every field, in the form that the field has it in."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from shared import schema
from shared.analysis.analyzers import normalized, tokens
from shared.analysis.identifiers import names_in
from shared.analysis.languages import LANGUAGES, WITHOUT_BLANKS
from shared.analysis.transliteration import without_digraphs
from shared.query import weights
from shared.query.tree import (
    Expression,
    Fuzzy,
    Leaf,
    Node,
    Nothing,
    Occur,
    Phrase,
    Range,
    TermPhrase,
    Terms,
    Word,
    all_of,
    any_of,
    best_of,
    weighted,
)

_LETTERS: Final = re.compile(r"[\w\u0300-\u036f]+")
_PRECISE: Final = re.compile(r"\d|@|_|://")
"""What makes a name one of many alike, of which only the whole is meant: numbers, addresses."""

_MOST_PARTS: Final = 50
"""Words between the signs of one; more are looked for side by side only."""

_WITH_DIGRAPHS: Final = ("de",)
"""Languages whose words may be spelled with an e in place of an umlaut."""

_LONG_NAME: Final = 6
"""Letters of a name that is hardly another word by chance when it loses one of them."""

_TEXT_FIELDS: Final = {schema.CONTENT: weights.CONTENT, schema.TITLE: weights.TITLE}
_OTHER_SPELLINGS: Final[Mapping[str, Callable[[str], str]]] = {
    schema.TRANSLITERATED: without_digraphs,
    schema.IDENTIFIERS: str,
    schema.METADATA: str,
}
_FORMS: Final = {schema.CONTENT: 1.0, schema.TITLE: weights.TITLE_LANGUAGE}
_DIGRAPHS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})


@dataclass(frozen=True)
class WordsOnFields:
    """Puts words, phrases and what else names no field on the fields of an index.

    Attributes:
        languages: the weight of each language of the index.
        requires_all: whether all words of the query are needed.
    """

    languages: Mapping[str, float]
    requires_all: bool = False

    def __call__(self, leaf: Leaf, occur: Occur) -> Node:
        """What a leaf looks for in each field."""
        match leaf:
            case Word():
                return self._word(leaf, occur)
            case Phrase():
                return _phrase(leaf)
            case Fuzzy(field=None):
                text = _folded(leaf.text)
                return _on_text_fields(lambda on: Fuzzy(text, leaf.edits, leaf.prefix, on))
            case Expression(field=None):
                return _on_text_fields(lambda on: Expression(leaf.pattern, on))
            case Range(field=None):
                ends = (leaf.low and _folded(leaf.low), leaf.high and _folded(leaf.high))
                includes = (leaf.includes_low, leaf.includes_high)
                return _on_text_fields(lambda on: Range(*ends, *includes, on))
        return leaf

    def _word(self, word: Word, occur: Occur) -> Node:
        if word.field is not None and word.field not in _TEXT_FIELDS:
            return _on_named_field(word.field, word.text)
        search = _WordSearch(
            [word.field] if word.field else list(_TEXT_FIELDS),
            self.languages,
            requires_all=occur == "must" or (self.requires_all and occur == "should"),
        )
        return search.word(word.text, occur)


@dataclass(frozen=True)
class _WordSearch:
    """Where a word is looked for: in these text fields, and for all of its parts or any."""

    fields: list[str]
    languages: Mapping[str, float]
    requires_all: bool

    def word(self, text: str, occur: Occur) -> Node:
        """A word as it was typed, of which the content may have made several."""
        names = [names[0] for names in tokens(schema.IDENTIFIERS, names_in(text.split()))]
        positions = tokens(schema.CONTENT, text)
        terms = [terms[0] for terms in positions]
        if names:
            return self.name(text, names, terms, occur)
        if len(terms) <= 1:
            return self.plain(text, terms)
        parts = _LETTERS.findall(text)
        if len(parts) > _MOST_PARTS:
            return self.row(positions)
        if len(parts) > 1:
            words = [self.word(part, occur) for part in parts]
            return all_of(*words) if self.requires_all else any_of(*words)
        return any_of(self.row(positions), *self.forms(text, WITHOUT_BLANKS))

    def plain(self, text: str, terms: Sequence[str]) -> Node:
        """A word without signs: itself, its forms, other spellings, and where it is a part.

        Args:
            text: the word as it was typed.
            terms: what the content has for it, one or none.
        """
        exact = (
            weighted(Terms(field, (term,)), _TEXT_FIELDS[field])
            for field in self.fields
            for term in terms
        )
        others = (
            weighted(Terms(field, (spelled(term),)), weights.OTHER_FIELDS[field])
            for field, spelled in _OTHER_SPELLINGS.items()
            if self.fields == list(_TEXT_FIELDS)
            for term in terms
        )
        return any_of(*exact, *self.forms(text), *others, *self._without_umlaut(text, terms))

    def _without_umlaut(self, text: str, terms: Sequence[str]) -> Iterator[Node]:
        """What is spelled with neither an umlaut nor its e, such as Muller for Mueller.

        Its base forms are looked for in German, itself only if it may be a name.
        """
        weight = weights.OTHER_FIELDS[schema.TRANSLITERATED]
        for term in terms:
            spelled = without_digraphs(term)
            if spelled != term:
                yield from self.forms(spelled, _WITH_DIGRAPHS)
            if spelled != term and text[:1].isupper() and len(text) >= _LONG_NAME:
                yield weighted(Terms(schema.CONTENT, (spelled,)), weight)

    def forms(self, text: str, among: Collection[str] = LANGUAGES) -> Iterator[Node]:
        """The base forms of a word, for each field the best of the languages of the index."""
        languages = {code: self.languages[code] for code in self.languages if code in among}
        found = {
            language: tokens(schema.language_field(schema.CONTENT, language), text)
            for language in languages
        }
        for field in self.fields:
            nodes = (
                weighted(self._form(schema.language_field(field, language), positions), weight)
                for (language, weight), positions in zip(
                    languages.items(), found.values(), strict=True
                )
            )
            yield weighted(best_of(*nodes), _FORMS[field])

    def _form(self, field: str, positions: Sequence[Sequence[str]]) -> Node:
        terms = (Terms(field, tuple(dict.fromkeys(texts))) for texts in positions)
        return all_of(*terms) if self.requires_all else any_of(*terms)

    def row(self, positions: Sequence[Sequence[str]], weight: float = 1.0) -> Node:
        """Words side by side."""
        return any_of(
            *(
                weighted(_phrase_of(field, positions), _TEXT_FIELDS[field] * weight)
                for field in self.fields
            )
        )

    def name(self, text: str, names: list[str], parts: list[str], occur: Occur) -> Node:
        """A word with signs in it: as it is written, and as the words that it consists of."""
        written = [
            weighted(Terms(schema.IDENTIFIERS, (name,)), weights.IDENTIFIER) for name in names
        ]
        if len(parts) <= 1:
            is_whole = text.startswith(".") or not parts or len(parts[0]) == 1
            if is_whole or occur == "must_not":
                return any_of(*written)
            return any_of(*written, self.plain(text, parts))
        row = self.row([[part] for part in parts], weights.PARTS_IN_A_ROW)
        if occur == "must_not" or _PRECISE.search(text):
            return any_of(*written, row)
        joined = self.row([["".join(parts)]])
        if len(parts) > _MOST_PARTS or any(len(part) == 1 for part in parts):
            return any_of(*written, row, joined)
        words = [self.plain(part, [part]) for part in parts]
        together = [all_of(*words)] if self.requires_all else words
        return any_of(*written, row, joined, *together)


def _phrase(phrase: Phrase) -> Node:
    if phrase.field is not None and phrase.field not in _TEXT_FIELDS:
        return _on_named_field(phrase.field, " ".join(phrase.words))
    positions = _with_other_spellings(phrase.words)
    return any_of(
        *(
            weighted(_phrase_of(field, positions, phrase.slop), weight)
            for field, weight in _TEXT_FIELDS.items()
            if phrase.field in (None, field)
        )
    )


def _with_other_spellings(words: Sequence[str]) -> Sequence[Sequence[str]]:
    """The words of a phrase, at each position with and without the e that stands for an umlaut."""
    spellings = [
        [terms for word in words for terms in tokens(schema.CONTENT, word)],
        [terms for word in words for terms in tokens(schema.CONTENT, word.translate(_DIGRAPHS))],
        [terms for word in words for terms in tokens(schema.TRANSLITERATED, word)],
    ]
    if len({len(positions) for positions in spellings}) > 1:
        return spellings[0]
    return [
        list(dict.fromkeys(term for terms in position for term in terms))
        for position in zip(*spellings, strict=True)
    ]


def _on_named_field(field: str, text: str) -> Node:
    """What is looked for in a field that is neither content nor title."""
    if schema.is_number_field(field):
        return Range(text, text, field=field)
    if schema.is_keyword_field(field):
        return Terms(field, (schema.keyword(text),))
    return any_of(*(Terms(field, tuple(texts)) for texts in tokens(field, text)))


def _on_text_fields(node_on: Callable[[str], Node]) -> Node:
    return any_of(*(weighted(node_on(field), weight) for field, weight in _TEXT_FIELDS.items()))


def _phrase_of(field: str, positions: Sequence[Sequence[str]], slop: int = 0) -> Node:
    if len(positions) == 1:
        return Terms(field, tuple(positions[0]))
    return TermPhrase(field, tuple(map(tuple, positions)), slop) if positions else Nothing()


def _folded(text: str) -> str:
    return normalized(schema.CONTENT, text)
