"""The end of a server over HTTP together with the program that started it."""

import os
import signal
import threading
from typing import Final

_READ_BYTES: Final = 65_536

_STDIN: Final = 0


def end_with_stdin() -> None:
    """Stop this process in order, as Ctrl-C does, once its stdin ends.

    The other end of a pipe closes however the program that holds it ends, on each system.
    """
    threading.Thread(target=_wait, name="stdin", daemon=True).start()


def _wait() -> None:
    try:
        while os.read(_STDIN, _READ_BYTES):
            pass
    except OSError:
        # It was closed from the beginning, which is an end, too.
        pass
    signal.raise_signal(signal.SIGINT)
