"""The configuration file and the environment variables, read and checked."""

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, get_origin

from pydantic import SecretStr, ValidationError
from pydantic_core import ErrorDetails

from shared.errors import ConfigurationError
from shared.files.access import IrregularFileError, read_of_owner
from shared.messages import did_you_mean, reason_of, shortened
from shared.settings.defaults import VARIABLES
from shared.settings.model import CollectionSetting, Folder, Settings
from shared.settings.types import UNREPEATED

_CONFIGURATION: Final = "the configuration"
"""Source of a setting that is not written yet, in messages."""

_MAX_CONFIGURATION_BYTES: Final = 1_000_000


def value_in_file(file: Path, setting: str) -> Any:
    """Return the value that a file gives to a setting, a password as plain text, or None."""
    found = read(file)
    if setting not in found.model_fields_set:
        return None
    value = getattr(found, setting)
    return value.get_secret_value() if isinstance(value, SecretStr) else value


def check_name(name: str) -> None:
    if name not in VARIABLES:
        raise ConfigurationError(_CONFIGURATION, f"{name} is not a setting; {suggestion([name])}")


def value_from_text(name: str, values: Sequence[str]) -> Any:
    """Return the value of a setting from words of a command line as a configuration file has it."""
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
    """Read a configuration file; one that does not exist is empty."""
    return settings_in(content_of(text_of(file), file), file)


def text_of(file: Path) -> str:
    try:
        return read_of_owner(file, _MAX_CONFIGURATION_BYTES).decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise ConfigurationError(file, f"cannot be read: {reason_of(error)}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigurationError(file, f"line {line}: is not UTF-8 text") from error
    except IrregularFileError as error:
        raise ConfigurationError(file, f"cannot be read: {error}") from error


def content_of(text: str, file: Path) -> dict[str, Any]:
    """Return the unchecked values in the text of a configuration file."""
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ConfigurationError(file, "values are nested too deeply") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(file, _line_first(str(error))) from error
    except ValueError as error:
        raise ConfigurationError(file, "a number has too many digits") from error


def settings_in(content: Mapping[str, Any], file: Path) -> Settings:
    """Return the settings for the values of a configuration file."""
    try:
        return Settings.model_validate(content, strict=True, context={"folder": file.parent})
    except ValidationError as error:
        raise ConfigurationError(file, reasons(error, key)) from error


def _line_first(message: str) -> str:
    """Return a message of tomllib with the line at the beginning instead of the end."""
    found = re.fullmatch(r"(.*) \(at (line \d+), (column \d+)\)", message, re.DOTALL)
    return f"{found[2]}, {found[3]}: {found[1]}" if found else message


# Environment variables


def _paths(text: str) -> list[str]:
    return [os.path.abspath(path) for path in text.split(os.pathsep) if path]  # noqa: PTH100 - no link is resolved


def _folders(text: str) -> list[dict[str, str]]:
    return [{"path": path} for path in _paths(text)]


_PARSERS: Final[dict[str, Callable[[str], object]]] = {
    "collections": json.loads,
    "folders": _folders,
    "include": str.split,
    "exclude": str.split,
    "allow_secrets": _paths,
    "originals": _paths,
}
"""Parsers of variables with several values: paths are separated as in PATH, patterns by blanks."""


def read_environment() -> Settings:
    """Return the settings of the environment variables; an empty variable is none."""
    given: dict[str, Any] = {}
    for name, variable in VARIABLES.items():
        if text := os.environ.get(variable):
            try:
                given[name] = _PARSERS.get(name, str)(text)
            except (ValueError, RecursionError) as error:
                problem = f"{variable}: the value should be JSON: {error}"
                raise ConfigurationError("the environment", problem) from error
    try:
        return Settings.model_validate(given)
    except ValidationError as error:
        named = reasons(error, lambda location: VARIABLES[str(location[0])])
        raise ConfigurationError("the environment", named) from error


# Errors

NOT_A_SETTING: Final = "is not a setting"
"""Words about a key that this version does not know."""


def is_secret(name: str) -> bool:
    """Check whether the value of a setting must be hidden: it is or may contain a password."""
    secrets = ("password", "normalizer_url", "answer_url", "semantic")
    return any(word in name.lower() for word in secrets)


_MAX_SETTING_CHARACTERS: Final = 80

Location = Sequence[int | str]
"""Keys and positions that lead to a value."""


def key(location: Location) -> str:
    """Return a location in words: ``folders, number 1, path`` is in the first folder."""
    return ", ".join(
        f"number {part + 1}" if isinstance(part, int) else str(part) for part in location
    )


def reasons(error: ValidationError, named: Callable[[Location], str]) -> str:
    """Return all errors as text; `named` returns the name of the setting at a location."""
    return "; ".join(dict.fromkeys(_described(error.errors(), named)))


def _described(errors: Sequence[ErrorDetails], named: Callable[[Location], str]) -> Iterator[str]:
    for error in errors:
        location = error["loc"]
        name = named(location)
        match error["type"]:
            case "extra_forbidden":
                yield f"{name} {NOT_A_SETTING}; {suggestion(location)}"
            case "missing":
                yield f"{name} is missing"
            case kind if kind == UNREPEATED:
                yield f"{name}: {_message(error)}"
            case _:
                value = shortened(repr(error["input"]), _MAX_SETTING_CHARACTERS)
                yield f"{name}: {_message(error)}{'' if is_secret(name) else f' (it is {value})'}"


def _message(error: Mapping[str, Any]) -> str:
    message: str = error["msg"]
    return message.replace("Input ", "the value ", 1)


def suggestion(location: Location) -> str:
    """Return the names of the valid keys as a hint, the nearest one first."""
    within = CollectionSetting if location[0] == "collections" else Folder
    allowed = list(VARIABLES if len(location) == 1 else within.model_fields)
    return did_you_mean(str(location[-1]), allowed, f"the settings are {', '.join(allowed)}")
