"""The configuration file and the variables of the environment, read and checked."""

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
)

from shared.errors import ConfigurationError
from shared.setting_errors import key, reasons, suggestion
from shared.setting_types import Address, EncodingName, Folder, FolderValue, LocatedPath
from shared.settings import (
    DEFAULT_INDEX_PATH,
    DEFAULT_MAX_MEGABYTES,
    DEFAULT_MAX_MEMORY,
    DEFAULT_NORMALIZER_TIMEOUT,
    DEFAULT_NORMALIZER_URL,
    DEFAULT_PDF_ENGINE,
    DEFAULT_TIMEOUT,
    DEFAULT_WAIT,
    MAX_JAVA_HEAP,
    MAX_MEMORY,
    MAX_NORMALIZER_TIMEOUT,
    MAX_TIMEOUT,
    MAX_WORKERS,
    MIN_JAVA_HEAP,
    MIN_MEMORY,
    MIN_NORMALIZER_TIMEOUT,
    MIN_TIMEOUT,
    VARIABLES,
    PdfEngineName,
    configuration_file,
    default_java_heap,
    default_workers,
)

_CONFIGURATION: Final = "the configuration"
"""Where a setting is meant to be that is not written yet, in messages."""

_NOT_NEGATIVE: Final = Field(ge=0, allow_inf_nan=False)


class Settings(BaseModel):
    """Every setting; see docs/configuration.md for what each means."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    index_path: LocatedPath = DEFAULT_INDEX_PATH
    wait: Annotated[float, _NOT_NEGATIVE] = DEFAULT_WAIT
    folders: list[FolderValue] = []
    include: list[str] = []
    exclude: list[str] = []
    hidden: bool = False
    follow_links: bool = False
    allow_secrets: list[LocatedPath] = []
    max_size: Annotated[float, _NOT_NEGATIVE] = DEFAULT_MAX_MEGABYTES
    encoding: EncodingName | None = None
    pdf_engine: PdfEngineName = DEFAULT_PDF_ENGINE
    pdf_password: SecretStr | None = None
    workers: int = Field(default_factory=default_workers, ge=1, le=MAX_WORKERS)
    timeout: Annotated[float, Field(ge=MIN_TIMEOUT, le=MAX_TIMEOUT)] = DEFAULT_TIMEOUT
    max_memory: Annotated[int, Field(ge=MIN_MEMORY, le=MAX_MEMORY)] = DEFAULT_MAX_MEMORY
    java_heap: int = Field(default_factory=default_java_heap, ge=MIN_JAVA_HEAP, le=MAX_JAVA_HEAP)
    normalize: bool = False
    normalizer_model: Annotated[str, Field(min_length=1)] | None = None
    normalizer_url: Address = DEFAULT_NORMALIZER_URL
    normalizer_timeout: Annotated[
        float, Field(ge=MIN_NORMALIZER_TIMEOUT, le=MAX_NORMALIZER_TIMEOUT)
    ] = DEFAULT_NORMALIZER_TIMEOUT


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting as it holds for commands without options.

    Attributes:
        name: its key in the configuration file.
        value: its value.
        origin: where the value comes from: ``default``, the name of a variable, or the path of
            the configuration file.
    """

    name: str
    value: Any
    origin: str


def settings() -> list[Setting]:
    """Every setting, the variables of the environment before the configuration file.

    Raises:
        ConfigurationError: the file cannot be read, or a value in it or in a variable is wrong.
    """
    file = configuration_file()
    in_file, in_environment = read(file), _read_environment()

    def setting(name: str, variable: str) -> Setting:
        if name in in_environment.model_fields_set:
            return Setting(name, getattr(in_environment, name), variable)
        origin = str(file) if name in in_file.model_fields_set else "default"
        return Setting(name, getattr(in_file, name), origin)

    return [setting(name, variable) for name, variable in VARIABLES.items()]


def remembered_folders() -> list[Folder]:
    """The folders that commands work on which are given none.

    Raises:
        ConfigurationError: the file cannot be read, or a value in it or in a variable is wrong.
    """
    is_in_environment = bool(os.environ.get(VARIABLES["folders"]))
    return (_read_environment() if is_in_environment else read(configuration_file())).folders


def value_in_file(file: Path, setting: str) -> Any:
    """What a configuration file says about a setting, a password as plain text.

    Args:
        file: the file.
        setting: a key of `VARIABLES`.

    Returns:
        The value; None if the file says nothing about it.

    Raises:
        ConfigurationError: the file cannot be read, or something in it is wrong.
    """
    found = read(file)
    if setting not in found.model_fields_set:
        return None
    value = getattr(found, setting)
    return value.get_secret_value() if isinstance(value, SecretStr) else value


def check_name(name: str) -> None:
    """Make sure that a name is that of a setting.

    Raises:
        ConfigurationError: it is not; the message names those that there are.
    """
    if name not in VARIABLES:
        raise ConfigurationError(_CONFIGURATION, f"{name} is not a setting; {suggestion([name])}")


def value_from_text(name: str, values: Sequence[str]) -> Any:
    """The value of a setting that is spelled as a person does on a command line.

    Args:
        name: a key of `VARIABLES`.
        values: the words: several for a list, one for anything else. A relative path is relative
            to the current folder.

    Returns:
        What a configuration file holds: text, a number, true or false, or a list of texts.

    Raises:
        ConfigurationError: the setting takes no such value.
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
    """Read a configuration file; one that does not exist says nothing.

    Args:
        file: the file, absolute. What it says of paths is relative to its folder.

    Raises:
        ConfigurationError: the file cannot be read, or something in it is wrong.
    """
    try:
        text = file.read_text("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        text = ""
    except OSError as error:
        raise ConfigurationError(file, f"cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigurationError(file, f"line {line}: is not UTF-8 text") from error
    return settings_in(content_of(text, file), file)


def content_of(text: str, file: Path) -> dict[str, Any]:
    """The values in the text of a configuration file, not checked.

    Raises:
        ConfigurationError: the text is not TOML.
    """
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ConfigurationError(file, "values are nested too deeply") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(file, _with_line_first(str(error))) from error


def settings_in(content: Mapping[str, Any], file: Path) -> Settings:
    """The settings that the values of a configuration file mean.

    Raises:
        ConfigurationError: a key is not a setting, or a value is wrong.
    """
    try:
        return Settings.model_validate(content, strict=True, context={"folder": file.parent})
    except ValidationError as error:
        raise ConfigurationError(file, reasons(error, key)) from error


def _read_environment() -> Settings:
    """What the variables of the environment say, for the settings that have one."""
    # Takes a tenth of a second, which a command need not spend whose options typer reads.
    from shared.environment import EnvironmentSettings

    try:
        return EnvironmentSettings()
    except ValidationError as error:
        named = reasons(error, lambda location: VARIABLES[str(location[0])])
        raise ConfigurationError("the environment", named) from error


def _with_line_first(message: str) -> str:
    """What tomllib says, beginning with the line that it names at the end."""
    found = re.fullmatch(r"(.*) \(at (line \d+), (column \d+)\)", message, re.DOTALL)
    return f"{found[2]}, {found[3]}: {found[1]}" if found else message
