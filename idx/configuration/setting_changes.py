"""Settings in the configuration file, set and removed one by one."""

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
    """The name of a setting, which may be spelled with hyphens.

    Raises:
        ConfigurationError: there is no such setting.
    """
    name = key.replace("-", "_").lower()
    check_name(name)
    return name


def set_setting(file: Path, name: str, values: Sequence[str]) -> Any:
    """Write a setting into the configuration file, which is created if it does not exist.

    Args:
        file: the file.
        name: the setting.
        values: its value in words, see `value_from_text`.

    Returns:
        The value as the file has it.

    Raises:
        ConfigurationError: the value is wrong, or the file cannot be read or written, or something
            else in it is wrong.
    """
    _refuse_folders(name)
    value = value_from_text(name, values)
    with locked(file):
        text = text_of(file)
        content = content_of(text, file)
        changed = _text_with(text, name, value, is_new=name not in content)
        _replace(file, name, changed, content | {name: value})
    return value


def unset_setting(file: Path, key: str) -> tuple[str, bool]:
    """Remove a setting from the configuration file, or a key of it that is not a setting.

    Args:
        file: the file.
        key: the setting, or the other key.

    Returns:
        The name of it, and whether it was in the file.

    Raises:
        ConfigurationError: it is neither a setting nor in the file; or the file cannot be read or
            written, or something else in it is wrong.
    """
    with locked(file):
        text = text_of(file)
        content = content_of(text, file)
        name = key if key in content else setting_name(key)
        _refuse_folders(name)
        if name not in content:
            return name, False
        document = tomlkit.parse(text)
        document.remove(name)
        wanted = {other: value for other, value in content.items() if other != name}
        _replace(file, name, tomlkit.dumps(document), wanted)
    return name, True


def _refuse_folders(name: str) -> None:
    # Folders have patterns of their own, which one value cannot spell.
    if name == "folders":
        raise ConfigurationError(
            "the configuration",
            "folders are changed with idx folders add and idx folders remove",
        )


def _text_with(text: str, name: str, value: Any, *, is_new: bool) -> str:
    """A text with a value; one that cannot take it stays as it is."""
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
    """Where the settings end that stand before the first table and the comment above it."""
    for header in re.finditer(r"^[ \t]*\[", text, re.MULTILINE):
        before = text[: header.start()]
        # A bracket within an array or a string is not a table's.
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
    """Write a text if it says what is wanted, and all of it is right."""
    settings_in(wanted, file)
    if content_of(text, file) != wanted:
        raise ConfigurationError(
            file, f"has {name} in a form that only a person can change; edit it by hand"
        )
    write(file, text)
