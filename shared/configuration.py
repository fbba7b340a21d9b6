"""The configuration file and the variables of the environment, read and checked."""

import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from shared.errors import ConfigurationError
from shared.setting_types import Address, EncodingName, LocatedPath
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


def _as_table(value: Any) -> Any:
    """A folder that may be named by its path only."""
    if not isinstance(value, str | dict):
        raise PydanticCustomError(
            "value", "the value should be a path, in quotes, or a table with a path"
        )
    return {"path": value} if isinstance(value, str) else value


_NOT_NEGATIVE: Final = Field(ge=0, allow_inf_nan=False)


class Folder(BaseModel):
    """A folder that idx sync and idx watch keep the index equal to.

    Attributes:
        path: the folder.
        include: patterns that stand in place of the general ones here, if there are any.
        exclude: patterns that hold here besides the general ones.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: LocatedPath
    include: list[str] = []
    exclude: list[str] = []


class Settings(BaseModel):
    """Every setting; see docs/configuration.md for what each means."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    index_path: LocatedPath = DEFAULT_INDEX_PATH
    wait: Annotated[float, _NOT_NEGATIVE] = DEFAULT_WAIT
    folders: list[Annotated[Folder, BeforeValidator(_as_table)]] = []
    include: list[str] = []
    exclude: list[str] = []
    hidden: bool = False
    follow_links: bool = False
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


@cache
def read(file: Path) -> Settings:
    """Read a configuration file; one that does not exist says nothing.

    Args:
        file: the file, absolute. What it says of paths is relative to its folder.

    Raises:
        ConfigurationError: the file cannot be read, or something in it is wrong.
    """
    try:
        content = tomllib.loads(file.read_text("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        content = {}
    except OSError as error:
        raise ConfigurationError(file, f"cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigurationError(file, f"line {line}: is not UTF-8 text") from error
    except RecursionError as error:
        raise ConfigurationError(file, "values are nested too deeply") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(file, _with_line_first(str(error))) from error
    try:
        return Settings.model_validate(content, strict=True, context={"folder": file.parent})
    except ValidationError as error:
        raise ConfigurationError(file, _reasons(error, _key)) from error


def _read_environment() -> Settings:
    """What the variables of the environment say, for the settings that have one."""
    # Takes a tenth of a second, which a command need not spend whose options typer reads.
    from shared.environment import EnvironmentSettings

    try:
        return EnvironmentSettings()
    except ValidationError as error:
        reasons = _reasons(error, lambda location: VARIABLES[str(location[0])])
        raise ConfigurationError("the environment", reasons) from error


def _with_line_first(message: str) -> str:
    """What tomllib says, beginning with the line that it names at the end."""
    found = re.fullmatch(r"(.*) \(at (line \d+), (column \d+)\)", message, re.DOTALL)
    return f"{found[2]}, {found[3]}: {found[1]}" if found else message


Location = Sequence[int | str]
"""The keys and positions that lead to a value."""


def _key(location: Location) -> str:
    """A location as people count: ``folders, number 1, path`` is in the first folder."""
    return ", ".join(
        f"number {part + 1}" if isinstance(part, int) else str(part) for part in location
    )


def _reasons(error: ValidationError, named: Callable[[Location], str]) -> str:
    return "; ".join(dict.fromkeys(_described(error.errors(), named)))


def _described(errors: Sequence[ErrorDetails], named: Callable[[Location], str]) -> Iterator[str]:
    for error in errors:
        location = error["loc"]
        name = named(location)
        match error["type"]:
            case "extra_forbidden":
                yield f"{name} is no setting; {_suggestion(location)}"
            case "missing":
                yield f"{name} is missing"
            case _:
                # A password, also one in an address, is no business of who reads the message.
                secret = any(word in name.lower() for word in ("password", "normalizer_url"))
                value = "" if secret else f" (it is {_shortened(error['input'])})"
                yield f"{name}: {_message(error)}{value}"


def _message(error: Mapping[str, Any]) -> str:
    message: str = error["msg"]
    return message.replace("Input ", "the value ", 1)


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"  # noqa: PLR2004 - one line


def _suggestion(location: Location) -> str:
    """The keys that there are, the nearest one first."""
    allowed = list(VARIABLES if len(location) == 1 else Folder.model_fields)
    near = get_close_matches(str(location[-1]), allowed, n=1)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(allowed)}"
