"""The step for German compounds: a word that no chunk has stands for those that consist of it.

Where no chunk has a form of "Vertrag", it finds "Mietvertrag" and "Vertragsstrafe". The dictionary
must have the word, or else it is rather misspelled, and what the compound has besides: "Tante" does
not find "Konstante". A word that some chunk has is left alone, so a query whose words are all there
finds what it finds without this step.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, product
from typing import Any, Final

from shared.analysis.analyzers import dictionary_lemmas, tokens
from shared.model import schema
from shared.model.weights import Weights
from shared.query.index_terms import IndexTerms, is_present
from shared.query.tree import Leaf, Node, Occur, Terms, Word, any_of, weighted
from shared.storage.terms import terms_with_prefix

GERMAN: Final = "de"

_MOST_LOOKED_UP: Final = 8
"""Words of a query that compounds are looked for, since each takes milliseconds."""

_FEWEST_LETTERS: Final = 4
"""Shorter words are in too many others by chance."""

_FEWEST_BESIDES: Final = 3
"""Letters that a compound has besides, without those that link its parts."""

_LINKS: Final[tuple[str, ...]] = ("", "s", "es", "n", "en", "er", "e")
"""What may link the parts of a compound: Vertragsstrafe, Blumentopf, Kinderwagen, Hundefutter."""

_ENDINGS: Final = ("", "e", "en", "n", "s", "es", "er", "ern")
"""What a noun may have behind it in the plural and in other cases; umlauts are folded away."""

_MOST_TERMS: Final = 500
"""Terms that are looked at for a word: of those that begin with it, and of those that end so."""


class Compounds:
    """Puts compounds in the place of words that no chunk has.

    Args:
        reader: the reader to be searched.
        terms: the terms of its index.
        on_fields: what a word becomes in the step for words.
        weights: what each match counts for.
        german: what the form of a word in German counts for; 0 switches the step off.
    """

    def __init__(
        self,
        reader: Any,
        terms: IndexTerms,
        on_fields: Callable[[Leaf, Occur], Node],
        weights: Weights,
        german: float,
    ) -> None:
        self._reader = reader
        self._terms = terms
        self._on_fields = on_fields
        self._fields = {
            schema.CONTENT: weights.compound * (weights.content + german),
            schema.TITLE: weights.compound * (weights.title + weights.title_language * german),
        }
        self._is_on = weights.compound * german > 0
        self._looked_up = 0

    def __call__(self, leaf: Leaf, occur: Occur) -> Node:
        """The leaf itself, or the compounds that consist of it and of something else."""
        if not self._is_on or occur == "must_not" or not isinstance(leaf, Word) or leaf.field:
            return leaf
        match tokens(schema.CONTENT, leaf.text):
            case ((word,),) if len(word) >= _FEWEST_LETTERS and _is_german(word):
                found = self._compounds(leaf, word, occur)
                parts = (weighted(Terms(field, found), by) for field, by in self._fields.items())
                return any_of(*parts) if found else leaf
        return leaf

    def _compounds(self, leaf: Word, word: str, occur: Occur) -> tuple[str, ...]:
        is_known = is_present(self._on_fields(leaf, occur), self._terms)
        if is_known or self._looked_up >= _MOST_LOOKED_UP:
            return ()
        self._looked_up += 1
        return compounds_of(self._reader, word)


def compounds_of(reader: Any, word: str) -> tuple[str, ...]:
    """The words of the content and of titles that begin or end with a German word.

    Args:
        reader: the reader of the index.
        word: a folded word.

    Returns:
        At most 1,000 terms; none for a word that the dictionary lacks.
    """
    lemmas = dictionary_lemmas(GERMAN, [word]).get(word, [])
    forms = [form for form in dict.fromkeys((word, *lemmas)) if len(form) >= _FEWEST_LETTERS]
    if not lemmas:
        # Rather a name, or misspelled.
        return ()
    begun = _merged(_beginning(reader, forms))
    ended = _merged(_ending(reader, forms))
    known = dictionary_lemmas(GERMAN, chain(ended, *begun.values(), *ended.values()))
    ended = {
        term: rests
        for term, rests in ended.items()
        # Nachteile is a form of Nachteil, which does not end with Eile.
        if any(lemma.endswith(tuple(forms)) for lemma in known.get(term, forms))
    }
    both = (*begun.items(), *ended.items())
    found = (term for term, rests in both if not known.keys().isdisjoint(rests))
    return tuple(dict.fromkeys(found))


def _merged(found: Iterable[tuple[str, Iterable[str]]]) -> dict[str, set[str]]:
    """German terms, each with all that the rest of it may be."""
    merged: dict[str, set[str]] = defaultdict(set)
    for term, rests in islice(found, _MOST_TERMS):
        if _is_german(term):
            merged[term].update(rest for rest in rests if len(rest) >= _FEWEST_BESIDES)
    return merged


def _beginning(reader: Any, forms: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The terms that begin with one of some forms, each with what the rest of it may be."""
    # Schulhof is of Schule.
    without_e = {form.removesuffix("e"): ("",) for form in forms if form.endswith("e")}
    links = {**without_e, **dict.fromkeys(forms, _LINKS)}
    for form, field in product(links, (schema.CONTENT, schema.TITLE)):
        for term, _ in terms_with_prefix(reader, field, form):
            rest = term.removeprefix(form)
            yield term, [rest.removeprefix(link) for link in links[form] if rest.startswith(link)]


def _ending(reader: Any, forms: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The same for those that end with one; the field for that has the words of titles, too."""
    for form, ending in product(forms, _ENDINGS):
        end = f"{form}{ending}"
        for backwards, _ in terms_with_prefix(reader, schema.REVERSED, end[::-1]):
            term = backwards[::-1]
            rest = term.removesuffix(end)
            others = [rest.removesuffix(link) for link in _LINKS if rest.endswith(link)]
            yield term, [*others, f"{rest}e"]


def _is_german(word: str) -> bool:
    """Whether a folded word has only letters that German has."""
    return word.isascii() and word.isalpha()
