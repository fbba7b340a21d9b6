"""The folder of an index: its path, and what may be in it before an index is."""

import re
import stat
from pathlib import Path
from typing import Final

from shared.errors import IndexDamagedError, IndexMissingError, IndexPathError
from shared.index_format import NO_COMMIT, has_segments

_OWNER_ONLY: Final = 0o700
_COMMIT_FILE: Final = re.compile(r"segments_[0-9a-z]+|segments\.gen")


def absolute(path: Path | str) -> Path:
    """The absolute path of an index folder.

    Raises:
        IndexPathError: its name is not valid Unicode, so Java cannot spell it.
    """
    folder = Path(path).absolute()
    try:
        str(folder).encode()
    except UnicodeEncodeError as error:
        shown = Path(str(folder).encode(errors="backslashreplace").decode())
        raise IndexPathError(shown, "its name is not valid Unicode") from error
    return folder


def prepare(path: Path) -> None:
    """Make a folder fit to create an index in, readable by its owner only.

    A folder that holds an index already is left as it is.

    Raises:
        IndexPathError: the path is a file, a folder that holds something else, or one that
            cannot be written.
        IndexDamagedError: there are parts of an index.
    """
    try:
        path.mkdir(mode=_OWNER_ONLY, parents=True, exist_ok=True)
        names = [entry.name for entry in path.iterdir() if not entry.name.startswith(".")]
        if any(_COMMIT_FILE.fullmatch(name) for name in names):
            return
        if has_segments(path):
            raise IndexDamagedError(path, NO_COMMIT)
        others = set(names) - {"write.lock"}
        if others:
            raise IndexPathError(path, f"it holds other files, such as {min(others)!r}")
        path.chmod(_OWNER_ONLY)
    except FileExistsError as error:
        raise IndexPathError(path, "it is a file, not a folder") from error
    except OSError as error:
        raise IndexPathError(path, error.strerror or str(error)) from error


def identify(path: Path) -> tuple[int, int]:
    """Device and inode of an index folder: they change when another folder takes the path.

    Raises:
        IndexMissingError: there is nothing at the path.
        IndexPathError: it is a file, or cannot be looked at.
    """
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise IndexMissingError(path) from error
    except OSError as error:
        raise IndexPathError(path, error.strerror or str(error)) from error
    if not stat.S_ISDIR(status.st_mode):
        raise IndexPathError(path, "it is a file, not a folder")
    return status.st_dev, status.st_ino
