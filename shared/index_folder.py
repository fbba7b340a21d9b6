"""The folder of an index: its path, and what may be in it before an index is."""

import re
import shlex
import stat
from pathlib import Path
from typing import Final

from shared.errors import IndexDamagedError, IndexMissingError, IndexPathError
from shared.index_format import NO_COMMIT, has_segments

_OWNER_ONLY: Final = 0o700
_COMMIT_FILE: Final = re.compile(r"segments_[0-9a-z]+|segments\.gen")

_FIRST_FILE: Final = re.compile(r"write\.lock|pending_segments_[0-9a-z]+")
"""What lies in the folder while another program creates the index."""


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


def holds_index(path: Path) -> bool:
    """Whether a folder holds an index, or the last commit of one that is damaged.

    False where there is no folder, or nobody can tell.
    """
    try:
        return any(_COMMIT_FILE.fullmatch(entry.name) for entry in path.iterdir())
    except (OSError, ValueError):
        # A name that no file system can have is a ValueError.
        return False


def check(path: Path) -> None:
    """Make sure that a path holds an index, or that one can be created there.

    Raises:
        IndexPathError: the path is a file, a folder that holds something else, or one that
            cannot be read; or its parent does not exist.
        IndexDamagedError: there are parts of an index.
    """
    try:
        names = [entry.name for entry in path.iterdir() if not entry.name.startswith(".")]
    except FileNotFoundError as error:
        _check_parent(path, error)
        return
    except NotADirectoryError as error:
        raise IndexPathError(path, _not_a_folder(path)) from error
    except OSError as error:
        raise IndexPathError(path, error.strerror or str(error)) from error
    if any(_COMMIT_FILE.fullmatch(name) for name in names):
        return
    if has_segments(path):
        raise IndexDamagedError(path, NO_COMMIT)
    others = [name for name in names if not _FIRST_FILE.fullmatch(name)]
    if others:
        raise IndexPathError(path, f"it holds other files, such as {min(others)!r}")


def prepare(path: Path, *, parents: bool = False) -> bool:
    """Make a folder fit to create an index in, readable by its owner only.

    A folder that holds an index already is left as it is.

    Args:
        path: the folder.
        parents: whether its parents are created, too, where they are missing.

    Returns:
        Whether the folder was created.

    Raises:
        IndexPathError: the path is a file, a folder that holds something else, or one that
            cannot be written; or its parent does not exist.
        IndexDamagedError: there are parts of an index.
    """
    try:
        is_new = _make(path, parents=parents)
        check(path)
        if not holds_index(path):
            path.chmod(_OWNER_ONLY)
    except OSError as error:
        raise IndexPathError(path, error.strerror or str(error)) from error
    return is_new


def _make(path: Path, *, parents: bool) -> bool:
    try:
        path.mkdir(mode=_OWNER_ONLY, parents=parents)
    except FileExistsError:
        return False
    except FileNotFoundError as error:
        _check_parent(path, error)
        raise
    except NotADirectoryError as error:
        raise IndexPathError(path, _not_a_folder(path)) from error
    return True


def _check_parent(path: Path, error: OSError) -> None:
    # A link that leads nowhere exists, but nothing can be created in its place.
    if path.is_symlink():
        raise IndexPathError(path, "it is a link to nothing") from error
    if not path.parent.exists():
        raise IndexPathError(
            path,
            f"the folder {path.parent} does not exist",
            f"create that folder first, with: mkdir -p {shlex.quote(str(path.parent))}",
        ) from error


def _not_a_folder(path: Path) -> str:
    """What is wrong with a path that is a file, or leads through one."""
    return "it is a file, not a folder" if path.exists() else f"{path.parent} is not a folder"


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
