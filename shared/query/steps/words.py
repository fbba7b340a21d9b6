"""Step for words: each is searched in every field, in the form that the field has."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from shared.analysis.analyzers import normalized, tokens
from shared.analysis.identifiers import names_in
from shared.analysis.languages import LANGUAGES, WITHOUT_BLANKS
from shared.analysis.transliteration import without_digraphs
from shared.model import schema
from shared.model.weights import DEFAULT_WEIGHTS, Weights
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
"""Signs of an identifier with many similar ones, of which only the whole is meant: numbers,
addresses."""

_MOST_PARTS: Final = 50
"""Maximum number of words in an identifier; more are only searched as a phrase."""

_WITH_DIGRAPHS: Final = ("de",)
"""Languages whose words may be spelled with an e instead of an umlaut."""

_LONG_NAME: Final = 6
"""Minimum number of letters of a name that hardly becomes another word when it loses one of
them."""

_TEXT_FIELDS: Final = (schema.CONTENT, schema.TITLE)
_OF_WORDS: Final = (None, *_TEXT_FIELDS)
_DIGRAPHS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})


def _text_weights(weights: Weights) -> dict[str, float]:
    """Return the weight of a word itself in each text field; fields with weight 0 are left out."""
    fields = {schema.CONTENT: weights.content, schema.TITLE: weights.title}
    return {field: weight for field, weight in fields.items() if weight}


def _other_spellings(weights: Weights) -> dict[str, tuple[Callable[[str], str], float]]:
    """Return the spelling of a folded word in other fields, and its weight there."""
    return {
        schema.TRANSLITERATED: (without_digraphs, weights.transliterated),
        schema.IDENTIFIERS: (str, weights.identifier_parts),
        schema.METADATA: (str, weights.metadata),
    }


@dataclass(frozen=True)
class WordsOnFields:
    """Step that puts leaves without a field on the fields of an index.

    Attributes:
        languages: the weight of each language of the index.
        requires_all: true if all words of the query are required.
        weights: the weight of each kind of match.
    """

    languages: Mapping[str, float]
    requires_all: bool = False
    weights: Weights = DEFAULT_WEIGHTS

    def __call__(self, leaf: Leaf, occur: Occur) -> Node:
        """Return the node for a leaf on its fields."""
        match leaf:
            case Word():
                return self._word(leaf, occur)
            case Phrase():
                return self._phrase(leaf)
            case Fuzzy() if leaf.field in _OF_WORDS:
                text = _folded(leaf.text)
                return self._on_text_fields(replace(leaf, text=text)) if text else Nothing()
            case Expression() if leaf.field in _OF_WORDS:
                return self._on_text_fields(leaf)
            case Range() if leaf.field in _OF_WORDS:
                low, high = leaf.low and _folded(leaf.low), leaf.high and _folded(leaf.high)
                return self._on_text_fields(replace(leaf, low=low, high=high))
        return leaf

    def _word(self, word: Word, occur: Occur) -> Node:
        if word.field is not None and word.field not in _TEXT_FIELDS:
            return _on_named_field(word.field, word.text)
        search = _WordSearch(
            [word.field] if word.field else list(_TEXT_FIELDS),
            self.languages,
            self.weights,
            requires_all=occur == "must" or (self.requires_all and occur == "should"),
        )
        return search.word(word.text, occur)

    def _phrase(self, phrase: Phrase) -> Node:
        if phrase.field is not None and phrase.field not in _TEXT_FIELDS:
            return _on_named_field(phrase.field, " ".join(phrase.words))
        positions = _with_other_spellings(phrase.words)
        return any_of(
            *(
                weighted(_phrase_of(field, positions, phrase.slop), weight)
                for field, weight in _text_weights(self.weights).items()
                if phrase.field in (None, field)
            )
        )

    def _on_text_fields(self, leaf: Fuzzy | Expression | Range) -> Node:
        return any_of(
            *(
                weighted(replace(leaf, field=field), weight)
                for field, weight in _text_weights(self.weights).items()
                if leaf.field in (None, field)
            )
        )


@dataclass(frozen=True)
class _WordSearch:
    """Search for a word in some text fields, for all of its parts or any."""

    fields: list[str]
    languages: Mapping[str, float]
    weights: Weights
    requires_all: bool

    def word(self, text: str, occur: Occur) -> Node:
        """Return the node for a word as typed, which may be several terms in the content."""
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
            # A part without letters, such as a row of underscores, is not a condition.
            found = (self.word(part, occur) for part in parts)
            words = [part for part in found if not isinstance(part, Nothing)]
            return all_of(*words) if self.requires_all else any_of(*words)
        return any_of(self.row(positions), *self.forms(text, WITHOUT_BLANKS))

    def plain(self, text: str, terms: Sequence[str]) -> Node:
        """Return the node for a word without signs: itself, its forms and other spellings.

        Args:
            text: the word as typed.
            terms: its terms in the content, one or none.
        """
        exact = (
            weighted(Terms(field, (term,)), weight)
            for field, weight in self._text_fields()
            for term in terms
        )
        others = (
            weighted(Terms(field, (spelled(term),)), weight)
            for field, (spelled, weight) in _other_spellings(self.weights).items()
            if self.fields == list(_TEXT_FIELDS) and weight
            for term in terms
        )
        return any_of(*exact, *self.forms(text), *others, *self._without_umlaut(text, terms))

    def _without_umlaut(self, text: str, terms: Sequence[str]) -> Iterator[Node]:
        """Yield nodes for spellings with neither an umlaut nor its e, such as Muller for Mueller.

        Its base forms are searched in German, the spelling itself only if it may be a name.
        """
        weight = self.weights.transliterated
        for term in terms if weight else ():
            spelled = without_digraphs(term)
            if spelled != term:
                yield from self.forms(spelled, _WITH_DIGRAPHS)
            if spelled != term and text[:1].isupper() and len(text) >= _LONG_NAME:
                yield weighted(Terms(schema.CONTENT, (spelled,)), weight)

    def forms(self, text: str, among: Collection[str] = LANGUAGES) -> Iterator[Node]:
        """Yield the base forms of a word, in each field the best of the index's languages."""
        languages = {code: self.languages[code] for code in self.languages if code in among}
        found = {
            language: tokens(schema.language_field(schema.CONTENT, language), text)
            for language in languages
        }
        of_fields = {schema.CONTENT: 1.0, schema.TITLE: self.weights.title_language}
        for field in filter(of_fields.get, self.fields):
            nodes = (
                weighted(self._form(schema.language_field(field, language), positions), weight)
                for (language, weight), positions in zip(
                    languages.items(), found.values(), strict=True
                )
            )
            yield weighted(best_of(*nodes), of_fields[field])

    def _form(self, field: str, positions: Sequence[Sequence[str]]) -> Node:
        terms = (Terms(field, tuple(dict.fromkeys(texts))) for texts in positions)
        return all_of(*terms) if self.requires_all else any_of(*terms)

    def _text_fields(self) -> Iterator[tuple[str, float]]:
        weights = _text_weights(self.weights)
        return ((field, weights[field]) for field in self.fields if field in weights)

    def row(self, positions: Sequence[Sequence[str]], weight: float = 1.0) -> Node:
        """Return a phrase of adjacent words."""
        return any_of(
            *(
                weighted(_phrase_of(field, positions), of_field * weight)
                for field, of_field in self._text_fields()
            )
        )

    def name(self, text: str, names: list[str], parts: list[str], occur: Occur) -> Node:
        """Return the node for an identifier: as typed, and as the words that it consists of."""
        written = [
            weighted(Terms(schema.IDENTIFIERS, (name,)), self.weights.identifier) for name in names
        ]
        if len(parts) <= 1:
            is_whole = text.startswith(".") or not parts or len(parts[0]) == 1
            if is_whole or occur == "must_not":
                return any_of(*written)
            return any_of(*written, self.plain(text, parts))
        row = self.row([[part] for part in parts], self.weights.parts_in_a_row)
        if occur == "must_not" or _PRECISE.search(text):
            return any_of(*written, row)
        joined = self.row([["".join(parts)]])
        if len(parts) > _MOST_PARTS or any(len(part) == 1 for part in parts):
            return any_of(*written, row, joined)
        words = [self.plain(part, [part]) for part in parts]
        together = [all_of(*words)] if self.requires_all else words
        return any_of(*written, row, joined, *together)


def _with_other_spellings(words: Sequence[str]) -> Sequence[Sequence[str]]:
    """Return the words of a phrase, at each position with and without the e for an umlaut."""
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
    """Return the node for a text in a field that is neither content nor title."""
    if schema.is_number_field(field):
        return Range(text, text, field=field)
    if schema.is_keyword_field(field):
        return Terms(field, (schema.keyword(text),))
    return any_of(*(Terms(field, tuple(texts)) for texts in tokens(field, text)))


def _phrase_of(field: str, positions: Sequence[Sequence[str]], slop: int = 0) -> Node:
    if len(positions) == 1:
        return Terms(field, tuple(positions[0]))
    return TermPhrase(field, tuple(map(tuple, positions)), slop) if positions else Nothing()


def _folded(text: str) -> str:
    return normalized(schema.CONTENT, text)
