"""Resolution of the paths named by a user to folders of the index.

A document id is the prefix of the folder followed by the path of the file within it. The first
folder of an index has an empty prefix; each later one is named by the last parts of its path. To
keep ids unique, a file of the first folder whose path begins with another folder's prefix gets
``./`` before its path, and a ``!`` that ends a name is doubled (`shared.model.document`).
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from idx.crawl.walk import Scopes
from idx.errors import SourceFileError
from idx.sync.events import MissingFolder
from shared.files.access import is_folder, is_missing
from shared.messages import decodable, quantity
from shared.model.document import FileState, marked_path, unmarked_path
from shared.model.folders import IndexedFolder, IndexedFolders, prefixes_collide
from shared.system.shell import joined, quoted


@dataclass(frozen=True, slots=True)
class Source:
    """Folder of the index covered by a command, or the scopes in it that a user named, or that
    changed.
    """

    folder: IndexedFolder
    scopes: tuple[str, ...] | None = None
    named: tuple[str, ...] = ()  # the parts that a user named, besides the folder itself

    @property
    def shown(self) -> str:
        """Folder, or the parts of it named by a user, as arguments of a command."""
        scopes = (self.scopes and self.named) or ("",)
        return joined(decodable(str(self.folder.path / scope)) for scope in scopes)


@dataclass(frozen=True, slots=True)
class Sources:
    """Targets of a command: all folders of the index, those covered, and files in none of them."""

    folders: IndexedFolders
    sources: list[Source]
    files: list[Path]
    errors: list[SourceFileError]


def resolve(
    paths: Iterable[Path], known: IndexedFolders, is_taken: Callable[[str], bool]
) -> Sources:
    """Resolve paths to folders of the index, and assign prefixes to new folders.

    A path in a folder of the index covers that part of the folder. A new folder that contains
    folders of the index covers these, too.
    """
    absolute = list(dict.fromkeys(Path(os.path.abspath(path)) for path in paths))  # noqa: PTH100 - resolves no links
    errors = [
        SourceFileError(path, "there is no such file or folder")
        for path in absolute
        if is_missing(path) and _containing(path, known) is None
    ]
    new = [path for path in absolute if is_folder(path) and _containing(path, known) is None]
    # A folder within another new one is a part of it.
    new = [path for path in new if not any(_is_within(path, other) for other in new)]
    folders = IndexedFolders((*known, *_named(new, known, is_taken)))
    files = []
    scopes: dict[IndexedFolder, list[str]] = {}
    for path in absolute:
        if (folder := _containing(path, folders)) is not None:
            scopes.setdefault(folder, []).append(_relative(path, folder.path))
        elif not is_missing(path):
            files.append(path)
        for inner in known:
            if _is_within(inner.path, path):
                scopes.setdefault(inner, []).append("")
    sources = [
        Source(folder, None if "" in within else tuple(within), tuple(filter(None, within)))
        for folder, within in scopes.items()
    ]
    return Sources(folders, sources, files, errors)


def part_of(sources: Sources, changed: Collection[Path]) -> Sources:
    """Restrict the targets of a command to changed paths.

    Links are not resolved: the target of a link that leads out of a folder is not a part of it.
    """
    parts = []
    for source in sources.sources:
        paths = {
            "" if path == source.folder.path else path.relative_to(source.folder.path).as_posix()
            for path in changed
            if path.is_relative_to(source.folder.path)
        }
        if source.scopes is not None:
            named, found = Scopes(source.scopes), Scopes(paths)
            whole = {scope for scope in source.scopes if "" in paths or found.holds(scope)}
            paths = whole | {path for path in paths if named.holds(path)}
        if paths:
            parts.append(Source(source.folder, None if "" in paths else tuple(paths)))
    return Sources(sources.folders, parts, [], [])


def document_id(folder: IndexedFolder, path: str, folders: IndexedFolders) -> str:
    r"""Return the document id of a file; bytes of its path that are not UTF-8 become ``\xNN``."""
    path = marked_path(decodable(path) if not path.isascii() else path)
    if folder.prefix:
        return folder.prefix + path
    taken = any(other.prefix and path.startswith(other.prefix) for other in folders)
    return f"./{path}" if taken else path


def path_of(source_document: str, folder: IndexedFolder) -> str:
    """Return the path of a document's file within its folder; the inverse of `document_id`."""
    return unmarked_path(source_document.removeprefix(folder.prefix or "./"))


def _named(
    new: Sequence[Path], known: IndexedFolders, is_taken: Callable[[str], bool]
) -> Iterable[IndexedFolder]:
    if len(new) == 1 and not known.folders:
        yield IndexedFolder("", new[0])
        return
    taken = [folder.prefix for folder in known if folder.prefix]
    for path in new:
        ends = [other.parts for other in new if other != path]
        parts = [marked_path(decodable(part)) for part in path.parts[1:]] or ["root"]
        tails = (
            "/".join(parts[-length:]) + "/"
            for length in range(1, len(parts) + 1)
            if not any(other[-length:] == path.parts[-length:] for other in ends)
        )
        numbered = (f"{parts[-1]}-{number}/" for number in count(2))
        prefix = next(
            candidate
            for candidates in (tails, numbered)
            for candidate in candidates
            if not any(prefixes_collide(candidate, other) for other in taken)
            and not is_taken(candidate)
        )
        taken.append(prefix)
        yield IndexedFolder(prefix, path)


def _containing(path: Path, folders: IndexedFolders) -> IndexedFolder | None:
    """Return the innermost folder that contains a path or equals it."""
    within = [folder for folder in folders if _is_within(path, folder.path, or_same=True)]
    return max(within, key=lambda folder: len(folder.path.parts), default=None)


def _is_within(path: Path, folder: Path, *, or_same: bool = False) -> bool:
    inner, outer = os.path.realpath(path), os.path.realpath(folder)
    return inner.startswith(os.path.join(outer, "")) or (or_same and inner == outer)  # noqa: PTH118 - of real paths


def _relative(path: Path, folder: Path) -> str:
    relative = os.path.relpath(os.path.realpath(path), os.path.realpath(folder))
    return "" if relative == "." else Path(relative).as_posix()


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


def relocated(folders: IndexedFolders, move: Move | None) -> IndexedFolders:
    """Return the folders of an index after a move, including folders within the moved one.

    An indexed folder at the target of the move is dropped: it has the same files.
    """
    # Another sync may have applied the move meanwhile.
    if move is None or all(folder.path != move.old for folder in folders):
        return folders
    others = (folder for folder in folders if folder.path != move.new)
    return IndexedFolders(
        tuple(replace(folder, path=moved(folder.path, move)) for folder in others)
    )


def moved(path: Path, move: Move | None) -> Path:
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolves no links
    if move is None or not absolute.is_relative_to(move.old):
        return path
    return move.new / absolute.relative_to(move.old)


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
    return f"idx sync NEW --moved-from {_quoted(path)}"


def _quoted(path: Path) -> str:
    return quoted(decodable(str(path)))
