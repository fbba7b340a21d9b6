"""Long calls of Lucene that an interruption breaks off at once."""

import threading
from collections.abc import Callable, Iterator
from typing import Final

from shared.java import vm

_SECONDS_BETWEEN_LOOKS: Final = 0.1


def in_background(work: Callable[[], None], cancel: Callable[[], None]) -> Iterator[None]:
    """Do something in a thread of its own while this one can hear an interruption.

    A call of Java does not return for a signal, and Python hears of one only when it has returned.

    Args:
        work: what is done; it may call Java.
        cancel: what has the work end soon, with an exception.

    Yields:
        Some times a second, until the work is done.

    Raises:
        BaseException: what the work raised, such as a `JavaError`.
    """
    failures: list[BaseException] = []

    def run() -> None:
        try:
            with vm.attached():
                work()
        except BaseException as error:  # noqa: BLE001 - the caller gets it
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        while thread.is_alive():
            yield
            thread.join(_SECONDS_BETWEEN_LOOKS)
    finally:
        if thread.is_alive():
            cancel()
            thread.join()
    if failures:
        raise failures[0]
