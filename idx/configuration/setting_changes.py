"""Changes of individual settings in the configuration file."""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tomlkit

from idx.configuration.configuration_file import locked, text_of, write
from idx.configuration.toml import with_value
from shared.errors import ConfigurationError
from shared.settings.file import check_name, content_of, settings_in, value_from_text


def setting_name(key: str) -> str:
    """Return the name of a setting, which may be spelled with hyphens.

    Raises:
        ConfigurationError: there is no such setting.
    """
    name = key.replace("-", "_").lower()
    check_name(name)
    return name


def set_setting(file: Path, name: str, values: Sequence[str]) -> Any:
    """Write a setting into the configuration file, creating the file if necessary.

    Args:
        file: the file.
        name: the setting.
        values: its value as text, see `value_from_text`.

    Returns:
        The value as stored in the file.

    Raises:
        ConfigurationError: the value is wrong, or the file is invalid or cannot be read or written.
    """
    _refuse_tables(name)
    value = value_from_text(name, values)
    with locked(file):
        text = text_of(file)
        content = content_of(text, file)
        changed = _text_with(text, name, value, is_new=name not in content)
        _replace(file, name, changed, content | {name: value})
    return value


def unset_setting(file: Path, key: str) -> tuple[str, bool]:
    """Remove a setting, or another key, from the configuration file.

    Args:
        file: the file.
        key: the setting, or the other key.

    Returns:
        The name, and whether it was in the file.

    Raises:
        ConfigurationError: it is neither a setting nor in the file; or the file is invalid or
            cannot be read or written.
    """
    with locked(file):
        text = text_of(file)
        content = content_of(text, file)
        name = key if key in content else setting_name(key)
        _refuse_tables(name)
        if name not in content:
            return name, False
        document = tomlkit.parse(text)
        document.remove(name)
        wanted = {other: value for other, value in content.items() if other != name}
        _replace(file, name, tomlkit.dumps(document), wanted)
    return name, True


def _refuse_tables(name: str) -> None:
    # They have parts of their own, which a single value cannot express.
    if name == "folders":
        raise ConfigurationError(
            "the configuration",
            "folders are changed with idx folders add and idx folders remove",
        )
    if name == "collections":
        raise ConfigurationError(
            "the configuration",
            "collections are changed with idx collections add and idx collections remove",
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
        # A bracket within an array or a string does not start a table.
        if _is_toml(before):
            lines = before.splitlines(keepends=True)
            while lines and lines[-1].lstrip().startswith("#"):
                lines.pop()
            while lines and not lines[-1].strip():
                lines.pop()
            return len("".join(lines))
    return len(text)


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _replace(file: Path, name: str, text: str, wanted: dict[str, Any]) -> None:
    """Write a text if its values are valid and equal those wanted."""
    settings_in(wanted, file)
    if content_of(text, file) != wanted:
        raise ConfigurationError(
            file, f"has {name} in a form that cannot be changed automatically; edit it by hand"
        )
    write(file, text)
