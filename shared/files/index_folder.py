"""The path of an index: a folder, its state and its replacement, or an index on a cluster."""

import os
import re
import stat
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Final

from shared import errors
from shared.files.lucene_files import NO_COMMIT, begins_as_lucene, has_segments, is_lucene_file
from shared.messages import reason_of
from shared.system import flush, move_folder
from shared.system.shell import quoted

_URL: Final = re.compile(r"(opensearchs?):[/\\]+(?=[^/\\])", re.ASCII)
"""Beginning of the path of an index on a cluster, ``opensearch://HOST:PORT/NAME``.

Path objects have one slash where the URL has two."""


class ClusterPath(type(Path())):  # type: ignore[misc] # the class depends on the system
    """Path of an index on a cluster, which is spelled as a URL and belongs to no folder."""

    # Not __init__, which the paths of Python 3.11 do without.
    def __new__(cls, *segments: Any) -> "ClusterPath":
        """Return the path of these segments, unless messages and files would show a password."""
        # Wherever it is: a password may contain a slash, and looks like a part of the name then.
        if any("@" in str(segment) for segment in segments):
            raise errors.IndexPathError(
                ClusterPath("opensearch://..."),
                "its address must not contain a user or password, nor any other @",
                "put them into IDX_OPENSEARCH_USER and IDX_OPENSEARCH_PASSWORD",
            )
        path: ClusterPath = super().__new__(cls, *segments)
        return path

    def __str__(self) -> str:
        return _URL.sub(r"\1://", super().__str__(), count=1).replace("\\", "/")

    def __fspath__(self) -> str:
        return str(self)

    def absolute(self) -> "ClusterPath":
        return self


def is_cluster(path: Path | str) -> bool:
    """Check whether the path of an index means a cluster."""
    return _URL.match(str(path)) is not None


def index_path(path: Path | str) -> Path:
    """Return the path of an index as it is meant: a `ClusterPath` for a URL."""
    return ClusterPath(path) if is_cluster(path) else Path(path)


_OWNER_ONLY_FOLDER: Final = 0o700

_COMMIT_FILE: Final = re.compile(r"segments_[0-9a-z]+|segments\.gen")

_FIRST_FILE: Final = re.compile(r"write\.lock|pending_segments_[0-9a-z]+")
"""Names of the files in the folder while another program creates the index."""


def absolute(path: Path | str) -> Path:
    """Return the absolute path of an index folder."""
    if is_cluster(path):
        path = ClusterPath(path)
        raise errors.IndexFolderError(
            path,
            f"the index {path} is on a cluster, and this works on the files of a folder only",
            "use the cluster's own means, such as snapshots to back up and restore",
        )
    folder = Path(path).absolute()
    try:
        str(folder).encode()
    except UnicodeEncodeError as error:
        shown = Path(str(folder).encode(errors="backslashreplace").decode())
        raise errors.IndexPathError(shown, "its name is not valid Unicode") from error
    return folder


def holds_index(path: Path) -> bool:
    """Check whether a folder contains an index, or the last commit of a damaged one.

    False if there is no folder, or the folder cannot be read.
    """
    try:
        return any(_COMMIT_FILE.fullmatch(entry.name) for entry in path.iterdir())
    except (OSError, ValueError):
        # A name that no file system can have raises a ValueError.
        return False


def check(path: Path) -> None:
    """Check that a path has an index, or that one can be created there."""
    try:
        names = [entry.name for entry in path.iterdir() if not entry.name.startswith(".")]
    except FileNotFoundError as error:
        _check_parent(path, error)
        return
    except NotADirectoryError as error:
        reason = "it is a file, not a folder" if path.exists() else f"{path.parent} is not a folder"
        raise errors.IndexPathError(path, reason) from error
    except OSError as error:
        raise errors.IndexPathError(path, reason_of(error)) from error
    if any(_COMMIT_FILE.fullmatch(name) for name in names):
        return
    if has_segments(path):
        raise errors.IndexDamagedError(path, NO_COMMIT)
    others = [name for name in names if not _FIRST_FILE.fullmatch(name)]
    if others and _are_of_lucene([path / name for name in others]):
        raise errors.IndexDamagedError(path, NO_COMMIT)
    if others:
        raise errors.IndexPathError(path, f"it holds other files, such as {min(others)!r}")


def _are_of_lucene(files: Sequence[Path]) -> bool:
    """Check whether files may be what a killed restore has copied, the last perhaps still empty."""
    if not all(is_lucene_file(file.name) and file.is_file() for file in files):
        return False
    try:
        written = [file for file in files if file.stat().st_size]
        return bool(written) and all(map(begins_as_lucene, written))
    except OSError:
        return False


def prepare(path: Path, *, parents: bool = False) -> bool:
    """Prepare a folder for a new index, readable by its owner only; return whether it was created.

    A folder that contains an index already is left unchanged.
    """
    is_new = False
    try:
        # Otherwise the check says why the folder cannot be made.
        with suppress(FileExistsError, FileNotFoundError, NotADirectoryError):
            path.mkdir(mode=_OWNER_ONLY_FOLDER, parents=parents)
            is_new = True
        check(path)
        if not holds_index(path):
            path.chmod(_OWNER_ONLY_FOLDER)
    except OSError as error:
        raise errors.IndexPathError(path, reason_of(error)) from error
    return is_new


def _check_parent(path: Path, error: OSError) -> None:
    # A dangling link exists, but nothing can be created in its place.
    if path.is_symlink():
        raise errors.IndexPathError(path, "it is a dangling link") from error
    if not path.parent.exists():
        # mkdir of Windows makes missing parents by itself.
        command = "mkdir" if sys.platform == "win32" else "mkdir -p"
        raise errors.IndexPathError(
            path,
            f"the folder {path.parent} does not exist",
            f"create that folder first, with: {command} {quoted(str(path.parent))}",
        ) from error


def identify(path: Path) -> tuple[int, int]:
    """Return device and inode of an index folder, which differ once another one takes its path."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise errors.IndexMissingError(path) from error
    except OSError as error:
        raise errors.IndexPathError(path, reason_of(error)) from error
    if not stat.S_ISDIR(status.st_mode):
        raise errors.IndexPathError(path, "it is a file, not a folder")
    return status.st_dev, status.st_ino


def size_bytes(files: Iterable[Path]) -> int:
    """Return the total size of files in bytes; files deleted meanwhile are skipped."""
    size = 0
    for file in files:
        with suppress(FileNotFoundError):
            size += file.stat().st_size
    return size


def replace_folder(new: Path, old: Path) -> Path | None:
    """Move a folder to the path of another one, or to a free path.

    If another one has the path, nothing is there for a moment.

    Returns the new path of the replaced folder; None if there was none, or an empty one.
    """
    replaced = None
    with ExitStack() as undo:
        was_there = old.exists()
        if was_there and any(old.iterdir()):
            replaced = old.with_name(f".{old.name}.{os.urandom(8).hex()}")
            move_folder(old, replaced)
            undo.callback(move_folder, replaced, old)
        move_folder(new, old)
        if was_there and not replaced:
            undo.callback(old.mkdir)
        undo.callback(move_folder, old, new)
        # Otherwise a power failure could bring back the name of a folder that has been deleted
        # since.
        flush(old.parent)
        undo.pop_all()
    return replaced
