"""Locations of files: a folder with a known identity, and the path from it to the file.

A file found by the crawl is read later by another process, and somebody may replace its folder
meanwhile. So a folder is passed between processes with its identity and opened again only if the
identity is unchanged; for the rest of the path see `shared.files.access`.
"""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Final

from shared.files import access
from shared.system import PASSAGE, READING, status_of_part

OUTSIDE_ROOTS: Final = (
    "is in no folder that may be indexed: it was moved, or a folder above it was replaced"
)
"""Reason for skipping a file outside all roots."""

_NOT_REGULAR: Final = "is not a regular file"

_MAX_FILE_OPEN_ATTEMPTS: Final = 20
_FILE_RETRY_SECONDS: Final = 0.05
"""Delay between attempts to open a file that another program must release first, in seconds."""


@dataclass(frozen=True, slots=True)
class KnownFolder:
    """Folder that was opened once."""

    path: Path
    identity: access.Identity


@dataclass(frozen=True, slots=True)
class Location:
    """Location of a file, which `opened_file` opens."""

    path: Path
    folder: KnownFolder
    beneath: str


@dataclass(frozen=True, slots=True)
class Target:
    """File or folder at the end of a path whose links are resolved."""

    folder: KnownFolder
    name: str
    status: os.stat_result

    @property
    def path(self) -> Path:
        """Path without links."""
        return self.folder.path / self.name

    def as_folder(self) -> KnownFolder:
        return KnownFolder(self.path, access.identity_of(self.status))


def resolve_links(path: Path | str) -> Target:
    real = Path(os.path.realpath(path))
    parent, name = real.parent, real.name or "."
    with (
        access.opened_folder(real.anchor) as top,
        access.opened_beneath(
            top, parent.relative_to(real.anchor).as_posix(), PASSAGE
        ) as descriptor,
    ):
        folder = KnownFolder(parent, access.identity_of(os.fstat(descriptor)))
        status = status_of_part(descriptor, name)
    return Target(folder, name, status)


@contextmanager
def opened(folder: KnownFolder) -> Iterator[int]:
    """Open a folder for a block, if its identity is unchanged."""
    with access.opened_folder(folder.path) as descriptor:
        if access.identity_of(os.fstat(descriptor)) != folder.identity:
            reason = f"the folder {folder.path} was replaced by another one"
            raise OSError(errno.ESTALE, reason, str(folder.path))
        yield descriptor


@contextmanager
def opened_file(location: Location) -> Iterator[BufferedReader]:
    """Open a file for a block."""
    access.refuse_too_long(location.folder.path, location.beneath)
    with opened(location.folder) as folder:
        descriptor = _open_file(folder, location)
    with access.lent(descriptor):
        mode = os.fstat(descriptor).st_mode
        if S_ISDIR(mode):
            raise access.IrregularFileError("is a folder; name the files in it")
        if not S_ISREG(mode):
            raise access.IrregularFileError(_NOT_REGULAR)
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            yield stream


def _open_file(folder: int, location: Location) -> int:
    for _ in range(_MAX_FILE_OPEN_ATTEMPTS):
        try:
            return access.open_beneath(folder, location.beneath, READING)
        except BlockingIOError:
            # A file server leased the file to a client and has now asked for it back.
            time.sleep(_FILE_RETRY_SECONDS)
        except OSError as error:
            if error.errno == errno.ENXIO:
                # It is a socket, or a device file without a device.
                raise access.IrregularFileError(_NOT_REGULAR) from error
            raise
    raise OSError(errno.EAGAIN, "another program keeps it locked")
