"""Types of settings that need more than a type and a range."""

import codecs
import os
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo
from pydantic_core import PydanticCustomError

from shared.errors import IndexPathError
from shared.files.index_folder import ClusterPath, is_cluster
from shared.settings.defaults import KEY_VARIABLES

UNREPEATED: Final = "unrepeated"
"""Type of the error about a value that contains a password and must not be repeated."""


def url_problem(url: str, key_variable: str) -> str | None:
    """Return the problem of a server's address, without repeating it; None if it is valid."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in {"http", "https"} and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        is_address = False
    if not is_address:
        return "the value should be an address such as http://localhost:11434/v1"
    if parts.username or parts.password or parts.query or parts.fragment:
        return (
            "this address must not contain a user, password, query or fragment; put a key into "
            f"the variable {key_variable}"
        )
    return None


def is_loopback_name(name: str) -> bool:
    """Check whether a host name or address is a loopback one."""
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def _absolute_path(value: Any, info: ValidationInfo) -> Any:
    """Return a path with ``~`` expanded, relative to the folder of the file that contains it."""
    if isinstance(value, Path):
        return value
    if not isinstance(value, str):
        raise PydanticCustomError("value", "the value should be a path, in quotes")
    if not value or "\0" in value:
        raise PydanticCustomError("value", "a path must not be empty or contain a null character")
    if is_cluster(value):
        try:
            return ClusterPath(value)
        except IndexPathError as error:
            raise PydanticCustomError(UNREPEATED, "{problem}", {"problem": str(error)}) from error
    if info.context is None:
        return Path(value)
    try:
        path = Path(value).expanduser()
    except RuntimeError as error:
        raise PydanticCustomError("value", "there is no user with this name") from error
    # normpath, not resolve: a link is kept, since its target may change.
    return Path(os.path.normpath(info.context["folder"] / path))


def _checked_encoding(name: str) -> str:
    try:
        codecs.lookup(name)
    except LookupError as error:
        raise PydanticCustomError("value", "the encoding does not exist") from error
    return name


def _checked_url(url: str, info: ValidationInfo) -> str:
    if problem := url_problem(url, KEY_VARIABLES[str(info.field_name)]):
        # As an argument of the message, since the library treats braces in it as placeholders.
        raise PydanticCustomError("value", "{problem}", {"problem": problem})
    return url


def _checked_model(name: str, info: ValidationInfo) -> str:
    if name.startswith(("http://", "https://")):
        _checked_url(name.partition("#")[0], info)
    return name


# Lax, unlike the other types: a path is made from text.
LocatedPath = Annotated[Path, BeforeValidator(_absolute_path), Field(strict=False)]
"""Path; in the configuration file it may begin with ``~`` or be relative to the file's folder."""

EncodingName = Annotated[str, AfterValidator(_checked_encoding)]

Address = Annotated[str, AfterValidator(_checked_url)]

SentenceModelName = Annotated[str, Field(min_length=1), AfterValidator(_checked_model)]
"""Name of a sentence model, which may be an address with the name on its server."""
