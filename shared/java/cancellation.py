"""Stopping what Lucene does for a call, from any thread, before it is done.

Lucene looks at a timeout between documents (`IndexSearcher.setTimeout`), and with a reader that is
wrapped for it between terms (`ExitableDirectoryReader`), but never at the positions of phrases: a
condition of its own does that here (`guarded`).
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from shared.errors import McpLuceneError


class SearchStoppedError(McpLuceneError):
    """A call was stopped before it was done; whoever stopped it says why."""

    def __init__(self) -> None:
        super().__init__("the search was stopped before it was done; ask again, or ask for less")


class Cancellation:
    """Stops the searches of one call in two steps. Threads may share it.

    Attributes:
        allows_costly: whether queries may be run that can take long, such as those with patterns.
    """

    def __init__(self) -> None:
        self.allows_costly = True
        self._lock = threading.Lock()
        self._ending = False
        self._cancelled = False
        self._flags: _Flags | None = None

    @property
    def ending(self) -> bool:
        """Whether searches are to return what they have found."""
        return self._ending

    @property
    def cancelled(self) -> bool:
        """Whether all work is to be stopped."""
        return self._cancelled

    def end_searches(self) -> None:
        """Have the searches that run, and those that begin later, return what they have found."""
        self._set(cancelled=False)

    def cancel(self) -> None:
        """Stop everything: searches end, and whatever else is asked of the index raises an error.

        The error is a `SearchStoppedError`.
        """
        self._set(cancelled=True)

    def _set(self, *, cancelled: bool) -> None:
        with self._lock:
            self._ending = True
            self._cancelled |= cancelled
            if self._flags is not None:
                from shared.java import vm

                with vm.attached():
                    self._flags.set(cancelled=self._cancelled)

    @contextmanager
    def stops(self, searcher: Any) -> Iterator[None]:
        """Have a searcher of Lucene, and the functions of this module, look at this in a block."""
        with self._lock:
            if self._flags is None:
                self._flags = _Flags.unset()
                if self._ending:
                    self._flags.set(cancelled=self._cancelled)
        searcher.setTimeout(_timeout(self._flags.ending))
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def stoppable(self, searcher: Any) -> Any:
        """A searcher like another one, which can be stopped between terms and values as well.

        It must be used within `stops`, and does not remember which documents a query matches:
        those that were looked at until a guard stopped it are not all.
        """
        from java.util.concurrent import ForkJoinPool
        from org.apache.lucene.index import DirectoryReader, ExitableDirectoryReader
        from org.apache.lucene.search import IndexSearcher

        assert self._flags is not None  # noqa: S101 - see `stops`
        reader = DirectoryReader.cast_(searcher.getIndexReader())
        exitable = ExitableDirectoryReader.wrap(reader, _timeout(self._flags.cancelled))
        stoppable = IndexSearcher(exitable, ForkJoinPool.commonPool())
        stoppable.setSimilarity(searcher.getSimilarity())
        stoppable.setTimeout(searcher.getTimeout())
        stoppable.setQueryCache(None)
        return stoppable

    def guarded(self, query: Any, *, ends: bool) -> Any:
        """A query that matches like another one until it is stopped, and then nothing.

        Lucene asks before it looks at the positions of a document. It must be used within `stops`.

        Args:
            query: the other one.
            ends: whether it is stopped as soon as searches are to end.
        """
        from org.apache.lucene.queries.function import FunctionMatchQuery
        from org.apache.lucene.search import BooleanClause, BooleanQuery, DoubleValuesSource

        assert self._flags is not None  # noqa: S101 - see `stops`
        flag = self._flags.searching if ends else self._flags.going
        number = DoubleValuesSource.constant(1.0)
        guard = FunctionMatchQuery(number, _predicate(flag), _GUARD_COST)
        builder = BooleanQuery.Builder()
        builder.add(query, BooleanClause.Occur.MUST)
        builder.add(guard, BooleanClause.Occur.FILTER)
        return builder.build()


_GUARD_COST: Final = 1.0
"""What Lucene takes the guard to cost, in operations: of several conditions on a document the one
that costs least comes first, and the positions of a phrase cost hundreds."""


@dataclass(frozen=True)
class _Flags:
    """What Java looks at (``AtomicBoolean``): it cannot call Python."""

    ending: Any
    cancelled: Any
    searching: Any
    going: Any

    @classmethod
    def unset(cls) -> "_Flags":
        from java.util.concurrent.atomic import AtomicBoolean

        ending, cancelled = AtomicBoolean(False), AtomicBoolean(False)
        return cls(ending, cancelled, AtomicBoolean(True), AtomicBoolean(True))

    def set(self, *, cancelled: bool) -> None:
        self.ending.set(True)
        self.searching.set(False)
        self.cancelled.set(cancelled)
        self.going.set(not cancelled)


_current: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)


def check() -> None:
    """Stop the work of a call that was cancelled: for loops whose steps take milliseconds.

    Raises:
        SearchStoppedError: it was.
    """
    current = _current.get()
    if current is not None and current.cancelled:
        raise SearchStoppedError


def is_ending() -> bool:
    """Whether the searches of this call only have what they found until they were ended."""
    current = _current.get()
    return current is not None and current.ending


def allows_costly() -> bool:
    """Whether this call may run queries that can take long."""
    current = _current.get()
    return current is None or current.allows_costly


def stoppable(searcher: Any) -> Any:
    """A searcher that can be stopped wherever Lucene may take long, if the call can be stopped.

    It takes a few per cent longer.
    """
    current = _current.get()
    return searcher if current is None else current.stoppable(searcher)


def guarded(query: Any) -> Any:
    """A query that ends with the searches, at any document, if the call can be stopped."""
    current = _current.get()
    return query if current is None else current.guarded(query, ends=True)


def guarded_until_cancelled(query: Any) -> Any:
    """A query that is stopped with all other work, at any document, if the call can be stopped."""
    current = _current.get()
    return query if current is None else current.guarded(query, ends=False)


def _timeout(flag: Any) -> Any:
    """The timeout (``QueryTimeout``) that is over when a flag is set."""
    from java.lang.invoke import MethodHandleProxies
    from org.apache.lucene.index import QueryTimeout

    read = _read_flag().bindTo(flag)
    return QueryTimeout.cast_(MethodHandleProxies.asInterfaceInstance(QueryTimeout.class_, read))


def _predicate(flag: Any) -> Any:
    """The condition on a number (``DoublePredicate``) that every number meets while a flag is set.

    The number is dropped, as the method of the interface must take one.
    """
    from java.lang import Double
    from java.lang.invoke import MethodHandleProxies, MethodHandles
    from java.util import Collections
    from java.util.function import DoublePredicate

    read = _read_flag().bindTo(flag)
    ignoring = MethodHandles.dropArguments(read, 0, Collections.singletonList(Double.TYPE))
    return DoublePredicate.cast_(
        MethodHandleProxies.asInterfaceInstance(DoublePredicate.class_, ignoring)
    )


@cache
def _read_flag() -> Any:
    """The method of a Java flag that stands for the one of an interface."""
    from java.lang import Boolean
    from java.lang.invoke import MethodHandles, MethodType
    from java.util.concurrent.atomic import AtomicBoolean

    returns_boolean = MethodType.methodType(Boolean.TYPE)
    return MethodHandles.publicLookup().findVirtual(AtomicBoolean.class_, "get", returns_boolean)
