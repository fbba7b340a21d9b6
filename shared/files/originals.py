"""Folders whose original files may be handed out: those that a user has named, never an index.

An index names the file of each document, and it may be anybody's: a folder that was copied from
elsewhere, or one on a cluster. So a file is opened for a client only if it lies in a folder, or is
a file, that `idx` of this account was told to index into the index at this path. That is recorded
in the user's data folder, which no index can write into; the setting ``originals`` names others.
"""

import errno
import hashlib
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shared.files.index_folder import is_cluster
from shared.files.location import Location, resolve_links

_WITHHELD: Final = (
    "the index names it, but its folder was not indexed by this account into the index at this "
    "path; ask the user to set originals in the configuration to its folder, or to run idx sync "
    "on the folder"
)


@dataclass(frozen=True, slots=True)
class Originals:
    """The files and folders of an index that may be handed out."""

    record: Path | None
    named: tuple[Path, ...] = ()

    @classmethod
    def of(cls, index_path: Path, named: Iterable[Path] = ()) -> "Originals":
        """Return those of the index at a path, and others that are named."""
        from platformdirs import user_data_path

        data = user_data_path("mcp-lucene", appauthor=False)
        place = str(index_path) if is_cluster(index_path) else os.path.realpath(index_path)
        name = hashlib.sha256(os.fsencode(place)).hexdigest()
        # The path is relative if the home folder is unknown.
        return cls(data / "originals" / name if data.is_absolute() else None, tuple(named))

    def add(self, paths: Iterable[Path]) -> None:
        """Record files and folders that a user has named to be indexed.

        A record that cannot be written stops nothing: the server says what it withholds, and why.
        """
        known = self._recorded()
        real = [Path(os.path.realpath(path)) for path in paths]
        new = [path for path in real if known.isdisjoint((path, *path.parents))]
        if new and self.record:
            with suppress(OSError):
                self.record.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with self.record.open("a", encoding="ascii") as record:
                    record.write("".join(f"{json.dumps(str(path))}\n" for path in new))

    def located(self, folder: Path | None, path: str) -> Location:
        """Return the present location of a file that was indexed."""
        alone = Path(path)
        beneath = path if folder else alone.name
        parent = Path(os.path.realpath(folder or alone.parent))
        file = Path(os.path.normpath(parent / beneath))
        known = self._recorded() | {Path(os.path.realpath(each)) for each in self.named}
        if known.isdisjoint((file, *file.parents)):
            raise OSError(errno.EACCES, _WITHHELD, path)
        found = resolve_links(parent).as_folder()
        if found.path != parent:
            raise OSError(errno.ESTALE, "a folder above it was replaced by a link", path)
        return Location(folder / path if folder else alone, found, beneath)

    def _recorded(self) -> set[Path]:
        found = set()
        with suppress(OSError):
            for line in self.record.read_bytes().splitlines() if self.record else ():
                # A line may be cut short if the disk was full.
                with suppress(ValueError):
                    found.add(Path(str(json.loads(line))))
        return found
