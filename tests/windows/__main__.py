"""Run tests under Wine: ``python -m tests.windows [ARGUMENTS of Windows' python]``."""

import subprocess
import sys
from typing import Final

from tests.installed import EVERYWHERE
from tests.systems import WINE_WARNING
from tests.windows import environment

_PYTEST: Final = (
    *("-B", "-m", "pytest", "-q", "-n", "0", "--dist", "no", "-p", "no:cacheprovider"),
    # It would report what Java catches by itself.
    *("-p", "no:faulthandler"),
    # The client of the tests leaves pipes behind, which only Windows' event loop warns about.
    *("-W", "ignore::pytest.PytestUnraisableExceptionWarning"),
)


def main(*arguments: str) -> None:
    """Make the environment, and run its Python; without arguments pytest.

    Raises:
        SystemExit: it failed, or the environment cannot be made.
    """
    environment.ensure()
    try:
        for line in environment.run(*(arguments or (*_PYTEST, *EVERYWHERE))):
            if not line.startswith(WINE_WARNING):
                print(line, flush=True)
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)


main(*sys.argv[1:])
