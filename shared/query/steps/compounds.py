"""Step for German compounds: a word that no chunk has is replaced by compounds with it.

If no chunk has a form of "Vertrag", it finds "Mietvertrag" and "Vertragsstrafe". The dictionary
must have the word, which may be misspelled otherwise, and the rest of the compound: "Tante" does
not find "Konstante". A word that some chunk has is left unchanged, so this step does not change the
hits of a query whose words all exist.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, product
from typing import Final

from shared.analysis.analyzers import dictionary_lemmas, tokens
from shared.model import schema
from shared.model.weights import Weights
from shared.query.index_terms import IndexTerms, is_present
from shared.query.tree import Leaf, Node, Occur, Terms, Word, any_of, weighted

GERMAN: Final = "de"

_MOST_LOOKED_UP: Final = 8
"""Maximum number of words of a query for which compounds are searched, since each takes
milliseconds."""

_FEWEST_LETTERS: Final = 4
"""Minimum number of letters; shorter words occur in too many others by chance."""

_FEWEST_BESIDES: Final = 3
"""Minimum number of letters in the rest of a compound, without those that link its parts."""

_LINKS: Final[tuple[str, ...]] = ("", "s", "es", "n", "en", "er", "e")
"""Links between the parts of a compound: Vertragsstrafe, Blumentopf, Kinderwagen, Hundefutter."""

_ENDINGS: Final = ("", "e", "en", "n", "s", "es", "er", "ern")
"""Endings of a noun in the plural and in other cases; umlauts are folded."""

_MOST_TERMS: Final = 500
"""Maximum number of terms that are examined for a word, both for those that begin and for those
that end with it."""


class Compounds:
    """Step that replaces words that no chunk has by compounds.

    Args:
        terms: the terms of the index.
        on_fields: the step for words.
        weights: the weight of each kind of match.
        is_german: true if some chunks are in German; otherwise the step does nothing.
    """

    def __init__(
        self,
        terms: IndexTerms,
        on_fields: Callable[[Leaf, Occur], Node],
        weights: Weights,
        *,
        is_german: bool,
    ) -> None:
        self._terms = terms
        self._on_fields = on_fields
        self._fields = {
            schema.CONTENT: weights.compound * weights.content,
            schema.TITLE: weights.compound * weights.title,
        }
        self._is_on = is_german and weights.compound > 0
        self._looked_up = 0

    def __call__(self, leaf: Leaf, occur: Occur) -> Node:
        """Return the leaf itself, or the compounds with it."""
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
        return compounds_of(self._terms, word)


def compounds_of(terms: IndexTerms, word: str) -> tuple[str, ...]:
    """Return the words of content and titles that begin or end with a German word.

    Args:
        terms: the terms of the index.
        word: a folded word.

    Returns:
        At most 1,000 terms; empty for a word that is not in the dictionary.
    """
    lemmas = dictionary_lemmas(GERMAN, [word]).get(word, [])
    forms = [form for form in dict.fromkeys((word, *lemmas)) if len(form) >= _FEWEST_LETTERS]
    if not lemmas:
        # Probably a name, or misspelled.
        return ()
    begun = _merged(_beginning(terms, forms))
    ended = _merged(_ending(terms, forms))
    known = dictionary_lemmas(GERMAN, chain(ended, *begun.values(), *ended.values()))
    ended = {
        term: rests
        for term, rests in ended.items()
        # Nachteile is a form of Nachteil, so it does not end with Eile.
        if any(lemma.endswith(tuple(forms)) for lemma in known.get(term, forms))
    }
    both = (*begun.items(), *ended.items())
    found = (term for term, rests in both if not known.keys().isdisjoint(rests))
    return tuple(dict.fromkeys(found))


def _merged(found: Iterable[tuple[str, Iterable[str]]]) -> dict[str, set[str]]:
    """Return German terms, each with the possible rests of the compound."""
    merged: dict[str, set[str]] = defaultdict(set)
    for term, rests in islice(found, _MOST_TERMS):
        if _is_german(term):
            merged[term].update(rest for rest in rests if len(rest) >= _FEWEST_BESIDES)
    return merged


def _beginning(terms: IndexTerms, forms: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the terms that begin with one of some forms, each with the possible rests."""
    # Schulhof comes from Schule.
    without_e = {form.removesuffix("e"): ("",) for form in forms if form.endswith("e")}
    links = {**without_e, **dict.fromkeys(forms, _LINKS)}
    for form, field in product(links, (schema.CONTENT, schema.TITLE)):
        for term, _ in terms.beginning_with(field, form):
            rest = term.removeprefix(form)
            yield term, [rest.removeprefix(link) for link in links[form] if rest.startswith(link)]


def _ending(terms: IndexTerms, forms: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the terms that end with a form, with the possible rests; the field includes titles."""
    for form, ending in product(forms, _ENDINGS):
        end = f"{form}{ending}"
        for backwards, _ in terms.beginning_with(schema.REVERSED, end[::-1]):
            term = backwards[::-1]
            rest = term.removesuffix(end)
            others = [rest.removesuffix(link) for link in _LINKS if rest.endswith(link)]
            yield term, [*others, f"{rest}e"]


def _is_german(word: str) -> bool:
    """Check whether a folded word has only letters of German."""
    return word.isascii() and word.isalpha()
