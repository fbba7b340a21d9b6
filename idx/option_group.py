"""Options that several commands take together, declared once as the fields of a dataclass."""

import inspect
from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any, TypeVar

Options = TypeVar("Options")


def takes(
    group: type[Options], parameter: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a command take the fields of a dataclass as options of its own.

    Args:
        group: a dataclass whose fields are annotated as options of typer.
        parameter: the command's parameter that gets an instance of it.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        names = [field.name for field in fields(group)]  # type: ignore[arg-type]  # a dataclass

        @wraps(command)
        def run(**arguments: Any) -> None:
            options = group(**{name: arguments.pop(name) for name in names})
            command(**arguments, **{parameter: options})

        own = inspect.signature(command).parameters
        parameters = []
        for name, each in own.items():
            if name == parameter:
                parameters += _keywords(group)
            else:
                parameters.append(each.replace(kind=inspect.Parameter.KEYWORD_ONLY))
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # PEP 362
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return decorate


def _keywords(group: type[Options]) -> list[inspect.Parameter]:
    """The fields of a dataclass as parameters."""
    signature = inspect.signature(group)
    return [
        each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in signature.parameters.values()
    ]
