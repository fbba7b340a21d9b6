"""Completion values from the index: document ids, chunk ids, field names and languages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, TypeAlias

from shared.model.index_results import Names

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher

MAX_VALUES: Final = 100
"""Maximum number of values in a completion, as the protocol requires."""

Completer: TypeAlias = Callable[["Searcher", str], Names]
"""A function that takes a searcher and the typed prefix, and returns the matching values."""


def document_ids(searcher: Searcher, typed: str) -> Names:
    """Return the document ids that begin with the typed prefix."""
    return searcher.catalog.document_ids(typed, MAX_VALUES)


def chunk_ids(searcher: Searcher, typed: str) -> Names:
    """Return the chunk ids that begin with the typed prefix."""
    return searcher.catalog.chunk_ids(typed, MAX_VALUES)


def field_names(searcher: Searcher, typed: str) -> Names:
    """Return the names of fields with terms that begin with the typed prefix, ignoring case."""
    return _matching(searcher.catalog.field_names(), typed)


def languages(searcher: Searcher, typed: str) -> Names:
    """Return the language codes that begin with the typed prefix, the most frequent first."""
    return _matching(known_languages(searcher), typed)


def known_languages(searcher: Searcher) -> list[str]:
    """Return the codes of the documents' languages, the most frequent first."""
    return [*searcher.statistics().languages]


def _matching(names: Iterable[str], typed: str) -> Names:
    found = [name for name in names if name.casefold().startswith(typed.casefold())]
    return Names(len(found), found[:MAX_VALUES])
