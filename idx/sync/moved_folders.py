"""Renamed or moved folders of the index, as the user names them.

Document ids do not depend on the location of their folder. So if the index only learns the new
path, the folder keeps its ids and everything known about its files.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from idx.errors import SourceFileError
from idx.sync.events import MissingFolder
from idx.sync.targets import Sources
from shared.files.access import is_folder, is_missing
from shared.messages import decodable, quantity
from shared.model.document import FileState
from shared.model.folders import IndexedFolders
from shared.system.command_lines import quoted


@dataclass(frozen=True, slots=True)
class Move:
    """Move of a folder of the index from the path that it knows to the current one."""

    old: Path
    new: Path


def named_move(paths: Sequence[Path], moved_from: Path, folders: IndexedFolders) -> Move:
    """Return the move of a folder, the only path, that the user requested."""
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
    """Yield the missing folders of the index that a command does not cover."""
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


def _quoted(path: Path) -> str:
    return quoted(decodable(str(path)))
