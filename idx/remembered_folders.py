"""The folders in the configuration file, changed without touching what else stands in it."""

import os
import tomllib
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR
from typing import Any

import tomlkit
import typer
from tomlkit.items import AoT, Comment, Table, Trivia

from idx.configuration_file import locked, text_of, write
from idx.crawl import Selection
from idx.patterns import check
from shared.configuration import read
from shared.errors import ConfigurationError, SourceFileError
from shared.setting_types import Folder


def own_patterns(folder: Folder, ctx: typer.Context) -> Selection:
    """The patterns that a remembered folder has of its own.

    Args:
        folder: the folder.
        ctx: of the command, whose option ``--include`` beats the folder's patterns to include.
    """
    source = ctx.get_parameter_source("include")
    is_on_command_line = source is not None and source.name == "COMMANDLINE"
    return Selection(() if is_on_command_line else folder.include, folder.exclude)


def add_folders(
    file: Path, paths: Sequence[Path], include: Sequence[str], exclude: Sequence[str]
) -> tuple[list[Path], list[Path]]:
    """Remember folders: all of them, or none if one of them is not a folder.

    Args:
        file: the configuration file, which is created if it does not exist.
        paths: the folders.
        include: the folders' own patterns of files to take.
        exclude: the folders' own patterns of what to leave out.

    Returns:
        The folders that were added, and those that were there before and stay as they are.

    Raises:
        SourceFileError: a path is not a folder.
        ConfigurationError: the file cannot be read or written, or something in it is wrong; or a
            pattern is none.
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
            _append(document, [_entry(folder, include, exclude) for folder in added])
            _write(file, document, len(remembered) + len(added))
    return added, present


@dataclass(frozen=True, slots=True)
class Removed:
    """What became of folders that were to be forgotten.

    Attributes:
        removed: those that were.
        unknown: paths that were not among the remembered ones.
        inside: folders that stay remembered and lie in one that was removed.
        covered: those of the removed ones that lie in a folder that stays remembered.
    """

    removed: list[Path]
    unknown: list[Path]
    inside: list[Path]
    covered: list[Path]


def remove_folders(file: Path, paths: Sequence[Path]) -> Removed:
    """Forget folders, which need not exist any more.

    Args:
        file: the configuration file.
        paths: the folders.

    Raises:
        ConfigurationError: the file cannot be read or written, or something in it is wrong.
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
            _delete(document, positions)
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


def _lies_in_one_of(folder: Path, others: Iterable[Path]) -> bool:
    path = Path(os.path.realpath(folder))
    return any(path.is_relative_to(os.path.realpath(other)) for other in others)


def _absolute(path: Path) -> Path:
    # No link is resolved: it may lead elsewhere tomorrow.
    return Path(os.path.abspath(path))  # noqa: PTH100


def _check_folder(folder: Path) -> None:
    try:
        status = folder.stat()
    except FileNotFoundError as error:
        raise SourceFileError(folder, "does not exist") from error
    except OSError as error:
        raise SourceFileError(folder, f"cannot be looked at: {error.strerror}") from error
    if not S_ISDIR(status.st_mode):
        raise SourceFileError(folder, "is not a folder")


def _entry(folder: Path, include: Sequence[str], exclude: Sequence[str]) -> dict[str, object]:
    patterns = {"include": list(include), "exclude": list(exclude)}
    return {"path": str(folder)} | {name: globs for name, globs in patterns.items() if globs}


def _append(document: tomlkit.TOMLDocument, entries: Iterable[dict[str, object]]) -> None:
    """Add folders in the way in which the file lists them: as tables, or in an array."""
    if "folders" not in document:
        if document.as_string().strip():
            document.add(tomlkit.nl())
        document.add("folders", tomlkit.aot())
    folders = document["folders"]
    for entry in entries:
        if isinstance(folders, AoT):
            table = tomlkit.item(entry)
            table.trivia.indent = "\n" if len(folders) else ""
            folders.append(table)
        else:
            inline = tomlkit.inline_table()
            inline.update(entry)
            _append_to_array(folders, inline if len(entry) > 1 else entry["path"])


def _append_to_array(folders: Any, entry: object) -> None:
    trial = deepcopy(folders)
    trial.append(entry)
    if _holds(f"folders = {trial.as_string()}", len(trial)):
        folders.append(entry)
    else:
        # Behind several entries with a comment, the library writes into the comment.
        folders.add_line(entry, indent="  ")


def _holds(text: str, number: int) -> bool:
    """Whether a file with this text remembers so many folders."""
    try:
        return len(tomllib.loads(text).get("folders", ())) == number
    except tomllib.TOMLDecodeError:
        return False


def _delete(document: tomlkit.TOMLDocument, positions: Sequence[int]) -> None:
    folders = document["folders"]
    for position in reversed(positions):
        kept = _below_last_key(folders[position]) if isinstance(folders, AoT) else ""
        del folders[position]
        if kept.strip():
            _put_back(document, folders, position, kept)
    if isinstance(folders, AoT) and not folders:
        document.remove("folders")


def _below_last_key(table: Table) -> str:
    """What stands at the end of a table is about the next one, as a person reads it."""
    lines: list[str] = []
    for key, item in reversed(table.value.body):
        if key is not None:
            break
        lines.insert(0, item.as_string())
    return "".join(lines)


def _put_back(document: tomlkit.TOMLDocument, folders: AoT, position: int, text: str) -> None:
    """Put comments of a deleted table where they stood: before the next one, or at the end."""
    if position < len(folders):
        trivia = folders[position].trivia
        trivia.indent = (text if position else text.lstrip("\n")) + trivia.indent
        return
    end = folders[-1] if len(folders) else document
    for line in text.strip("\n").splitlines():
        end.add(Comment(Trivia(comment=line)) if line else tomlkit.nl())


def _write(file: Path, document: tomlkit.TOMLDocument, number: int) -> None:
    text = tomlkit.dumps(document)
    if not _holds(text, number):
        raise ConfigurationError(
            file, "has its folders in a form that only a person can change; edit it by hand"
        )
    write(file, text)
