"""Run a program so that file permissions hold for it, also where the tests run as root."""

import os
import sys
from typing import Final

UNPRIVILEGED: Final[tuple[str, ...]] = (
    ("setpriv", "--inh-caps=-all", "--bounding-set=-all")
    if sys.platform != "win32" and os.geteuid() == 0
    else ()
)
"""What to put before a command."""
