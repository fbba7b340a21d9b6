"""Indexed folders: the folders whose files are the documents of an index.

An index stores each folder both as an absolute path and as a path relative to the index, so that
both may be moved together; it stores documents only by their path within a folder.
"""

import json
import os
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shared.messages import decodable
from shared.model import schema

FILE_FIELD: Final = schema.metadata_field(schema.FILE_PATH)
"""Field whose terms are paths within a folder of the index, shown as absolute paths."""


@dataclass(frozen=True, slots=True)
class IndexedFolder:
    """A folder of documents.

    Attributes:
        prefix: the start of the ids of its documents: empty, or a name and a slash. It is unique
            among the folders of an index.
        path: the folder, absolute.
    """

    prefix: str
    path: Path

    @property
    def beginning(self) -> str:
        r"""Common start of the paths of its files, with slashes on Windows, too.

        Bytes that are not UTF-8 become ``\xNN``.
        """
        return f"{decodable(self.path.as_posix()).rstrip('/')}/"


def prefixes_collide(prefix: str, other: str) -> bool:
    """Check whether files of two folders may get the same ids, unless one gives way."""
    return prefix.startswith(other) or other.startswith(prefix)


@dataclass(frozen=True, slots=True)
class IndexedFolders:
    """The folders of an index; empty if its documents do not come from folders."""

    folders: tuple[IndexedFolder, ...] = ()

    def __iter__(self) -> Iterator[IndexedFolder]:
        return iter(self.folders)

    def dump(self, index: Path) -> str:
        """Return the folders as ASCII text, to be stored in the index at the path `index`."""
        return json.dumps(
            [
                {
                    "prefix": folder.prefix,
                    "path": str(folder.path),
                    "from_index": _relative(folder.path, index),
                }
                for folder in self.folders
            ]
        )

    @classmethod
    def load(cls, text: str | None, index: Path) -> "IndexedFolders":
        """Return the folders stored in an index that is now at the path `index`.

        A folder that was moved is searched for by its path relative to the index.

        Raises:
            ValueError, TypeError, KeyError, RecursionError: the text was not written by `dump`.
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
        """Return the present path of a document's file; None if there is none.

        The path is the one within the folder with the prefix, or absolute without a prefix.
        """
        if prefix is None or path is None:
            return path
        for folder in self.folders:
            if folder.prefix == prefix:
                return folder.beginning + path
        return path

    def path_of(self, prefix: str) -> Path | None:
        """Return the folder with a prefix; None if there is none."""
        return next((folder.path for folder in self.folders if folder.prefix == prefix), None)

    def terms(self, file_path: str) -> list[str]:
        """Return the possible terms of a file; see `file_term`."""
        return [file_term(None, file_path)] + [
            file_term(folder.prefix, within)
            for folder in self.folders
            if (within := _rest(file_path, folder.beginning)) is not None
        ]

    def term_prefixes(self, beginning: str) -> list[str]:
        """Return the prefixes of the terms of files whose path begins with a text."""
        found = [file_term(None, beginning)]
        for folder in self.folders:
            if _rest(folder.beginning, beginning) is not None:
                found.append(file_term(folder.prefix, ""))
            elif (within := _rest(beginning, folder.beginning)) is not None:
                found.append(file_term(folder.prefix, within))
        return found


def _rest(path: str, beginning: str) -> str | None:
    """Return the part of a path behind its beginning; None if it begins in another way.

    Accents may be characters of their own, as in names that macOS has written.
    """
    if path.startswith(beginning):
        return path.removeprefix(beginning)
    path, beginning = (unicodedata.normalize("NFC", text) for text in (path, beginning))
    return path.removeprefix(beginning) if path.startswith(beginning) else None


def file_term(prefix: str | None, path: str) -> str:
    """Return the term of a file; `prefix` and `path` as for `IndexedFolders.file_path`."""
    return path if prefix is None else f"{prefix}\0{path}"


def telling_path(prefix: str | None, path: str) -> str:
    """Return the part of a file's path that tells of it: the way within its folder, or the name."""
    return path if prefix is not None else path.replace("\\", "/").rpartition("/")[2]


def _text(value: object) -> str:
    """Return a value if it can be the name of a file."""
    if not isinstance(value, str):
        raise TypeError("not a text")
    # A file name contains neither half of a surrogate pair nor a null byte.
    if b"\0" in os.fsencode(value):
        raise ValueError("not a name of a file")
    return value


def _relative(path: Path, index: Path) -> str:
    """Return the path of a folder from the index, with slashes, or its own on another drive."""
    try:
        return Path(os.path.relpath(path, index)).as_posix()
    except ValueError:
        # Windows has no path from one drive to another.
        return path.as_posix()


def _find(path: str, from_index: str, index: Path) -> Path:
    known = Path(path)
    moved = Path(os.path.normpath(index / from_index))
    # If the index was not moved, both paths are the same and the file system is not asked. If it
    # was, it can still be searched while its folder is on an unavailable network drive: os.path
    # returns False.
    is_moved = (
        moved != known
        and not os.path.exists(known)  # noqa: PTH110 - Path.exists may raise
        and os.path.isdir(moved)  # noqa: PTH112 - Path.is_dir may raise
    )
    return moved if is_moved else known


def shown(field: str, term: str, folders: IndexedFolders) -> str:
    """Return a term for display: the path of a file, or a value that was too long for a term."""
    beginning, separator, rest = term.partition("\0")
    if not separator or not schema.is_keyword_field(field):
        return term
    if field == FILE_FIELD:
        return folders.file_path(beginning, rest) or term
    return f"{beginning}…"
