"""Error messages for wrong settings."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from shared.messages import did_you_mean, shortened
from shared.settings.defaults import VARIABLES
from shared.settings.model import CollectionSetting, Folder
from shared.settings.types import UNREPEATED

NOT_A_SETTING: Final = "is not a setting"
"""Words about a key that this version does not know."""


def is_secret(name: str) -> bool:
    """Check whether the value of a setting must be hidden: it is or may contain a password."""
    secrets = ("password", "normalizer_url", "answer_url", "semantic")
    return any(word in name.lower() for word in secrets)


_MAX_SETTING_CHARACTERS: Final = 80
"""Maximum length of a wrong value in a message, in characters."""

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
                value = "" if is_secret(name) else f" (it is {_shortened(error['input'])})"
                yield f"{name}: {_message(error)}{value}"


def _message(error: Mapping[str, Any]) -> str:
    message: str = error["msg"]
    return message.replace("Input ", "the value ", 1)


def _shortened(value: Any) -> str:
    return shortened(repr(value), _MAX_SETTING_CHARACTERS)


def suggestion(location: Location) -> str:
    """Return the names of the valid keys as a hint, the nearest one first."""
    within = CollectionSetting if location[0] == "collections" else Folder
    allowed = list(VARIABLES if len(location) == 1 else within.model_fields)
    return did_you_mean(str(location[-1]), allowed, f"the settings are {', '.join(allowed)}")
