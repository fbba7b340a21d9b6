"""`idx` as a process that hears Ctrl-C, which the shell of a test run may have it ignore."""

import sys
from typing import Final

_PROGRAM: Final = """
import signal
from idx.__main__ import main
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""

INTERRUPTIBLE: Final = (sys.executable, "-c", _PROGRAM)
"""The beginning of a command line."""
