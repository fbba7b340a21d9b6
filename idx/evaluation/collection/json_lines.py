"""JSON Lines files, such as those of BEIR."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from idx.evaluation.collection.input_file import Line, error_at

Entry = TypeVar("Entry", bound=BaseModel)


def entries(file: Path, lines: Iterable[Line], model: type[Entry]) -> Iterator[tuple[int, Entry]]:
    """Yield the object on each line with the number of the line.

    Args:
        file: the name for an error.
        lines: the lines, each with an object.
        model: the model of the objects.

    Raises:
        SourceFileError: a line is not valid JSON, or does not match the model.
    """
    for line in lines:
        try:
            yield line.number, model.model_validate(json.loads(line.text))
        except json.JSONDecodeError as error:
            reason = f"is not valid JSON: {error.msg} at column {error.colno}"
            raise error_at(file, line.number, reason) from error
        except ValidationError as error:
            raise error_at(file, line.number, _first(error)) from error
        except (ValueError, RecursionError) as error:
            raise error_at(file, line.number, f"is not JSON that can be read: {error}") from error


def _first(error: ValidationError) -> str:
    """Describe the first error of an object in a few words."""
    detail = error.errors(include_url=False)[0]
    if not detail["loc"]:
        return "is not a JSON object"
    key = str(detail["loc"][0])
    if detail["type"] == "missing":
        return f"has no {key!r}"
    return f"{key!r} is {type(detail['input']).__name__}, which it may not be"
