"""Folders of the index that were renamed or moved: recognized, and found again at their new place.

The ids of documents do not depend on where their folder lies. So a folder keeps them, and
whatever else is known of its files, if the index only learns its new path.
"""

import os
import shlex
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

from idx.crawl.location import KnownFolder, Location, opened_file
from idx.errors import SourceFileError
from idx.sync.events import MissingFolder
from idx.sync.targets import Sources, path_of, resolve
from shared.errors import McpLuceneError
from shared.files.access import identity, is_folder, is_missing
from shared.files.content import content_hash
from shared.messages import decodable, quantity
from shared.model.document import FileState
from shared.model.folders import IndexedFolder, IndexedFolders

Item = TypeVar("Item")

_SIZES: Final = 1_000
"""Files whose size is compared, spread over the folder."""

_HASHES: Final = 20
"""Files of equal size whose bytes are compared, the small ones first."""

_HASHED_BYTES: Final = 64_000_000
"""How many bytes are read for it at most."""

_MOST: Final = 0.5
"""Share of the files beyond which a folder is taken for another one that was moved."""


@dataclass(frozen=True, slots=True)
class Move:
    """A folder of the index, and where it lies now.

    Attributes:
        old: the path that the index knows.
        new: the path of the folder now.
    """

    old: Path
    new: Path

    @property
    def command(self) -> str:
        """The command that has the index learn it."""
        return f"idx sync {_quoted(self.new)} --moved-from {_quoted(self.old)}"


class FolderRecognizedError(McpLuceneError):
    """A new folder looks like one of the index that is missing, and nobody can be asked."""

    def __init__(self, move: Move) -> None:
        super().__init__(
            f"{decodable(str(move.new))} has the files of {decodable(str(move.old))}, a folder of "
            "the index that is missing; nothing was indexed. If the folder was renamed or moved: "
            f"{move.command}; if this is another one: idx sync {_quoted(move.new)} --not-moved"
        )


def recognized(
    paths: Iterable[Path], folders: IndexedFolders, states: Mapping[str, FileState]
) -> Iterator[Move]:
    """Missing folders of an index whose files are in a folder that is new to it.

    The sizes of files are compared, then the bytes of a few, so that large folders take no longer.

    Args:
        paths: what a command names.
        folders: those of the index.
        states: the states of its files, by the id of the document.
    """
    missing = [folder for folder in folders if is_missing(folder.path)]
    new = [folder.path for folder in resolve(paths, folders, lambda _: False).folders]
    for path in new:
        if any(path == folder.path for folder in folders):
            continue
        found = next((folder for folder in missing if _is_at(path, folder, states)), None)
        if found is not None:
            missing.remove(found)
            yield Move(found.path, path)


def named_move(paths: Sequence[Path], moved_from: Path, folders: IndexedFolders) -> Move:
    """The move that a user names.

    Args:
        paths: the folder as it is named now, and no other path.
        moved_from: where it was.
        folders: those of the index.

    Raises:
        SourceFileError: the index has no such folder, it is still there, or its place cannot be
            taken.
    """
    old = Path(os.path.abspath(moved_from))  # noqa: PTH100 - resolves no links
    if not any(folder.path == old for folder in folders):
        known = ", ".join(decodable(str(folder.path)) for folder in folders) or "none"
        raise SourceFileError(old, f"is not a folder of the index; its folders: {known}")
    if is_folder(old) and any(old.iterdir()):
        raise SourceFileError(
            old, "is still there, so that no other folder can take its place; move its files first"
        )
    new = Path(os.path.abspath(paths[0]))  # noqa: PTH100 - resolves no links
    if not is_folder(new):
        raise SourceFileError(new, "is not a folder that could take the place of another one")
    for folder in folders:
        if folder.path not in (old, new) and new.is_relative_to(folder.path):
            raise SourceFileError(
                new,
                f"lies in {decodable(str(folder.path))}, a folder of the index, and is a part of "
                "it; to remove the documents of the folder that is missing: "
                f"idx sync --prune-missing {_quoted(old)}",
            )
    return Move(old, new)


def relocated(folders: IndexedFolders, moves: Iterable[Move]) -> IndexedFolders:
    """The folders of an index after moves, with those that lay in a moved one.

    A folder of the index that lies where one moves to is none any more: its files are the same.
    """
    for move in moves:
        # In a watch it has been made by the time of the second look.
        if all(folder.path != move.old for folder in folders):
            continue
        folders = IndexedFolders(
            tuple(
                replace(folder, path=moved(folder.path, [move]))
                for folder in folders
                if folder.path != move.new
            )
        )
    return folders


def moved(path: Path, moves: Iterable[Move]) -> Path:
    """Where a path leads after moves."""
    for move in moves:
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolves no links
        if absolute.is_relative_to(move.old):
            return move.new / absolute.relative_to(move.old)
    return path


def missing_beside(sources: Sources, states: Mapping[str, FileState]) -> Iterator[MissingFolder]:
    """The folders of the index that are not there, besides those that a command is about.

    Args:
        sources: what the command is about.
        states: the states of the files of the index.
    """
    concerned = {source.folder.prefix for source in sources.sources}
    for folder in sources.folders:
        if folder.prefix in concerned or not is_missing(folder.path):
            continue
        documents = sum(state.folder == folder.prefix for state in states.values())
        if documents:
            path = decodable(str(folder.path))
            message = (
                f"{path}: is missing, and so are the files of {quantity(documents, 'document')} in "
                f"the index; if the folder was renamed or moved: {hint(folder.path)}; if it is "
                f"gone for good: idx sync --prune-missing {_quoted(folder.path)}"
            )
            yield MissingFolder(path, documents, message)


def hint(path: Path) -> str:
    """The command that tells the index where a folder lies now, with a word for the new place."""
    return f"idx sync NEW --moved-from {_quoted(path)}"


def _is_at(path: Path, folder: IndexedFolder, states: Mapping[str, FileState]) -> bool:
    """Whether most of the files that a folder had are at a path."""
    files = sorted(
        (path_of(name, folder), state)
        for name, state in states.items()
        if state.folder == folder.prefix
    )
    sample = _spread(files, _SIZES)
    same_size = [
        (state.size, state.content_hash, name)
        for name, state in sample
        if _size(path / name) == state.size
    ]
    if not sample or len(same_size) <= len(sample) * _MOST:
        return False
    same_size.sort(key=lambda file: file[0])
    left = _HASHED_BYTES
    to_hash = []
    for size, hash_, file in _spread(same_size, _HASHES):
        left -= size
        if left >= 0:
            to_hash.append((hash_, file))
    same = sum(_hash(path, file) == hash_ for hash_, file in to_hash)
    return same > len(to_hash) * _MOST


def _spread(items: Sequence[Item], number: int) -> list[Item]:
    """So many of the items, as far from each other as can be."""
    if len(items) <= number:
        return [*items]
    return [items[position * len(items) // number] for position in range(number)]


def _size(file: Path) -> int | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _hash(folder: Path, name: str) -> str | None:
    known = identity(folder)
    if known is None:
        return None
    try:
        with opened_file(Location(folder / name, KnownFolder(folder, known), name)) as stream:
            return content_hash(stream)
    except (OSError, SourceFileError):
        return None


def _quoted(path: Path) -> str:
    return shlex.quote(decodable(str(path)))
