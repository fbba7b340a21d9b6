"""Dictionaries of languages: the lemmas of words, and words whose forms have several stems."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import count
from typing import Final

from org.apache.lucene.analysis import Analyzer

from shared.analysis.analyzers import REMEMBERED, positions_of
from shared.analysis.chains import RESOURCES, Chain, built
from shared.analysis.languages import WITH_DICTIONARY, Step

_KNOWN: Final = " "
"""Suffix of the lemmas in the dictionaries, by which words that they lack are told apart."""


@lru_cache(maxsize=REMEMBERED)
def lemmas(language: str, word: str) -> tuple[str, ...]:
    """Return the lemmas of a folded word in the dictionary of a language; empty if it lacks it."""
    return tuple(lemmas_of(language, (word,)).get(word, ()))


_FEW_LOOKUPS: Final = 40
"""Number of lookups in the text of a list that take as long as to take it apart. A command has
fewer, a server many more."""

_lookups: Final = defaultdict[str, Iterator[int]](count)


@lru_cache(maxsize=REMEMBERED)
def irregular_stems(language: str, stem: str) -> Sequence[str]:
    """Return the other stems of a word whose forms have several: pay and paid, ging and gehen."""
    is_lasting = next(_lookups[language]) >= _FEW_LOOKUPS
    found = _rows_by_stem(language).get(stem, "") if is_lasting else _rows_with(language, stem)
    return tuple(other for other in dict.fromkeys(found.split()) if other != stem)


def _rows_with(language: str, stem: str) -> str:
    rows = _irregular_rows(language)
    found = ""
    place = rows.find(stem)
    while place >= 0:
        end = place + len(stem)
        if rows[place - 1].isspace() and rows[end].isspace():
            found += rows[rows.rindex("\n", 0, place) : rows.index("\n", end)]
        place = rows.find(stem, end)
    return found


@cache
def _rows_by_stem(language: str) -> dict[str, str]:
    rows: dict[str, str] = {}
    for row in _irregular_rows(language).splitlines():
        for stem in row.split():
            rows[stem] = f"{rows[stem]} {row}" if stem in rows else row
    return rows


@cache
def _irregular_rows(language: str) -> str:
    files = (RESOURCES / "lemmas").glob(f"{language}.*.txt")
    return "\n".join(("", *(file.read_text("utf-8") for file in sorted(files))))


def lemmas_of(language: str, words: Iterable[str]) -> dict[str, list[str]]:
    """Return the lemmas of those of some folded words that the dictionary of a language has."""
    asked = list(dict.fromkeys(words))
    found: dict[str, list[str]] = {}
    for position, term in positions_of(_dictionary(language), " ".join(asked)):
        if term.endswith(_KNOWN):
            found.setdefault(asked[position], []).append(term.removesuffix(_KNOWN))
    return found


@cache
def _dictionary(language: str) -> Analyzer:
    assert language in WITH_DICTIONARY  # noqa: S101 - there is no file for others
    lookup = Step("morfologik", {"dictionary": f"lemmas/{language}.dict"})
    return built(Chain((lookup,), Step("whitespace"), ()))
