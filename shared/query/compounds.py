"""Compounds: a word that no chunk has is replaced by compounds with it.

If no chunk has a form of "Vertrag", it finds "Mietvertrag" and "Vertragsstrafe". The German
dictionary must have the word, which may be misspelled otherwise, and the rest of the compound:
"Tante" does not find "Konstante". The dictionary has few compounds, so a long word may be missing
there, in any language that has compounds: "Wasserzähler" finds "Wasserzählerstand". A word that
some chunk has is left unchanged, so this step does not change the hits of a query whose words all
exist.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, product
from typing import Final

from shared.analysis.analyzers import lemmas, lemmas_of
from shared.model import schema
from shared.query.index_terms import IndexTerms

GERMAN: Final = "de"

_FEWEST_LETTERS: Final = 4
"""Minimum number of letters; shorter words occur in too many others by chance."""

_FEWEST_OF_A_LONG_WORD: Final = 8
"""Minimum number of letters of a word that hardly occurs in others by chance."""

WITH_COMPOUNDS: Final = frozenset(("da", "de", "fi", "hu", "nl", "no", "sv"))
"""Languages that write compounds as one word."""

_FEWEST_BESIDES: Final = 3
"""Minimum number of letters in the rest of a compound, without those that link its parts."""

_LINKS: Final[tuple[str, ...]] = ("", "s", "es", "n", "en", "er", "e")
"""Links between the parts of a compound: Vertragsstrafe, Blumentopf, Kinderwagen, Hundefutter."""

_ENDINGS: Final = ("", "e", "en", "n", "s", "es", "er", "ern")
"""Endings of a noun in the plural and in other cases; umlauts are folded."""

_MOST_TERMS: Final = 500
"""Maximum number of terms that are examined for a word, both for those that begin and for those
that end with it."""


def compounds_of(terms: IndexTerms, word: str) -> tuple[str, ...]:
    """Return the words of content and titles that begin or end with a German word.

    Args:
        terms: the terms of the index.
        word: a folded word.

    Returns:
        At most 1,000 terms; empty for a short word that is not in the dictionary.
    """
    if len(word) < _FEWEST_LETTERS or not _is_german(word):
        return ()
    if not lemmas(GERMAN, word):
        if len(word) < _FEWEST_OF_A_LONG_WORD:
            # Probably a name, or misspelled.
            return ()
        either = (islice(_beginning(terms, [word]), _MOST_TERMS), _ending_with(terms, word))
        return tuple(dict.fromkeys(term for term, _ in chain(*either)))
    forms = [
        form
        for form in dict.fromkeys((word, *lemmas(GERMAN, word)))
        if len(form) >= _FEWEST_LETTERS
    ]
    begun = _merged(_beginning(terms, forms))
    ended = _merged(_ending(terms, forms))
    known = lemmas_of(GERMAN, chain(ended, *begun.values(), *ended.values()))
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
        for term, rest in _ending_with(terms, end):
            others = [rest.removesuffix(link) for link in _LINKS if rest.endswith(link)]
            yield term, [*others, f"{rest}e"]


def _ending_with(terms: IndexTerms, end: str) -> Iterator[tuple[str, str]]:
    """Yield the terms with an end, each with the rest."""
    for backwards, _ in islice(terms.beginning_with(schema.REVERSED, end[::-1]), _MOST_TERMS):
        term = backwards[::-1]
        yield term, term.removesuffix(end)


def _is_german(word: str) -> bool:
    """Check whether a folded word has only letters of German."""
    return word.isascii() and word.isalpha()
