"""The paths a user names, as files with the ids that their documents get."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from idx.crawl import Selection, crawl
from shared.errors import SourceFileError


def named_files(
    paths: Sequence[Path], selection: Selection
) -> Iterator[tuple[str, Path] | SourceFileError]:
    """Find the files behind the paths.

    Args:
        paths: files and folders. A file that is named is taken, whatever the selection says.
        selection: which files of the folders are taken.

    Yields:
        The id and the path of each file. The id is a file's name, or its path within the folder
        given; where several folders are given, with the folder's name before it. An error
        stands for a folder that cannot be listed, and for a file whose id another one has.
    """
    prefixes = _prefixes([path for path in paths if path.is_dir()])
    taken: dict[str, Path] = {}
    for path in paths:
        for found in crawl(path, selection) if path in prefixes else [path]:
            if isinstance(found, SourceFileError):
                yield found
                continue
            name = found.name
            if path in prefixes:
                name = "/".join([*prefixes[path], *found.relative_to(path).parts])
            if name in taken:
                yield SourceFileError(found, f"has the same id as {taken[name]}, {name!r}")
                continue
            taken[name] = found
            yield name, found


def _prefixes(folders: Sequence[Path]) -> dict[Path, tuple[str, ...]]:
    """What stands before the ids of each folder's files: the last parts of its path, as few as
    tell it from the others; nothing for an only folder.
    """
    parts = {folder: folder.resolve().parts for folder in folders}
    if len(parts) == 1:
        return dict.fromkeys(folders, ())
    prefixes = {}
    for folder, path in parts.items():
        length = 1
        while Counter(other[-length:] for other in parts.values())[path[-length:]] > 1:
            if length >= len(path):
                break
            length += 1
        prefixes[folder] = path[-length:]
    return prefixes
