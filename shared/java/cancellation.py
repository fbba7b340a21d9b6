"""Cancellation of Lucene's work for a call, from any thread.

Lucene checks a timeout between documents (`IndexSearcher.setTimeout`), and with a wrapped reader
between terms (`ExitableDirectoryReader`), but never while it compares positions of phrases; an
extra condition does that here (`guarded`).
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, Final

from shared.errors import McpLuceneError


class SearchStoppedError(McpLuceneError):
    """A call was stopped early; the code that stopped it reports why."""

    def __init__(self) -> None:
        super().__init__("the search was stopped before it was done; ask again, or ask for less")


class Cancellation:
    """Cancellation of the searches of one call in two steps; threads may share it."""

    def __init__(self, seconds: float | None = None) -> None:
        self.allows_costly = True
        self._end = None if seconds is None else time.monotonic() + seconds
        self.ending = False  # whether searches should return what they have found
        self.cancelled = False  # whether all work should stop
        self._lock = threading.Lock()
        self.flags: _Flags | None = None

    @property
    def left(self) -> float | None:
        """Time until searches should return what they have found, in seconds; None if unknown."""
        return None if self._end is None else self._end - time.monotonic()

    def end_searches(self) -> None:
        """Make present and future searches return what they have found so far."""
        self._set(cancelled=False)

    def cancel(self) -> None:
        """Stop all work: searches end, and other calls raise a `SearchStoppedError`."""
        self._set(cancelled=True)

    def _set(self, *, cancelled: bool) -> None:
        with self._lock:
            self.ending = True
            self.cancelled |= cancelled
            if self.flags is not None:
                from shared.java import vm

                with vm.attached():
                    self.flags.set(cancelled=self.cancelled)

    @contextmanager
    def stops(self, searcher: Any) -> Iterator[None]:
        """Apply this cancellation to a searcher and the functions of this module in a block."""
        with self._lock:
            if self.flags is None:
                self.flags = _Flags()
                if self.ending:
                    self.flags.set(cancelled=self.cancelled)
        searcher.setTimeout(_timeout(self.flags.ending))
        with self.applies():
            yield

    @contextmanager
    def applies(self) -> Iterator[None]:
        """Apply this cancellation to the functions of this module in a block."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)


_GUARD_COST: Final = 1.0
"""Cost of the guard for Lucene, in operations: of several conditions on a document Lucene checks
the cheapest first, and the positions of a phrase cost hundreds."""


class _Flags:
    """Flags for Java, which cannot call Python."""

    def __init__(self) -> None:
        from java.util.concurrent.atomic import AtomicBoolean

        self.ending = AtomicBoolean(False)
        self.cancelled = AtomicBoolean(False)

    def set(self, *, cancelled: bool) -> None:
        self.ending.set(True)
        self.cancelled.set(cancelled)


_current: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)


def check() -> None:
    """Raise an error if the call was cancelled, for loops whose steps take milliseconds."""
    current = _current.get()
    if current is not None and current.cancelled:
        raise SearchStoppedError


def seconds_left() -> float | None:
    """Return the time until the call's searches should end, in seconds; None if unknown."""
    current = _current.get()
    return current.left if current is not None else None


def is_ending() -> bool:
    """Check whether the searches of this call were ended, so that their results are partial."""
    current = _current.get()
    return current is not None and current.ending


def allows_costly() -> bool:
    """Check whether this call may run queries that can take long."""
    current = _current.get()
    return current is None or current.allows_costly


def _flags() -> _Flags | None:
    """Return the flags of this call; None if it cannot be stopped."""
    current = _current.get()
    return None if current is None else current.flags


def stoppable(searcher: Any) -> Any:
    """Return a searcher that can also be stopped between terms and values, if the call can be.

    It is a few per cent slower. It does not cache the matches of queries, since those found before
    a guard stopped a query are incomplete.
    """
    flags = _flags()
    if flags is None:
        return searcher
    from java.util.concurrent import ForkJoinPool
    from org.apache.lucene.index import DirectoryReader, ExitableDirectoryReader
    from org.apache.lucene.search import IndexSearcher

    reader = DirectoryReader.cast_(searcher.getIndexReader())
    exitable = ExitableDirectoryReader.wrap(reader, _timeout(flags.cancelled))
    stoppable = IndexSearcher(exitable, ForkJoinPool.commonPool())
    stoppable.setSimilarity(searcher.getSimilarity())
    stoppable.setTimeout(searcher.getTimeout())
    stoppable.setQueryCache(None)
    return stoppable


def guarded(query: Any, *, ends: bool = True) -> Any:
    """Return a query that matches like another one until it is stopped, and then nothing.

    It ends with the searches, or only with all work. Lucene checks the guard before it compares the
    positions of a document.
    """
    flags = _flags()
    if flags is None:
        return query
    from org.apache.lucene.queries.function import FunctionMatchQuery
    from org.apache.lucene.search import BooleanClause, BooleanQuery, DoubleValuesSource

    is_going_on = _predicate(flags.ending if ends else flags.cancelled)
    guard = FunctionMatchQuery(DoubleValuesSource.constant(1.0), is_going_on, _GUARD_COST)
    builder = BooleanQuery.Builder()
    builder.add(query, BooleanClause.Occur.MUST)
    builder.add(guard, BooleanClause.Occur.FILTER)
    return builder.build()


def _timeout(flag: Any) -> Any:
    """Return a timeout (``QueryTimeout``) that is exceeded when a flag is set."""
    from java.lang.invoke import MethodHandleProxies
    from org.apache.lucene.index import QueryTimeout

    read = _read_flag().bindTo(flag)
    return QueryTimeout.cast_(MethodHandleProxies.asInterfaceInstance(QueryTimeout.class_, read))


def _predicate(flag: Any) -> Any:
    """Return a condition on a number (``DoublePredicate``) that is true until a flag is set.

    The number is ignored; the method of the interface must take one.
    """
    from java.lang import Double
    from java.lang.invoke import MethodHandleProxies, MethodHandles
    from java.util import Collections
    from java.util.function import DoublePredicate

    read = _read_flag().bindTo(flag)
    ignoring = MethodHandles.dropArguments(read, 0, Collections.singletonList(Double.TYPE))
    is_set = MethodHandleProxies.asInterfaceInstance(DoublePredicate.class_, ignoring)
    return DoublePredicate.cast_(is_set).negate()


@cache
def _read_flag() -> Any:
    """Return the getter of a Java flag, to implement the method of an interface."""
    from java.lang import Boolean
    from java.lang.invoke import MethodHandles, MethodType
    from java.util.concurrent.atomic import AtomicBoolean

    returns_boolean = MethodType.methodType(Boolean.TYPE)
    return MethodHandles.publicLookup().findVirtual(AtomicBoolean.class_, "get", returns_boolean)
