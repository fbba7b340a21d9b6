"""Run a program so that file permissions hold for it, also where the tests run as root."""

import os
from typing import Final

UNPRIVILEGED: Final[tuple[str, ...]] = (
    ("setpriv", "--inh-caps=-all", "--bounding-set=-all") if os.geteuid() == 0 else ()
)
"""What to put before a command."""
