"""Parts of an index, by the collections that they consist of."""

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

from shared.model.filters import Collections, only
from shared.query.compiler import Compiler
from shared.query.lucene_terms import terms_of
from shared.query.steps.filters.conditions import in_collections
from shared.query.tree import Node, all_of
from shared.reading.opening.limited_index import LimitedIndex
from shared.reading.opening.open_index import OpenIndex
from shared.storage.commits import indexed_folders

_MAX_OPEN: Final = 16
"""Maximum number of parts that stay open; the one that was used least recently is closed."""

Limits = tuple[frozenset[str], ...]
"""Names of collections: the part consists of what is in any collection of each set."""


class OpenParts:
    """Parts of an index that are open; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: OrderedDict[Limits, LimitedIndex] = OrderedDict()

    def get(self, limits: Limits, opened: LimitedIndex) -> LimitedIndex:
        """Return the open part of some limits, which is the given one if there is none."""
        with self._lock:
            found = self._open.setdefault(limits, opened)
            self._open.move_to_end(limits)
            least = self._open.popitem(last=False)[1] if len(self._open) > _MAX_OPEN else None
        if least is not None:
            # Calls that still read it keep it open until they end.
            least.close()
        return found

    def close(self) -> None:
        """Close all parts."""
        with self._lock:
            parts = list(self._open.values())
            self._open.clear()
        for part in parts:
            part.close()


@dataclass(frozen=True)
class Parts:
    """An index, or a part of it, and the collections to which it can be limited.

    Attributes:
        whole: the whole index.
        defined: all collections of the configuration.
        limits: the limits of the part; none for the whole index.
        open: the parts of the index that are open.
    """

    whole: OpenIndex
    defined: Collections
    limits: Limits = ()
    open: OpenParts = field(default_factory=OpenParts)

    @property
    def collections(self) -> Collections:
        """Collections that can be named in the part: those that it is limited to."""
        named = self.defined
        for names in self.limits:
            named = only(named, names)
        return named

    @property
    def index(self) -> OpenIndex | LimitedIndex:
        """The part itself, as an index of its own."""
        if not self.limits:
            return self.whole
        name = "&".join("|".join(sorted(names)) for names in self.limits)
        return self.open.get(self.limits, LimitedIndex(self.whole, self._query, name))

    def within(self, names: Iterable[str]) -> Self:
        """Return the part that is also in any of some collections.

        Args:
            names: the names of the collections; those that do not exist are empty.
        """
        wanted = frozenset(names)
        limits = tuple(sorted({*self.limits, wanted}, key=sorted))
        return replace(self, limits=limits)

    def _query(self, reader: Any) -> Any:
        """Return the query for the chunks of the part in a commit of the whole index."""
        terms, folders = terms_of(reader), indexed_folders(reader, self.whole.path)

        def tree(names: frozenset[str]) -> Node:
            return in_collections(only(self.defined, names).values(), terms, folders)

        return Compiler(scores=False).query(all_of(*map(tree, self.limits)))
