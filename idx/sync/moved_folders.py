"""Detection of renamed or moved folders of the index.

Document ids do not depend on the location of their folder. So if the index only learns the new
path, the folder keeps its ids and everything known about its files.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

from idx.errors import SourceFileError
from idx.sync.events import MissingFolder
from idx.sync.targets import Sources, path_of, resolve
from shared.errors import McpLuceneError
from shared.files.access import identity, is_folder, is_missing
from shared.files.content import IrregularFileError, content_hash
from shared.files.location import KnownFolder, Location, opened_file
from shared.messages import decodable, quantity
from shared.model.document import FileState
from shared.model.folders import IndexedFolder, IndexedFolders
from shared.system.shell import quoted

Item = TypeVar("Item")

_MAX_COMPARED_SIZES: Final = 1_000
"""Number of files whose sizes are compared, spread over the folder."""

_MAX_COMPARED_HASHES: Final = 20
"""Number of files of equal size whose content is compared, small files first."""

_MAX_HASHED_BYTES: Final = 64_000_000
"""Maximum number of bytes hashed for the comparison."""

_MIN_MATCHING_SHARE: Final = 0.5
"""Share of matching files above which a folder is recognized as a moved one."""


@dataclass(frozen=True, slots=True)
class Move:
    """Move of a folder of the index.

    Attributes:
        old: the path known to the index.
        new: the current path of the folder.
    """

    old: Path
    new: Path

    @property
    def command(self) -> str:
        """Command that records the move in the index."""
        return f"idx sync {_quoted(self.new)} --moved-from {_quoted(self.old)}"


class FolderRecognizedError(McpLuceneError):
    """A new folder looks like a missing one of the index, and the user cannot be asked."""

    def __init__(self, move: Move) -> None:
        super().__init__(
            f"{decodable(str(move.new))} has the files of {decodable(str(move.old))}, a folder of "
            "the index that is missing; nothing was indexed. If the folder was renamed or moved: "
            f"{move.command}; if this is another one: idx sync {_quoted(move.new)} --not-moved"
        )


def recognized(
    paths: Iterable[Path], folders: IndexedFolders, states: Mapping[str, FileState]
) -> Iterator[Move]:
    """Find missing folders of an index whose files are in a new folder.

    The sizes of a sample of files are compared, then the content of a few, so that the time does
    not grow with the folder.

    Args:
        paths: the paths named in a command.
        folders: the folders of the index.
        states: the states of the indexed files, by document id.
    """
    missing = [folder for folder in folders if is_missing(folder.path)]
    new = [folder.path for folder in resolve(paths, folders, lambda _: False).folders]
    for path in new:
        if any(path == folder.path for folder in folders):
            continue
        found = next((folder for folder in missing if _is_mostly_at(path, folder, states)), None)
        if found is not None:
            missing.remove(found)
            yield Move(found.path, path)


def named_move(paths: Sequence[Path], moved_from: Path, folders: IndexedFolders) -> Move:
    """Return the move requested by the user.

    Args:
        paths: the folder under its current path, and no other path.
        moved_from: its former path.
        folders: the folders of the index.

    Raises:
        SourceFileError: the index has no such folder, the folder still exists, or the new path
            cannot replace it.
    """
    old = Path(os.path.abspath(moved_from))  # noqa: PTH100 - resolves no links
    if not any(folder.path == old for folder in folders):
        known = ", ".join(decodable(str(folder.path)) for folder in folders) or "none"
        raise SourceFileError(old, f"is not a folder of the index; its folders: {known}")
    if is_folder(old) and any(old.iterdir()):
        raise SourceFileError(
            old, "still exists, so no other folder can replace it; move its files first"
        )
    new = Path(os.path.abspath(paths[0]))  # noqa: PTH100 - resolves no links
    if not is_folder(new):
        raise SourceFileError(new, "is not a folder that can replace another one")
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
    """Return the folders of an index with moves applied, including folders within moved ones.

    An indexed folder at the target of a move is dropped: it has the same files.
    """
    for move in moves:
        # During a watch, the move has already been applied by the second sync.
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
    """Return a path with moves applied."""
    for move in moves:
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolves no links
        if absolute.is_relative_to(move.old):
            return move.new / absolute.relative_to(move.old)
    return path


def other_missing_folders(
    sources: Sources, states: Mapping[str, FileState]
) -> Iterator[MissingFolder]:
    """Yield the missing folders of the index that a command does not cover.

    Args:
        sources: the targets of the command.
        states: the states of the indexed files, by document id.
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
    """Return the command that records a move, with a placeholder for the new path."""
    return f"idx sync NEW --moved-from {_quoted(path)}"


def _is_mostly_at(path: Path, folder: IndexedFolder, states: Mapping[str, FileState]) -> bool:
    """Check whether most of a folder's files are present at a path."""
    files = sorted(
        (path_of(name, folder), state)
        for name, state in states.items()
        if state.folder == folder.prefix
    )
    sample = _evenly_spread(files, _MAX_COMPARED_SIZES)
    same_size = [
        (state.size, state.content_hash, name)
        for name, state in sample
        if _size(path / name) == state.size
    ]
    if not sample or len(same_size) <= len(sample) * _MIN_MATCHING_SHARE:
        return False
    same_size.sort(key=lambda file: file[0])
    left = _MAX_HASHED_BYTES
    to_hash = []
    for size, hash_, file in _evenly_spread(same_size, _MAX_COMPARED_HASHES):
        left -= size
        if left >= 0:
            to_hash.append((hash_, file))
    same = sum(_hash(path, file) == hash_ for hash_, file in to_hash)
    return same > len(to_hash) * _MIN_MATCHING_SHARE


def _evenly_spread(items: Sequence[Item], number: int) -> list[Item]:
    """Return a sample of a sequence, evenly spread over it."""
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
    except (OSError, IrregularFileError):
        return None


def _quoted(path: Path) -> str:
    return quoted(decodable(str(path)))
