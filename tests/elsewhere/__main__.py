"""Run tests elsewhere: ``python -m tests.elsewhere windows|arm [ARGUMENTS of its python]``."""

import subprocess
import sys
from types import ModuleType
from typing import Final

from tests.elsewhere import arm, windows
from tests.installed import EVERYWHERE
from tests.systems import WINE_WARNING

_PYTEST: Final = (
    # The tests expect UTF-8 in files and pipes, as on Linux; the programs do not inherit it.
    *("-X", "utf8"),
    *("-B", "-m", "pytest", "-q", "-n", "0", "--dist", "no", "-p", "no:cacheprovider"),
    # It would report what Java catches by itself.
    *("-p", "no:faulthandler"),
)

_SOME: Final = (
    *(f"tests/shared/{folder}" for folder in ("analysis", "chunking", "query", "writing")),
    *("tests/idx/test_commands.py", "tests/server/test_tools.py"),
)
"""Tests that can be waited for where a program is ten to twenty times slower than by itself."""

_SYSTEMS: Final[dict[str, tuple[ModuleType, tuple[str, ...]]]] = {
    "windows": (
        windows,
        (
            # The client of the tests leaves pipes behind, which only Windows' event loop warns of.
            *("-W", "ignore::pytest.PytestUnraisableExceptionWarning"),
            *("--timeout", "1200", *EVERYWHERE),
        ),
    ),
    "arm": (arm, ("--timeout", "3000", *_SOME)),
}


def main(name: str, *arguments: str) -> None:
    """Make the environment of a system, and run its Python; without arguments pytest."""
    system, tests = _SYSTEMS[name]
    system.ensure()
    try:
        for line in system.run(*(arguments or (*_PYTEST, *tests))):
            if not line.startswith(WINE_WARNING):
                print(line, flush=True)
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)


main(*sys.argv[1:])
