"""Folders of the configuration file, changed without affecting the rest of the file."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR

import tomlkit
import typer

from idx.configuration.configuration_file import locked, text_of, write
from idx.configuration.folder_list import append, delete, entry, holds, set_values
from idx.crawl.selection import Selection
from idx.errors import SourceFileError
from shared.errors import ConfigurationError
from shared.files.patterns import check
from shared.messages import reason_of
from shared.settings.file import read
from shared.settings.model import Folder


def own_patterns(folder: Folder, ctx: typer.Context) -> Selection:
    """Return a folder's own patterns.

    Args:
        folder: the folder.
        ctx: context of the command, whose option ``--include`` overrides the folder's patterns to
            include.
    """
    source = ctx.get_parameter_source("include")
    is_on_command_line = source is not None and source.name == "COMMANDLINE"
    return Selection(() if is_on_command_line else folder.include, folder.exclude)


def add_folders(
    file: Path, paths: Sequence[Path], include: Sequence[str], exclude: Sequence[str]
) -> tuple[list[Path], list[Path]]:
    """Add folders to the file: all of them, or none if one is not a folder.

    Args:
        file: the configuration file, created if it does not exist.
        paths: the folders.
        include: the folders' own patterns of files to include.
        exclude: the folders' own patterns of files and folders to skip.

    Returns:
        The added folders, and those already present, which are not changed.

    Raises:
        SourceFileError: a path is not a folder.
        ConfigurationError: the file cannot be read or written, or it or a pattern is invalid.
    """
    check([*include, *exclude])
    added: list[Path] = []
    present: list[Path] = []
    with locked(file):
        remembered = read(file).folders
        known = {os.path.realpath(folder.path) for folder in remembered}
        for path in paths:
            folder = _absolute(path)
            _check_folder(path)
            is_new = os.path.realpath(folder) not in known
            (added if is_new else present).append(folder)
            known.add(os.path.realpath(folder))
        if added:
            document = tomlkit.parse(text_of(file))
            append(document, [entry(folder, include, exclude) for folder in added])
            _write(file, document, len(remembered) + len(added))
    return added, present


@dataclass(frozen=True, slots=True)
class Removed:
    """Result of removing folders.

    Attributes:
        removed: the removed folders.
        unknown: paths that were not in the file.
        inside: remaining folders that lie in a removed one.
        covered: removed folders that lie in a remaining one.
    """

    removed: list[Path]
    unknown: list[Path]
    inside: list[Path]
    covered: list[Path]


def remove_folders(file: Path, paths: Sequence[Path]) -> Removed:
    """Remove folders from the file; they need not exist any more.

    Args:
        file: the configuration file.
        paths: the folders.

    Raises:
        ConfigurationError: the file cannot be read or written, or is invalid.
    """
    unwanted = {os.path.realpath(_absolute(path)): path for path in paths}
    with locked(file):
        remembered = [folder.path for folder in read(file).folders]
        positions = [
            number
            for number, folder in enumerate(remembered)
            if os.path.realpath(folder) in unwanted
        ]
        if positions:
            document = tomlkit.parse(text_of(file))
            delete(document, positions)
            _write(file, document, len(remembered) - len(positions))
    removed = [remembered[number] for number in positions]
    kept = [folder for number, folder in enumerate(remembered) if number not in positions]
    found = set(map(os.path.realpath, removed))
    return Removed(
        removed=removed,
        unknown=[path for real, path in unwanted.items() if real not in found],
        inside=[folder for folder in kept if _lies_in_one_of(folder, removed)],
        covered=[folder for folder in removed if _lies_in_one_of(folder, kept)],
    )


def move_folder(file: Path, old: Path, new: Path) -> bool:
    """Change the path of a folder in the file, and keep its patterns.

    If the new path is already in the file, only that entry stays.

    Returns:
        Whether the old path was in the file.

    Raises:
        ConfigurationError: the file cannot be read or written, or is invalid.
    """
    with locked(file):
        remembered = [os.path.realpath(folder.path) for folder in read(file).folders]
        positions = [
            number for number, path in enumerate(remembered) if path == os.path.realpath(old)
        ]
        if positions:
            document = tomlkit.parse(text_of(file))
            if os.path.realpath(new) in remembered:
                delete(document, positions)
                _write(file, document, len(remembered) - len(positions))
            else:
                for number in positions:
                    set_values(document, number, {"path": str(new)})
                _write(file, document, len(remembered))
    return bool(positions)


def exclude_from_folder(file: Path, folder: Path, patterns: Sequence[str]) -> bool:
    """Add patterns to exclude to a folder of the file, and the folder if necessary.

    Returns:
        Whether the folder was in the file before.

    Raises:
        ConfigurationError: the file cannot be read or written, or is invalid.
    """
    check(patterns)
    with locked(file):
        remembered = read(file).folders
        document = tomlkit.parse(text_of(file))
        for number, known in enumerate(remembered):
            if os.path.realpath(known.path) == os.path.realpath(folder):
                new = [pattern for pattern in patterns if pattern not in known.exclude]
                set_values(document, number, {"exclude": [*known.exclude, *new]})
                _write(file, document, len(remembered))
                return True
        append(document, [entry(folder, (), patterns)])
        _write(file, document, len(remembered) + 1)
    return False


def _lies_in_one_of(folder: Path, others: Iterable[Path]) -> bool:
    path = Path(os.path.realpath(folder))
    return any(path.is_relative_to(os.path.realpath(other)) for other in others)


def _absolute(path: Path) -> Path:
    # Links are not resolved, because their targets may change.
    return Path(os.path.abspath(path))  # noqa: PTH100


def _check_folder(folder: Path) -> None:
    try:
        status = folder.stat()
    except FileNotFoundError as error:
        raise SourceFileError(folder, "does not exist") from error
    except OSError as error:
        raise SourceFileError(folder, f"cannot be examined: {reason_of(error)}") from error
    if not S_ISDIR(status.st_mode):
        raise SourceFileError(folder, "is not a folder")


def _write(file: Path, document: tomlkit.TOMLDocument, number: int) -> None:
    text = tomlkit.dumps(document)
    if not holds(text, number):
        raise ConfigurationError(
            file, "has its folders in a form that cannot be changed automatically; edit it by hand"
        )
    write(file, text)
