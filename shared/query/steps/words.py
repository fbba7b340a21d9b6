"""Step for words: each is searched in every field, in the form that the field has."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from shared.analysis.analyzers import (
    is_in_dictionary,
    normalized,
    tokens,
)
from shared.analysis.identifiers import names_in, words_in
from shared.analysis.languages import WITH_LEMMAS, WITHOUT_BLANKS
from shared.analysis.stems import irregular_stems, segments, stems_of_query
from shared.analysis.stop_words import WITH_FUNCTION_WORDS, is_function_word
from shared.analysis.transliteration import SPELLED_OUT, without_digraphs
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

_PRECISE: Final = re.compile(r"\d|@|_|://")
"""Signs of an identifier with many similar ones, of which only the whole is meant: numbers,
addresses."""

_ORDINARY_SIGNS: Final = re.compile(r"\W*[^\W\d_]+(?:(?:-+|/)[^\W\d_]+)+\W*")
"""Words joined by hyphens or a slash, which others write apart or as one."""

_ORDINARY: Final = 0.3
"""Weight of a hyphenated word, relative to other identifiers."""

_JOINED: Final = 0.3
"""Weight of a hyphenated word as one word, relative to its parts."""

_MOST_PARTS: Final = 50
"""Maximum number of words in an identifier; more are only searched as a phrase."""

_LONG_NAME: Final = 6
"""Minimum number of letters of a name that hardly becomes another word when it loses one of
them."""

_TEXT_FIELDS: Final = (schema.CONTENT, schema.TITLE)
_OF_WORDS: Final = (None, *_TEXT_FIELDS)


def _text_weights(weights: Weights) -> dict[str, float]:
    """Return the weight of a word itself in each text field; fields with weight 0 are left out."""
    fields = {schema.CONTENT: weights.content, schema.TITLE: weights.title}
    return {field: weight for field, weight in fields.items() if weight}


@dataclass(frozen=True)
class WordsOnFields:
    """Step that puts leaves without a field on the fields of an index.

    Attributes:
        languages: the languages in which words are searched.
        requires_all: true if all words of the query are required.
        weights: the weight of each kind of match.
        misses_languages: true if the index has others, in which words are searched as typed: a
            document in German may quote English.
    """

    languages: Sequence[str]
    requires_all: bool = False
    weights: Weights = DEFAULT_WEIGHTS
    misses_languages: bool = False

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
            misses_languages=self.misses_languages,
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
    languages: Sequence[str]
    weights: Weights
    misses_languages: bool
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
        parts = words_in(text)
        if len(parts) > _MOST_PARTS:
            return self.row(positions)
        if len(parts) > 1:
            # A part without letters, such as a row of underscores, is not a condition.
            found = (self.word(part, occur) for part in parts)
            words = [part for part in found if not isinstance(part, Nothing)]
            return all_of(*words) if self.requires_all else any_of(*words)
        return any_of(self.row(positions), self.segmented(text))

    def plain(self, text: str, terms: Sequence[str]) -> Node:
        """Return the node for a word without signs: its stems, and itself in the metadata.

        Args:
            text: the word as typed.
            terms: its terms in the content, one or none.
        """
        found = self._stems(text, terms)
        words: list[Node] = []
        if found:
            forms: Sequence[tuple[tuple[str, ...], float]] = [(found, 1.0)]
            if irregular := tuple(irregular_stems(found)):
                forms = [*forms, (irregular, self.weights.irregular)]
            words += (
                weighted(
                    any_of(*(weighted(Terms(field, of_form), by) for of_form, by in forms)), weight
                )
                for field, weight in self._stem_fields()
            )
        if not found or self.misses_languages or self._is_function_word(text):
            # Function words have no stems in texts of their language.
            words += [Terms(field, (term,)) for field in self.fields for term in terms]
        elif self.fields == [schema.TITLE]:
            words += [Terms(schema.TITLE, (term,)) for term in terms]
        if self.fields == list(_TEXT_FIELDS) and self.weights.metadata:
            words += [
                weighted(Terms(schema.METADATA, (term,)), self.weights.metadata) for term in terms
            ]
        return any_of(*words, self.segmented(text))

    def _is_function_word(self, text: str) -> bool:
        return any(
            is_function_word(code, text) for code in self.languages if code in WITH_FUNCTION_WORDS
        )

    def _stems(self, text: str, terms: Sequence[str]) -> tuple[str, ...]:
        """Return the stems of a word in the languages with blanks between words."""
        languages = [code for code in self.languages if code not in WITHOUT_BLANKS]
        spelled = [text, *self._other_spellings(text, terms)]
        found = [term for word in spelled for term in stems_of_query(languages, word)]
        # A word without blanks around it, such as a name in Latin letters, is one segment.
        names = (
            f"{code}:{segment}"
            for code in self.languages
            if code in WITHOUT_BLANKS and len(found_in := list(segments(code, text))) == 1
            for segment in found_in
        )
        return tuple(dict.fromkeys((*found, *names)))

    def _other_spellings(self, text: str, terms: Sequence[str]) -> Iterator[str]:
        """Yield spellings with and without the e for an umlaut: Müller, Mueller and Muller.

        A word without its e may be another one, as "poet" and "pot", unless the word is in no
        dictionary.
        """
        if (spelled_out := text.translate(SPELLED_OUT)) != text:
            yield spelled_out
        for term in terms:
            without = without_digraphs(term)
            is_name = text[:1].isupper() and len(text) >= _LONG_NAME
            if (
                without != term
                and ("de" in self.languages or is_name)
                and not any(
                    is_in_dictionary(code, term) for code in self.languages if code in WITH_LEMMAS
                )
            ):
                yield without

    def segmented(self, text: str) -> Node:
        """Return the terms of a text in the languages without blanks between words."""
        return any_of(
            *(
                best_of(
                    *(
                        weighted(self._all(field, found), weight)
                        for code in self.languages
                        if code in WITHOUT_BLANKS
                        if len(found := [f"{code}:{term}" for term in segments(code, text)]) > 1
                    )
                )
                for field, weight in self._stem_fields()
            )
        )

    def _all(self, field: str, texts: Sequence[str]) -> Node:
        terms = (Terms(field, (text,)) for text in dict.fromkeys(texts))
        return all_of(*terms) if self.requires_all else any_of(*terms)

    def _stem_fields(self) -> Iterator[tuple[str, float]]:
        if schema.CONTENT in self.fields and self.weights.stems:
            yield schema.STEMS, self.weights.stems
        if schema.TITLE in self.fields and self.weights.title_stems:
            yield schema.TITLE_STEMS, self.weights.title_stems

    def _text_fields(self) -> Iterator[tuple[str, float]]:
        weights = _text_weights(self.weights)
        return ((field, weights[field]) for field in self.fields if field in weights)

    def row(self, positions: Sequence[Sequence[str]]) -> Node:
        """Return a phrase of adjacent words."""
        return any_of(
            *(
                weighted(_phrase_of(field, positions), of_field)
                for field, of_field in self._text_fields()
            )
        )

    def name(self, text: str, names: list[str], parts: list[str], occur: Occur) -> Node:
        """Return the node for an identifier: as typed, and as the words that it consists of."""
        written: list[Node] = [
            weighted(Terms(schema.IDENTIFIERS, (name,)), self.weights.identifier) for name in names
        ]
        if len(parts) <= 1:
            is_whole = text.startswith(".") or not parts or len(parts[0]) == 1
            if "_" in text:
                written += (Terms(field, (part,)) for field in self.fields for part in parts)
            elif not is_whole and occur != "must_not":
                written.append(self.plain(text, parts))
            return any_of(*written)
        row = self.row([[part] for part in parts])
        if occur == "must_not" or _PRECISE.search(text):
            return any_of(*written, row)
        joined = "".join(parts)
        if len(parts) > _MOST_PARTS:
            return any_of(*written, row, self.row([[joined]]))
        has_letters = any(len(part) == 1 for part in parts)
        words = [self.plain(part, [part]) for part in parts if len(part) > 1]
        together = [all_of(*words)] if self.requires_all else words
        if _ORDINARY_SIGNS.fullmatch(text) and words:
            # The letter of "x-ray" means nothing alone.
            joined_weight = 1.0 if has_letters else _JOINED
            whole = [weighted(node, _ORDINARY) for node in written]
            return any_of(*whole, weighted(self.plain(joined, [joined]), joined_weight), *together)
        return any_of(*written, row, self.row([[joined]]), *(() if has_letters else together))


def _with_other_spellings(words: Sequence[str]) -> Sequence[Sequence[str]]:
    """Return the words of a phrase, at each position with and without the e for an umlaut."""
    spellings = [
        [terms for word in words for terms in tokens(schema.CONTENT, word)],
        [terms for word in words for terms in tokens(schema.CONTENT, word.translate(SPELLED_OUT))],
    ]
    if len({len(positions) for positions in spellings}) > 1:
        return spellings[0]
    return [
        list(dict.fromkeys(chain(*position, map(without_digraphs, position[0]))))
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
