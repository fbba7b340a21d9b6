"""List of folders in the text of a configuration file, either an array or tables."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import AoT, Comment, Table, Trivia


def entry(folder: Path, include: Sequence[str], exclude: Sequence[str]) -> dict[str, object]:
    """Return the entry of a folder in the list."""
    patterns = {"include": list(include), "exclude": list(exclude)}
    return {"path": str(folder)} | {name: globs for name, globs in patterns.items() if globs}


def append(document: tomlkit.TOMLDocument, entries: Iterable[dict[str, object]]) -> None:
    """Append folders in the form already used by the file: as tables or in an array."""
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
    if holds(f"folders = {trial.as_string()}", len(trial)):
        folders.append(entry)
    else:
        # After several entries with a comment, the library would write into the comment.
        folders.add_line(entry, indent="  ")


def holds(text: str, number: int) -> bool:
    """Check whether the text of a file lists the given number of folders."""
    try:
        return len(tomllib.loads(text).get("folders", ())) == number
    except tomllib.TOMLDecodeError:
        return False


def set_values(document: tomlkit.TOMLDocument, position: int, values: Mapping[str, object]) -> None:
    """Change values of a folder's entry, and keep its other values."""
    # An array of tables or an array; the library's types do not show that both are sequences.
    folders: Any = document["folders"]
    if isinstance(folders[position], str):
        table = tomlkit.inline_table()
        table.update({"path": folders[position], **values})
        folders[position] = table if len(table) > 1 else table["path"]
    else:
        folders[position].update(values)


def delete(document: tomlkit.TOMLDocument, positions: Sequence[int]) -> None:
    """Delete folders from the list, and keep comments about others."""
    folders = document["folders"]
    for position in reversed(positions):
        kept = _after_last_key(folders[position]) if isinstance(folders, AoT) else ""
        del folders[position]
        if kept.strip():
            _reinsert(document, folders, position, kept)
    if isinstance(folders, AoT) and not folders:
        document.remove("folders")


def _after_last_key(table: Table) -> str:
    """Return the text at the end of a table, which describes the next table to a reader."""
    lines: list[str] = []
    for key, item in reversed(table.value.body):
        if key is not None:
            break
        lines.insert(0, item.as_string())
    return "".join(lines)


def _reinsert(document: tomlkit.TOMLDocument, folders: AoT, position: int, text: str) -> None:
    """Restore the comments of a deleted table: before the next one, or at the end."""
    if position < len(folders):
        trivia = folders[position].trivia
        trivia.indent = (text if position else text.lstrip("\n")) + trivia.indent
        return
    end = folders[-1] if len(folders) else document
    for line in text.strip("\n").splitlines():
        end.add(Comment(Trivia(comment=line)) if line else tomlkit.nl())
