"""A file whose text is to be read for the index."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from idx.location import OUTSIDE, Location, opened, resolve_links
from shared.errors import SourceFileError
from shared.files.access import Identity, decodable, lies_in


@dataclass(frozen=True, slots=True)
class Change:
    """A file whose text is to be read.

    Attributes:
        source_document: the id of its document.
        location: the file.
        relative: its path within its folder, with slashes; the absolute one without a folder.
        folder: the prefix of its folder; None if it was named by itself.
        size: bytes.
        modified_ns: time of its last change, in nanoseconds since 1970.
        other_volume: whether it lies on another volume than its folder.
        is_new: whether no document was made of it before.
        is_named: whether the user named this very file, and is to be told if it is not read.
    """

    source_document: str
    location: Location
    relative: str
    folder: str | None
    size: int
    modified_ns: int
    other_volume: bool
    is_new: bool
    is_named: bool = False

    @property
    def path(self) -> Path:
        """The file as the user knows it."""
        return self.location.path


def single_file(path: Path, roots: Collection[Identity] | None = None) -> Change:
    """A file that was named by itself, by way of links; its name is the id of its document.

    Args:
        path: the file.
        roots: identities of folders in which it must lie; None for no such limit.

    Raises:
        SourceFileError: it cannot be looked at, or lies in none of the roots.
    """
    absolute = path.absolute()
    try:
        target = resolve_links(absolute)
        if roots is not None:
            with opened(target.folder) as folder:
                if not lies_in(folder, roots):
                    raise SourceFileError(path, OUTSIDE)
    except FileNotFoundError as error:
        raise SourceFileError(path, "there is no such file") from error
    except OSError as error:
        raise SourceFileError(path, f"cannot be looked at: {error.strerror or error}") from error
    return Change(
        source_document=decodable(path.name),
        location=Location(absolute, target.folder, target.name),
        relative=str(absolute),
        folder=None,
        size=target.status.st_size,
        modified_ns=target.status.st_mtime_ns,
        other_volume=False,
        is_new=True,
        is_named=True,
    )
