"""The values that begin with what somebody typed: ids, names of fields, languages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, TypeAlias

from shared.model.index_results import Names

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher

MAX_VALUES: Final = 100
"""Values that are told at once: the protocol allows no more."""

Completer: TypeAlias = Callable[["Searcher", str], Names]
"""Takes a searcher and what was typed."""


def document_ids(searcher: Searcher, typed: str) -> Names:
    """The ids of documents that begin so."""
    return searcher.catalog.document_ids(typed, MAX_VALUES)


def chunk_ids(searcher: Searcher, typed: str) -> Names:
    """The ids of chunks that begin so."""
    return searcher.catalog.chunk_ids(typed, MAX_VALUES)


def field_names(searcher: Searcher, typed: str) -> Names:
    """The names of fields with terms that begin so, in capitals or not."""
    return _matching(searcher.catalog.field_names(), typed)


def languages(searcher: Searcher, typed: str) -> Names:
    """The codes of languages that begin so, those of most documents first."""
    return _matching(known_languages(searcher), typed)


def known_languages(searcher: Searcher) -> list[str]:
    """The codes of the languages that documents are in, that of most documents first."""
    return [*searcher.statistics().languages]


def _matching(names: Iterable[str], typed: str) -> Names:
    found = [name for name in names if name.casefold().startswith(typed.casefold())]
    return Names(len(found), found[:MAX_VALUES])
