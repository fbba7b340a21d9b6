"""Whether the files that answers come from are as Lucene wrote them.

When Lucene opens an index it compares small files with their checksums, but not those that hold
the terms and the texts: a changed bit there would be another text, or other hits, and nobody
would be told. So this process compares each file once, before it first uses it, and again when
somebody has written to it since.
"""

import errno
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Final

from shared.errors import IndexDamagedError, IndexPathError
from shared.files.lucene_files import damage_of
from shared.messages import reason_of

_BYTES_AT_ONCE: Final = 1_000_000_000
"""Of so much a call waits until it is compared, which takes about 0.4 s for files in the memory of
the system."""

_MOST_KNOWN: Final = 20_000
"""Files of which the result is kept."""

_State = tuple[int, int, int, int]
"""What changes when a file is written to: device, inode, size, and the time of the last change, of
the kind that no program can set."""

_SIZE: Final = 2
"""Where the size stands in it."""

_known: dict[_State, str | None] = {}
"""What is wrong with each file that was compared; None if nothing is."""

_UNKNOWN: Final = "not compared yet"

_busy: set[Path] = set()
"""Folders that a thread is reading."""

_claiming: Final = threading.Lock()


def verify(path: Path, names: Iterable[str], *, completely: bool = False) -> list[str]:
    """Make sure that files of an index are whole, as far as this is not known yet.

    If there is more than a gigabyte to read, it is read in the background: what is damaged is
    then found a little later.

    Args:
        path: the index folder.
        names: the names of the files.
        completely: whether to wait until all of it is read, however much it is.

    Returns:
        The names of those that are not there.

    Raises:
        IndexDamagedError: a file is changed or cut short; it is named.
        IndexPathError: the operating system refuses access.
    """
    missing: list[str] = []
    unknown: dict[str, int] = {}
    for name in names:
        if _is_known_to_be_whole(f"{path}/{name}"):
            continue
        with _told(path, name, missing):
            state = _state(path / name)
            if state in _known:
                _refuse(path, name, _known[state])
            else:
                unknown[name] = state[_SIZE]
    if not completely and sum(unknown.values()) > _BYTES_AT_ONCE:
        _compare_in_background(path, [*unknown])
    else:
        for name in unknown:
            with _told(path, name, missing):
                _refuse(path, name, _compare(path / name))
    return missing


def _is_known_to_be_whole(file: str) -> bool:
    """Whether a file need not be looked at any further: nearly all of nearly all calls."""
    try:
        return _known.get(_state(file), _UNKNOWN) is None
    except OSError:
        return False


@contextmanager
def _told(path: Path, name: str, missing: list[str]) -> Iterator[None]:
    """Have it told what hinders looking at a file; of a missing one only the name is noted."""
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
    status = os.stat(file)  # noqa: PTH116 - of many files at each call
    return status.st_dev, status.st_ino, status.st_size, status.st_ctime_ns


def _compare(file: Path) -> str | None:
    """Compare a file with its checksum, and remember the result.

    Raises:
        OSError: it is gone, or cannot be read.
    """
    # Before it is read: what is written meanwhile makes it another one.
    state = _state(file)
    damage = damage_of(file)
    _known[state] = damage
    for oldest in [*islice(_known, max(0, len(_known) - _MOST_KNOWN))]:
        _known.pop(oldest, None)
    return damage


def _compare_in_background(path: Path, names: list[str]) -> None:
    """Read files in a thread that does not keep the process from ending; one for each folder."""
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
                    # Otherwise a writer has deleted it, or it is not the file that is at fault: it
                    # is tried again, and Lucene tells what it may not open.
                    if error.errno == errno.EIO:
                        with suppress(OSError):
                            _known[_state(path / name)] = _unreadable(error)
        finally:
            _busy.discard(path)

    threading.Thread(target=run, name="verification", daemon=True).start()
