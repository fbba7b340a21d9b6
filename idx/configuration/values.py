"""Values of the configuration file, and of other TOML files, changed in place.

Comments, order and layout of the rest are kept.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from idx.output.printing import warn
from shared.errors import ConfigurationError
from shared.files import content
from shared.messages import reason_of
from shared.settings.defaults import VARIABLES
from shared.settings.file import check_name, content_of, settings_in, value_from_text


@contextmanager
def locked(file: Path) -> Iterator[str]:
    """Lock the file against changes by other programs, and yield its text.

    Its folder is created if necessary. The text ends with a newline; it is empty if there is no
    file. The file must be readable by `shared.settings.file`.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(content.locked(file))
        except OSError as error:
            raise _not_written(file, error) from error
        text = file.read_bytes().decode("utf-8-sig") if file.exists() else ""
        yield text if text.endswith("\n") or not text else f"{text}\n"


def write(file: Path, text: str) -> None:
    """Replace the text of the file atomically."""
    try:
        content.write_atomically(file, text.encode())
    except UnicodeEncodeError as error:
        raise ConfigurationError(file, "cannot hold a path that is not UTF-8") from error
    except OSError as error:
        raise _not_written(file, error) from error


def _not_written(file: Path, error: OSError) -> ConfigurationError:
    return ConfigurationError(file, f"cannot be written: {reason_of(error)}")


def warn_of_variable(setting: str, file: Path, what: str | None = None) -> None:
    """Warn if an environment variable overrides a setting of the file."""
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
    with locked(file) as text:
        known = content_of(text, file)
        changed = _text_with(text, name, value, is_new=name not in known)
        _replace(file, name, changed, known | {name: value})
    return value


def unset_setting(file: Path, key: str) -> tuple[str, bool]:
    """Remove a setting or another key; return its name, and whether it was in the file."""
    import tomlkit

    with locked(file) as text:
        known = content_of(text, file)
        name = key if key in known else setting_name(key)
        _refuse_tables(name)
        if name not in known:
            return name, False
        document = tomlkit.parse(text)
        document.remove(name)
        wanted = {other: value for other, value in known.items() if other != name}
        _replace(file, name, tomlkit.dumps(document), wanted)
    return name, True


def _refuse_tables(name: str) -> None:
    # They have parts of their own, which a single value cannot express.
    if name in {"folders", "collections"}:
        raise ConfigurationError(
            "the configuration", f"{name} are changed with idx {name} add and idx {name} remove"
        )


def _text_with(text: str, name: str, value: Any, *, is_new: bool) -> str:
    """Return a text with a value set; unchanged if the value cannot be set."""
    import tomlkit

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


def _replace(file: Path, name: str, text: str, wanted: dict[str, Any]) -> None:
    """Write a text if its values are valid and equal those wanted."""
    settings_in(wanted, file)
    if content_of(text, file) != wanted:
        raise ConfigurationError(
            file, f"has {name} in a form that cannot be changed automatically; edit it by hand"
        )
    write(file, text)


def parse(text: str) -> dict[str, Any]:
    """Parse a TOML text; a ValueError gives the place and the reason."""
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("values are nested too deeply") from error


def with_value(text: str, path: Sequence[str], value: Any) -> str:
    """Return a text with a value set at a path, adding missing tables on the way.

    Every value on the way must be a table. A ValueError says that the layout of the text does not
    allow the value.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError
    from tomlkit.items import InlineTable, Table

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
