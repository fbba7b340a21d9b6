"""Parts of an index, by the collections that they consist of."""

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

from shared.model.filters import Limits, Names
from shared.query.filters import within
from shared.query.lucene import Compiler, terms_of
from shared.reading.opening.limited_index import LimitedIndex
from shared.reading.opening.open_index import OpenIndex
from shared.storage.commits import indexed_folders

_MAX_OPEN: Final = 16
"""Maximum number of parts that stay open; the one that was used least recently is closed."""


class OpenParts:
    """Parts of an index that are open; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: OrderedDict[Names, LimitedIndex] = OrderedDict()
        self._closed: list[LimitedIndex] = []

    def get(self, names: Names, opened: LimitedIndex) -> LimitedIndex:
        """Return the open part of some limits, which is the given one if there is none."""
        with self._lock:
            found = self._open.setdefault(names, opened)
            self._open.move_to_end(names)
            least = self._open.popitem(last=False)[1] if len(self._open) > _MAX_OPEN else None
            self._closed = [part for part in self._closed if not part.delete_links()]
            if least is not None:
                self._closed.append(least)
        if least is not None:
            # Calls that still read it keep it open until they end.
            least.close()
        return found

    def close(self) -> None:
        """Close all parts."""
        with self._lock:
            parts = [*self._open.values(), *self._closed]
            self._open.clear()
            self._closed.clear()
        for part in parts:
            part.close()
        # Those that were closed first had links to files that others had open.
        for part in parts:
            part.delete_links()


@dataclass(frozen=True)
class Parts:
    """An index, or a part of it.

    Attributes:
        whole: the whole index.
        limits: the limits of the part.
        open: the parts of the index that are open.
    """

    whole: OpenIndex
    limits: Limits
    open: OpenParts = field(default_factory=OpenParts)

    @property
    def index(self) -> OpenIndex | LimitedIndex:
        """The part itself, as an index of its own."""
        if not self.limits.names:
            return self.whole
        part = LimitedIndex(self.whole, self._query, self.limits.name)
        return self.open.get(self.limits.names, part)

    def within(self, names: Iterable[str]) -> Self:
        """Return the part that is also in any of some collections; see `Limits.within`."""
        return replace(self, limits=self.limits.within(names))

    def _query(self, reader: Any) -> Any:
        """Return the query for the chunks of the part in a commit of the whole index."""
        terms, folders = terms_of(reader), indexed_folders(reader, self.whole.path)
        return Compiler(scores=False).query(within(self.limits, terms, folders))
