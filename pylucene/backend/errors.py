"""What can stop a build, and how it is told."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


class BuildError(Exception):
    """A reason why nothing can be built, in one sentence that says what to do about it."""


@contextmanager
def one_sentence() -> Iterator[None]:
    """Turn an expected failure into a line on stderr and exit code 1.

    A traceback would bury the line, and tell the user of a missing compiler or of a full disk
    nothing more.

    Raises:
        SystemExit: a BuildError or an OSError was raised inside.
    """
    try:
        yield
    except (BuildError, OSError) as error:
        sys.exit(f"pylucene: error: {error}")
