"""The configuration file, read and checked."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, get_origin

from pydantic import (
    SecretStr,
    ValidationError,
)

from shared.errors import ConfigurationError
from shared.files.content import IrregularFileError, read_of_owner
from shared.messages import reason_of
from shared.settings.defaults import VARIABLES
from shared.settings.errors import key, reasons, suggestion
from shared.settings.model import Settings

_CONFIGURATION: Final = "the configuration"
"""Source of a setting that is not written yet, in messages."""

_MAX_CONFIGURATION_BYTES: Final = 1_000_000
"""Maximum size of a configuration file, in bytes."""


def value_in_file(file: Path, setting: str) -> Any:
    """Return the value of a setting in a configuration file, a password as plain text.

    Args:
        file: the file.
        setting: a key of `VARIABLES`.

    Returns:
        The value; None if the file does not set it.

    Raises:
        ConfigurationError: the file cannot be read, or something in it is wrong.
    """
    found = read(file)
    if setting not in found.model_fields_set:
        return None
    value = getattr(found, setting)
    return value.get_secret_value() if isinstance(value, SecretStr) else value


def check_name(name: str) -> None:
    """Check that a name is that of a setting.

    Raises:
        ConfigurationError: it is not; the message lists the valid names.
    """
    if name not in VARIABLES:
        raise ConfigurationError(_CONFIGURATION, f"{name} is not a setting; {suggestion([name])}")


def value_from_text(name: str, values: Sequence[str]) -> Any:
    """Return the value of a setting from the words of a command line.

    Args:
        name: a key of `VARIABLES`.
        values: the words: several for a list, one for anything else. Paths are relative to the
            current folder.

    Returns:
        The value as in a configuration file: text, a number, true or false, or a list of texts.

    Raises:
        ConfigurationError: the value is not valid for the setting.
    """
    is_list = get_origin(Settings.model_fields[name].annotation) is list
    if not is_list and len(values) != 1:
        raise ConfigurationError(_CONFIGURATION, f"{name} takes one value, not {len(values)}")
    given = {name: [*values] if is_list else values[0]}
    try:
        found = getattr(Settings.model_validate(given, context={"folder": Path.cwd()}), name)
    except ValidationError as error:
        raise ConfigurationError(_CONFIGURATION, reasons(error, key)) from error
    match found:
        case SecretStr():
            return found.get_secret_value()
        case Path():
            return str(found)
        case [Path(), *_]:
            return [str(path) for path in found]
        case float() if found.is_integer():
            return int(found)
        case _:
            return found


@cache
def read(file: Path) -> Settings:
    """Read a configuration file; one that does not exist is empty.

    Args:
        file: the file, absolute. Paths in it are relative to its folder.

    Raises:
        ConfigurationError: the file cannot be read, or something in it is wrong.
    """
    try:
        text = read_of_owner(file, _MAX_CONFIGURATION_BYTES).decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        text = ""
    except OSError as error:
        raise ConfigurationError(file, f"cannot be read: {reason_of(error)}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigurationError(file, f"line {line}: is not UTF-8 text") from error
    except IrregularFileError as error:
        raise ConfigurationError(file, f"cannot be read: {error}") from error
    return settings_in(content_of(text, file), file)


def content_of(text: str, file: Path) -> dict[str, Any]:
    """Return the unchecked values in the text of a configuration file.

    Raises:
        ConfigurationError: the text is not TOML.
    """
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ConfigurationError(file, "values are nested too deeply") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(file, _line_first(str(error))) from error
    except ValueError as error:
        raise ConfigurationError(file, "a number has too many digits") from error


def settings_in(content: Mapping[str, Any], file: Path) -> Settings:
    """Return the settings for the values of a configuration file.

    Raises:
        ConfigurationError: a key is not a setting, or a value is wrong.
    """
    try:
        return Settings.model_validate(content, strict=True, context={"folder": file.parent})
    except ValidationError as error:
        raise ConfigurationError(file, reasons(error, key)) from error


def _line_first(message: str) -> str:
    """Return a message of tomllib with the line at the beginning instead of the end."""
    found = re.fullmatch(r"(.*) \(at (line \d+), (column \d+)\)", message, re.DOTALL)
    return f"{found[2]}, {found[3]}: {found[1]}" if found else message
