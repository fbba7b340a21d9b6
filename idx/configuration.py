"""The configuration file: settings, folders and collections, changed without losing comments."""

import os
import re
import tomllib
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from stat import S_ISDIR
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, InlineTable, Table

from idx.errors import SourceFileError
from idx.output.printing import warn
from shared.errors import ConfigurationError
from shared.files import access
from shared.files.patterns import check
from shared.messages import reason_of
from shared.model.filters import as_collection
from shared.settings.defaults import VARIABLES
from shared.settings.file import check_name, content_of, settings_in, text_of, value_from_text


@contextmanager
def locked(file: Path) -> Iterator[str]:
    """Lock the file against changes by other programs, and yield its text.

    Its folder is created if necessary. The text ends with a newline; it is empty if there is no
    file.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(access.locked(file))
        except OSError as error:
            raise _not_written(file, error) from error
        text = text_of(file)
        yield text if text.endswith("\n") or not text else f"{text}\n"


def write(file: Path, text: str) -> None:
    try:
        access.write_atomically(file, text.encode())
    except UnicodeEncodeError as error:
        raise ConfigurationError(file, "cannot hold a path that is not UTF-8") from error
    except OSError as error:
        raise _not_written(file, error) from error


def _not_written(file: Path, error: OSError) -> ConfigurationError:
    return ConfigurationError(file, f"cannot be written: {reason_of(error)}")


def warn_of_variable(setting: str, file: Path, what: str | None = None) -> None:
    variable = VARIABLES[setting]
    if os.environ.get(variable):
        warn(f"{variable} is set and overrides {what or setting} in {file}")


def setting_name(key: str) -> str:
    name = key.replace("-", "_").lower()
    check_name(name)
    return name


def set_setting(file: Path, name: str, values: Sequence[str]) -> Any:
    """Write a setting, and return its value as stored; see `value_from_text`."""
    _refuse_tables(name)
    value = value_from_text(name, values)
    if name in ("include", "exclude"):
        check(values)
    with locked(file) as text:
        known = content_of(text, file)
        changed = _text_with(text, name, value, is_new=name not in known)
        _save(file, name, changed, known | {name: value})
    return value


def unset_setting(file: Path, key: str) -> tuple[str, bool]:
    """Remove a setting or another key; return its name, and whether it was in the file."""
    with locked(file) as text:
        known = content_of(text, file)
        name = key if key in known else setting_name(key)
        _refuse_tables(name)
        if name not in known:
            return name, False
        document = tomlkit.parse(text)
        document.remove(name)
        _save(file, name, tomlkit.dumps(document), document.unwrap())
    return name, True


def _refuse_tables(name: str) -> None:
    # They have parts of their own, which a single value cannot express.
    if name in {"folders", "collections"}:
        raise ConfigurationError(
            "the configuration", f"{name} are changed with idx {name} add and idx {name} remove"
        )


def _text_with(text: str, name: str, value: Any, *, is_new: bool) -> str:
    """Return a text with a value set; unchanged if the value cannot be set."""
    if is_new:
        end = _end_of_settings(text)
        newline = "\r\n" if "\r\n" in text else "\n"
        line = tomlkit.dumps({name: value}).rstrip("\n") + newline
        gap = newline if text[end:].lstrip(" \t").startswith(("[", "#")) else ""
        return f"{text[:end]}{line}{gap}{text[end:]}"
    try:
        return with_value(text, [name], value)
    except ValueError:
        return text


def _end_of_settings(text: str) -> int:
    """Return the end of the settings before the first table and the comment above it."""
    for header in re.finditer(r"^[ \t]*\[", text, re.MULTILINE):
        before = text[: header.start()]
        try:
            tomllib.loads(before)
        except tomllib.TOMLDecodeError:
            # A bracket within an array or a string does not start a table.
            continue
        lines = before.splitlines(keepends=True)
        while lines and lines[-1].lstrip().startswith("#"):
            lines.pop()
        while lines and not lines[-1].strip():
            lines.pop()
        return len("".join(lines))
    return len(text)


def _save(file: Path, what: str, text: str, wanted: Mapping[str, Any]) -> None:
    """Write a text if its values are valid, and those wanted."""
    found = None
    # The library writes into the comments of some arrays.
    with suppress(ConfigurationError):
        found = content_of(text, file)
    if found != wanted:
        raise ConfigurationError(
            file, f"has {what} in a form that cannot be changed automatically; edit it by hand"
        )
    settings_in(wanted, file)
    write(file, text)


def parse(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("values are nested too deeply") from error


def with_value(text: str, path: Sequence[str], value: Any) -> str:
    """Return a text with a value set at a path, adding missing tables on the way.

    Every value on the way must be a table. A ValueError says that the layout of the text does not
    allow the value.
    """
    document = tomlkit.parse(text)
    *tables, last = path
    table: Any = document
    try:
        for key in tables:
            if key not in table:
                # Headings are needed only for the tables within it.
                table[key] = tomlkit.table(is_super_table=True)
            table = table[key]
        item = tomlkit.item(value, table if isinstance(table, InlineTable) else None)
        if isinstance(item, Table) and text.strip():
            item.trivia.indent = "\n"
        table[last] = item
    except TOMLKitError as error:
        raise ValueError(str(error)) from error
    changed = tomlkit.dumps(document)
    if text.count("\r\n") == text.count("\n") > 0:
        changed = changed.replace("\r\n", "\n").replace("\n", "\r\n")
    return changed


def add_folders(
    file: Path, paths: Sequence[Path], include: Sequence[str], exclude: Sequence[str]
) -> tuple[list[Path], list[Path]]:
    """Add folders to the file with patterns of their own: all of them, or none if one is wrong.

    Returns the added folders, and those already present, which are not changed.
    """
    check([*include, *exclude])
    patterns = {"include": list(include), "exclude": list(exclude)}
    own = {name: globs for name, globs in patterns.items() if globs}
    added: list[Path] = []
    present: list[Path] = []
    with _folders(file) as (remembered, tables):
        known = {*map(os.path.realpath, remembered)}
        for path in paths:
            folder = _absolute(path)
            _check_folder(path)
            if (real := os.path.realpath(folder)) in known:
                present.append(folder)
                continue
            known.add(real)
            added.append(folder)
            entry = {"path": str(folder)} | own
            if isinstance(tables, AoT):
                _append_table(tables, entry)
            else:
                inline = tomlkit.inline_table()
                inline.update(entry)
                tables.append(inline if own else entry["path"])
    return added, present


def remove_folders(file: Path, paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Remove folders from the file; they need not exist any more.

    Returns the removed folders, and the paths of none.
    """
    unwanted = {os.path.realpath(_absolute(path)): path for path in paths}
    with _folders(file) as (remembered, tables):
        removed = _delete(tables, remembered, unwanted)
    found = {*map(os.path.realpath, removed)}
    return removed, [path for real, path in unwanted.items() if real not in found]


def move_folder(file: Path, old: Path, new: Path) -> bool:
    """Change the path of a folder in the file, and keep its patterns.

    If the new path is already in the file, only that entry stays. Returns whether the old one was
    there.
    """
    with _folders(file) as (remembered, tables):
        known = [*map(os.path.realpath, remembered)]
        here = os.path.realpath(old)
        if os.path.realpath(new) in known:
            return bool(_delete(tables, remembered, {here}))
        for position, path in enumerate(known):
            if path == here and isinstance(tables[position], str):
                tables[position] = str(new)
            elif path == here:
                tables[position].update({"path": str(new)})
    return here in known


@contextmanager
def _folders(file: Path) -> Iterator[tuple[list[Path], Any]]:
    """Lend the folders of the file and its list of them, and write what becomes of the list.

    It is an array of tables or an array; the library's types do not show that both are sequences.
    """
    with locked(file) as text:
        # What was read before may be older than the text under the lock.
        remembered = [folder.path for folder in settings_in(content_of(text, file), file).folders]
        document = tomlkit.parse(text)
        tables = _tables(document, "folders")
        yield remembered, tables
        if isinstance(tables, AoT) and not tables:
            document.remove("folders")
        if (content := document.unwrap()) != content_of(text, file):
            _save(file, "its folders", tomlkit.dumps(document), content)


def _delete(tables: Any, folders: Sequence[Path], unwanted: Container[str]) -> list[Path]:
    """Delete the folders with unwanted real paths from the list, and return them."""
    deleted = [folder for folder in folders if os.path.realpath(folder) in unwanted]
    for position in reversed(range(len(folders))):
        if folders[position] in deleted:
            del tables[position]
    return deleted


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


def change_collection(file: Path, name: str, wanted: Mapping[str, object] | None) -> bool:
    """Replace or add the collection with a name, or remove it; return whether there was one."""
    with locked(file) as text:
        names = [known.get("name") for known in content_of(text, file).get("collections", [])]
        if wanted is None and name not in names:
            return False
        document = tomlkit.parse(text)
        tables = _tables(document, "collections")
        if not isinstance(tables, AoT):
            raise ConfigurationError(
                file,
                "has its collections in an array; write each as a table [[collections]], or edit "
                "it by hand",
            )
        if wanted is None:
            del tables[names.index(name)]
        elif name in names:
            tables[names.index(name)] = tomlkit.item(wanted)
        else:
            _append_table(tables, wanted)
        if not tables:
            document.remove("collections")
        content = document.unwrap()
        for setting in settings_in(content, file).collections:
            as_collection(setting)
        _save(file, "its collections", tomlkit.dumps(document), content)
    return name in names


def _tables(document: tomlkit.TOMLDocument, key: str) -> object:
    """Return a list of the file, an empty one of tables if it has none."""
    if key not in document:
        if document.as_string().strip():
            document.add(tomlkit.nl())
        document.add(key, tomlkit.aot())
    return document[key]


def _append_table(tables: AoT, entry: Mapping[str, object]) -> None:
    table = tomlkit.item(dict(entry))
    table.trivia.indent = "\n" if len(tables) else ""
    tables.append(table)
