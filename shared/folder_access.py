"""What can be told of a path, whatever is wrong with what it lies on."""

import os
from pathlib import Path


def is_folder(path: Path | str) -> bool:
    """Whether there is a folder at a path, or a link to one, that can be looked at.

    `Path.is_dir` raises an error for a mount whose server is gone, and below a folder that this
    user may not search; this says no.
    """
    return os.path.isdir(path)  # noqa: PTH112 - see above


def is_missing(path: Path | str) -> bool:
    """Whether there is nothing at a path; not so where nobody can tell, as behind a dead mount."""
    try:
        os.stat(path)  # noqa: PTH116 - takes both kinds of paths
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def identity(path: Path | str) -> tuple[int, int] | None:
    """What tells a folder from any other one, its device and number; None if it is out of reach."""
    try:
        status = os.stat(path)  # noqa: PTH116 - takes both kinds of paths
    except OSError:
        return None
    return status.st_dev, status.st_ino
