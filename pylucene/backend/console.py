"""What the user is told, what can stop a build, and running the programs that do it."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path


class BuildError(Exception):
    """A reason why nothing can be built, in one sentence that says what to do about it."""


@contextmanager
def one_sentence() -> Iterator[None]:
    """Turn an expected failure into a line on stderr and exit code 1.

    A traceback would bury the line, and tell the user of a missing compiler or of a full disk
    nothing more.
    """
    try:
        yield
    except (BuildError, OSError) as error:
        sys.exit(f"pylucene: error: {error}")


# Variables that programs run here do not inherit.
_DROPPED = (
    # A frontend isolates its build through PYTHONPATH and tells its hook runner about the
    # backend through variables; the pip of the build environment must see neither.
    "PYTHON",
    "PEP517_",
    "_PYPROJECT_HOOKS_",
    # They choose where pip installs, and in which form; both are the backend's own.
    "PIP_USER",
    "PIP_TARGET",
    "PIP_PREFIX",
    "PIP_ROOT",
    "PIP_DRY_RUN",
    "PIP_ONLY_BINARY",
    "PIP_NO_BINARY",
    # Where the compiler looks for headers and libraries is the backend's own: the name under which
    # a wheel is kept does not know what else the user's environment asks for.
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "C_INCLUDE_PATH",
    "LIBRARY_PATH",
    "ZIG_",
)


def say(message: str) -> None:
    """Show one line of progress; frontends show it with --verbose or when the build fails."""
    print(f"pylucene: {message}", file=sys.stderr, flush=True)


def run(
    command: Sequence[str | Path],
    failure: str,
    *,
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> None:
    """Run a program, its output going where the frontend's output goes."""
    inherited = {name: text for name, text in os.environ.items() if not name.startswith(_DROPPED)}
    # What programs print on stdout goes to stderr with the rest, in the order it was written.
    sys.stdout.flush()
    done = subprocess.run(
        command, check=False, cwd=cwd, env=inherited | dict(environ or {}), stdout=sys.stderr
    )
    if done.returncode:
        raise BuildError(failure)
