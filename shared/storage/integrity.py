"""Lucene directories of index folders, and the integrity of their files before they are used.

When Lucene opens an index, it compares small files with their checksums, but not those that contain
the terms and the texts: a changed bit there would silently change texts or hits. So this process
compares each file once, before its first use, and again if it was written to since.
"""

import errno
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, Final

from java.nio.file import Paths
from org.apache.lucene.store import FSDirectory

from shared.errors import IndexDamagedError, IndexFileError, IndexPathError
from shared.files.access import NOT_REGULAR
from shared.files.lucene_files import damage_of, is_lucene_file
from shared.messages import reason_of

_MAX_FOREGROUND_BYTES: Final = 1_000_000_000
"""Maximum number of bytes that a call waits for; comparing them takes about 0.4 s if the files are
in the page cache."""

_MAX_KNOWN_FILES: Final = 20_000

_State = tuple[int, int, int, int]
"""State of a file that changes when it is written to: device, inode, size, and the status change
time, which no program can set, or on Windows the modification time."""

_known: dict[_State, str | None] = {}
"""Damage of each file that was compared; None if it is intact."""

_NOT_COMPARED: Final = "not compared yet"

_busy: set[Path] = set()
"""Folders that a thread is reading."""

_claiming: Final = threading.Lock()


def open_directory(path: Path) -> Any:
    """Open the folder of an index or a backup as a Lucene `Directory`, which the caller closes."""
    check_files(path)
    return FSDirectory.open(Paths.get(str(path)))


def open_links(folder: Path) -> Any:
    """Open a folder with links to files of an index, made by this process, as `open_directory`."""
    return FSDirectory.open(Paths.get(str(folder)))


def check_files(path: Path) -> None:
    """Check that all entries with names of Lucene files in a folder are regular files."""
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if is_lucene_file(entry.name) and not entry.is_file(follow_symlinks=False):
                    raise IndexFileError(path, entry.name, NOT_REGULAR)
    except (FileNotFoundError, NotADirectoryError):
        # The code that reads or writes the index reports this.
        return
    except OSError as error:
        raise IndexPathError(path, reason_of(error)) from error


def verify(path: Path, names: Iterable[str], *, completely: bool = False) -> list[str]:
    """Check that files of an index are intact, unless this is known already.

    If more than a gigabyte has to be read, it is read in the background, and damage is reported a
    little later.

    Returns the names of missing files.
    """
    missing: list[str] = []
    unknown: dict[str, int] = {}
    for name in names:
        if _is_known_intact(f"{path}/{name}"):
            continue
        with _translated_errors(path, name, missing):
            _, _, size, _ = state = _state(path / name)
            if state in _known:
                _refuse(path, name, _known[state])
            else:
                unknown[name] = size
    if not completely and sum(unknown.values()) > _MAX_FOREGROUND_BYTES:
        _compare_in_background(path, [*unknown])
    else:
        for name in unknown:
            with _translated_errors(path, name, missing):
                _refuse(path, name, _compare(path / name))
    return missing


def _is_known_intact(file: str) -> bool:
    """Check whether a file is known to be intact, the fast path of nearly all calls."""
    try:
        return _known.get(_state(file), _NOT_COMPARED) is None
    except OSError:
        return False


@contextmanager
def _translated_errors(path: Path, name: str, missing: list[str]) -> Iterator[None]:
    """Translate errors of reading a file; add the name of a missing one to `missing`."""
    try:
        yield
    except FileNotFoundError:
        missing.append(name)
    except PermissionError as error:
        raise IndexPathError(path, f"{name}: {reason_of(error)}") from error
    except OSError as error:
        _refuse(path, name, _unreadable(error))


def _unreadable(error: OSError) -> str:
    return f"it cannot be read: {reason_of(error)}"


def _refuse(path: Path, name: str, damage: str | None) -> None:
    if damage:
        raise IndexDamagedError(path, f"file {name}: {damage}")


def _state(file: str | Path) -> _State:
    status = os.stat(file)  # noqa: PTH116 - faster, for many files at each call
    # The status change time of Windows is that of creation.
    changed = status.st_mtime_ns if sys.platform == "win32" else status.st_ctime_ns
    return status.st_dev, status.st_ino, status.st_size, changed


def _compare(file: Path) -> str | None:
    """Compare a file with its checksum, and remember the result."""
    # Before the file is read: a write in the meantime changes its state.
    state = _state(file)
    damage = damage_of(file)
    _known[state] = damage
    for oldest in [*islice(_known, max(0, len(_known) - _MAX_KNOWN_FILES))]:
        _known.pop(oldest, None)
    return damage


def _compare_in_background(path: Path, names: list[str]) -> None:
    """Compare files in a daemon thread, at most one for each folder."""
    with _claiming:
        if path in _busy:
            return
        _busy.add(path)

    def run() -> None:
        try:
            for name in names:
                try:
                    _compare(path / name)
                except OSError as error:
                    # Otherwise a writer has deleted the file, or the file is not at fault: it is
                    # tried again, and Lucene reports files that it cannot open.
                    if error.errno == errno.EIO:
                        with suppress(OSError):
                            _known[_state(path / name)] = _unreadable(error)
        finally:
            _busy.discard(path)

    threading.Thread(target=run, name="verification", daemon=True).start()
