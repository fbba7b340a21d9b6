"""Stopping what Lucene does for a call, from any thread, before it is done."""

import threading
from functools import cache
from typing import Any


class Cancellation:
    """Tells Lucene's searches that nobody waits for them any more. Threads may share it.

    A search that is stopped returns the best of what it has looked at until then.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancelled = False
        self._flags: list[Any] = []

    @property
    def cancelled(self) -> bool:
        """Whether the work is to be stopped."""
        return self._cancelled

    def cancel(self) -> None:
        """Stop the searches that run, and those that begin later, as soon as they notice."""
        with self._lock:
            self._cancelled = True
            if self._flags:
                from shared import jvm

                with jvm.attached():
                    for flag in self._flags:
                        flag.set(True)

    def stops(self, searcher: Any) -> None:
        """Have a searcher of Lucene (``IndexSearcher``) look at this while it searches.

        Lucene asks after each few thousand chunks (``TimeLimitingBulkScorer``).
        """
        from java.lang.invoke import MethodHandleProxies
        from java.util.concurrent.atomic import AtomicBoolean
        from org.apache.lucene.index import QueryTimeout

        with self._lock:
            flag = AtomicBoolean(self._cancelled)
            self._flags.append(flag)
        read = _read_flag().bindTo(flag)
        timeout = MethodHandleProxies.asInterfaceInstance(QueryTimeout.class_, read)
        searcher.setTimeout(QueryTimeout.cast_(timeout))


@cache
def _read_flag() -> Any:
    """The method of a Java flag that stands for the one of the interface.

    Lucene asks an object of Java, and Java cannot call Python.
    """
    from java.lang import Boolean
    from java.lang.invoke import MethodHandles, MethodType
    from java.util.concurrent.atomic import AtomicBoolean

    returns_boolean = MethodType.methodType(Boolean.TYPE)
    return MethodHandles.publicLookup().findVirtual(AtomicBoolean.class_, "get", returns_boolean)
