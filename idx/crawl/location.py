"""Locations of files: a folder of a known identity, and the way from it down to the file.

Where a file was found, and where it is read a moment later by another process, is the same place
only if nobody put another folder there meanwhile. So a folder goes from process to process with its
identity, and is opened anew only if it still has it; see
`idx.crawl.descriptors` for the rest of the way.
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

from idx.crawl.descriptors import READING, open_beneath, opened_beneath, refuse_too_long
from idx.errors import SourceFileError
from shared.files.access import PASSAGE, Identity, identity_of, opened_folder

OUTSIDE: Final = "lies in no folder that may be indexed: it was moved, or one above it replaced"
"""The reason why what does not lie in one of the roots is not taken."""

_NOT_REGULAR: Final = "is not a regular file"

_TRIES: Final = 20
_PAUSE: Final = 0.05
"""Seconds between tries to open a file that another program has to let go of first."""


@dataclass(frozen=True, slots=True)
class KnownFolder:
    """A folder that was opened once.

    Attributes:
        path: where it was; links in it are followed.
        identity: what it is known by.
    """

    path: Path
    identity: Identity


@dataclass(frozen=True, slots=True)
class Location:
    """A file, to be opened by `opened_file`.

    Attributes:
        path: as the user knows it, for messages and for its name.
        folder: where the way to it begins.
        beneath: the way from there, with slashes; no part of it may be a link.
    """

    path: Path
    folder: KnownFolder
    beneath: str


@dataclass(frozen=True, slots=True)
class Target:
    """A file or a folder at the end of a path in which all links were resolved once.

    Attributes:
        folder: the one that it lies in.
        name: its name there.
        status: its state.
    """

    folder: KnownFolder
    name: str
    status: os.stat_result

    @property
    def path(self) -> Path:
        """Where it is, without links."""
        return self.folder.path / self.name

    def as_folder(self) -> KnownFolder:
        """The target itself, if it is a folder."""
        return KnownFolder(self.path, identity_of(self.status))


def resolve_links(path: Path | str) -> Target:
    """The end of a path, by way of the links in it.

    Raises:
        OSError: there is nothing, or it cannot be looked at.
    """
    real = os.path.realpath(path)
    parent, name = os.path.split(real)
    with (
        opened_folder("/") as top,
        opened_beneath(top, parent.strip("/") or ".", PASSAGE) as descriptor,
    ):
        folder = KnownFolder(Path(parent), identity_of(os.fstat(descriptor)))
        status = os.stat(name or ".", dir_fd=descriptor, follow_symlinks=False)
    return Target(folder, name or ".", status)


@contextmanager
def opened(folder: KnownFolder) -> Iterator[int]:
    """Open a folder for a block, if it is still the one that is known.

    Raises:
        OSError: it cannot be opened, or is another one.
    """
    with opened_folder(folder.path) as descriptor:
        if identity_of(os.fstat(descriptor)) != folder.identity:
            reason = f"the folder {folder.path} was replaced by another one"
            raise OSError(errno.ESTALE, reason, str(folder.path))
        yield descriptor


@contextmanager
def opened_file(location: Location) -> Iterator[BufferedReader]:
    """Open a file for a block.

    Raises:
        SourceFileError: it is a folder, or not a regular file.
        OSError: it cannot be opened, or is a link.
    """
    refuse_too_long(location.folder.path, location.beneath)
    with opened(location.folder) as folder:
        descriptor = _open_file(folder, location)
    try:
        mode = os.fstat(descriptor).st_mode
        if S_ISDIR(mode):
            raise SourceFileError(location.path, "is a folder; name the files in it")
        if not S_ISREG(mode):
            raise SourceFileError(location.path, _NOT_REGULAR)
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            yield stream
    finally:
        os.close(descriptor)


def _open_file(folder: int, location: Location) -> int:
    for _ in range(_TRIES):
        try:
            return open_beneath(folder, location.beneath, READING)
        except BlockingIOError:
            # A file server has it leased to a client, and is now asked to have it back.
            time.sleep(_PAUSE)
        except OSError as error:
            if error.errno == errno.ENXIO:
                # A socket, or a device behind which there is none.
                raise SourceFileError(location.path, _NOT_REGULAR) from error
            raise
    raise OSError(errno.EAGAIN, "another program holds it, and does not let go of it")
