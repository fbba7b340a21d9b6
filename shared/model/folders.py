"""The folders whose files are documents of an index.

An index knows its folders by their path and by the way that leads there from the index, so that
both may be moved together, and the documents only by their path within a folder.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shared.messages import decodable


@dataclass(frozen=True, slots=True)
class IndexedFolder:
    """A folder of documents.

    Attributes:
        prefix: what stands before the ids of its documents: nothing, or a name and a slash. No
            two folders of an index have the same one.
        path: the folder, absolute.
    """

    prefix: str
    path: Path

    @property
    def beginning(self) -> str:
        r"""What the paths of its files begin with; bytes that are no UTF-8 as ``\xNN``."""
        return f"{decodable(str(self.path)).rstrip('/')}/"


@dataclass(frozen=True, slots=True)
class IndexedFolders:
    """The folders of an index; an empty one for documents that come from no folder."""

    folders: tuple[IndexedFolder, ...] = ()

    def __iter__(self) -> Iterator[IndexedFolder]:
        return iter(self.folders)

    def dump(self, index: Path) -> str:
        """The folders as ASCII text, to be kept with the index at the path `index`."""
        return json.dumps(
            [
                {
                    "prefix": folder.prefix,
                    "path": str(folder.path),
                    "from_index": os.path.relpath(folder.path, index),
                }
                for folder in self.folders
            ]
        )

    @classmethod
    def load(cls, text: str | None, index: Path) -> "IndexedFolders":
        """The folders that were kept with an index which lies at the path `index` now.

        A folder that is no longer where it was is looked for from the index.

        Raises:
            ValueError, TypeError, KeyError, RecursionError: it is not such a text.
        """
        return cls(
            tuple(
                IndexedFolder(
                    _text(entry["prefix"]),
                    _find(_text(entry["path"]), _text(entry["from_index"]), index),
                )
                for entry in json.loads(text or "[]")
            )
        )

    def file_path(self, prefix: str | None, path: str | None) -> str | None:
        """Where a document's file lies now.

        Args:
            prefix: the prefix of its folder; None if it belongs to none.
            path: its path within the folder, or the absolute one; None if there is no file.
        """
        if prefix is None or path is None:
            return path
        for folder in self.folders:
            if folder.prefix == prefix:
                return folder.beginning + path
        return path

    def terms(self, file_path: str) -> list[str]:
        """The terms that stand for a file; see `file_term`."""
        return [file_term(None, file_path)] + [
            file_term(folder.prefix, file_path.removeprefix(folder.beginning))
            for folder in self.folders
            if file_path.startswith(folder.beginning)
        ]

    def term_prefixes(self, beginning: str) -> list[str]:
        """What the terms begin with that stand for files whose path begins so."""
        found = [file_term(None, beginning)]
        for folder in self.folders:
            if folder.beginning.startswith(beginning):
                found.append(file_term(folder.prefix, ""))
            elif beginning.startswith(folder.beginning):
                found.append(file_term(folder.prefix, beginning.removeprefix(folder.beginning)))
        return found


def file_term(prefix: str | None, path: str) -> str:
    """The term of a file in the index; `prefix` and `path` as for `IndexedFolders.file_path`."""
    return path if prefix is None else f"{prefix}\0{path}"


def _text(value: object) -> str:
    """A value that can be the name of a file."""
    if not isinstance(value, str):
        raise TypeError("not a text")
    # Half of a surrogate pair and a null byte are in no name.
    if b"\0" in os.fsencode(value):
        raise ValueError("not a name of a file")
    return value


def _find(path: str, from_index: str, index: Path) -> Path:
    known = Path(path)
    moved = Path(os.path.normpath(index / from_index))
    # There is one place for a folder whose index was not moved: the file system need not be asked.
    # An index that was moved can be searched while its folder is on a network drive that is gone.
    is_moved = (
        moved != known
        and not os.path.exists(known)  # noqa: PTH110 - a Path's raises
        and os.path.isdir(moved)  # noqa: PTH112 - the same
    )
    return moved if is_moved else known
