"""Values that were used recently, bounded in number."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")


class RecentValues(Generic[Value]):
    """Values by their keys, for any number of threads; the least recently used ones are dropped.

    Args:
        maximum: the maximum number of values.
    """

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of a key, which is made if there is none.

        Args:
            key: the key.
            make: makes the value; if two threads need it at the same time, each makes it.
        """
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make()
        with self._lock:
            self._values[key] = value
            if len(self._values) > self._maximum:
                self._values.popitem(last=False)
        return value
