"""Error messages about the arguments of a call."""

import inspect
from collections.abc import Callable
from typing import Any, Final

from pydantic import ValidationError

from shared.messages import did_you_mean, shortened

_MAX_ARGUMENT_CHARACTERS: Final = 60

_MAX_LISTED_ERRORS: Final = 5
"""Maximum number of errors listed for one call: a client can send any number of unknown
arguments."""

_FILLED_IN: Final = frozenset({"context", "confirmation"})
"""Parameters filled in by the server, not by clients."""


def describe(error: ValidationError, function: Callable[..., Any]) -> str:
    """Return a description of the invalid arguments and their allowed values.

    Args:
        error: pydantic's error.
        function: the function that was called; its parameters are the arguments, except those that
            the server fills in.
    """
    known = [name for name in inspect.signature(function).parameters if name not in _FILLED_IN]
    details = error.errors(include_url=False)
    described = [_describe_one(detail, known) for detail in details[:_MAX_LISTED_ERRORS]]
    if more := len(details) - len(described):
        described.append(f"and {more:,} more")
    return "; ".join(described)


def _describe_one(detail: Any, known: list[str]) -> str:
    name = ".".join(str(part) for part in detail["loc"])
    match detail["type"]:
        case "extra_forbidden" | "unexpected_keyword_argument" if len(detail["loc"]) == 1:
            hint = did_you_mean(name, known, f"there are {', '.join(known) or 'none'}")
            return f"there is no argument {name!r}; {hint}"
        case "missing":
            return f"the argument {name!r} is missing"
    return f"the argument {name!r} is {_shown(detail['input'])}: {_lower(detail['msg'])}"


def _shown(value: Any) -> str:
    return shortened(repr(value), _MAX_ARGUMENT_CHARACTERS)


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]
