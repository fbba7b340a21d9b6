"""Long calls of Lucene that can be interrupted at once."""

import threading
from collections.abc import Callable, Iterator
from typing import Final

from shared.java import vm

_SECONDS_BETWEEN_LOOKS: Final = 0.1


def in_background(work: Callable[[], None], cancel: Callable[[], None]) -> Iterator[None]:
    """Run work in another thread, so that this one can receive an interruption.

    A Java call does not return for a signal, and Python handles the signal only after it has
    returned.

    Yields several times a second, until the work is done.
    """
    failures: list[BaseException] = []

    def run() -> None:
        try:
            with vm.attached():
                work()
        except BaseException as error:  # noqa: BLE001 - raised again below
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
