"""Failures: files of the indexed folders that are missing from the index or only partly in it.

They are kept in a separate file in the index folder: a failure is a property of the file, whatever
the index contains, and it can be looked up without opening the index.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from shared import system
from shared.backends import chosen
from shared.errors import IndexFileError, IndexPathError, IndexWriteError
from shared.files.access import IrregularFileError, read_regular, write_private
from shared.messages import reason_of

if TYPE_CHECKING:
    from pydantic import TypeAdapter

FILE_NAME: Final = "failures.json"
"""Name of the file in the index folder; Lucene does not touch files that it has not written."""

_MAX_FAILURE_LIST_BYTES: Final = 1_000_000_000
"""Maximum size of the file in bytes, enough for some millions of failures."""

_RETRY_NOTE: Final = ": the next sync tries its files again"

Kind = Literal["failed", "garbled", "unsupported", "empty", "partial", "secret"]
"""Kind of a failure: something is wrong with the file, its fonts do not say which letters they
show, its type is unsupported, it has no text, only a part of it could be read and indexed, or it is
or seems to contain a secret."""

ERRORS: Final[frozenset[Kind]] = frozenset({"failed", "garbled"})
"""Kinds of files that somebody should look after, so that a run with one has failed."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Reason why a file is not in the index, or only in an older version or in part."""

    folder: str | None  # the prefix of the indexed one; None for a file named by itself
    path: str  # within the folder, or the absolute one
    kind: Kind
    reason: str
    size: int  # in bytes, when it was tried
    modified_ns: int  # the time of its last change at that point, since 1970
    tried: str  # ISO 8601 in UTC
    container: str | None = None  # the id of the file's document, if it is about something in it


def load_failures(index: Path) -> dict[str, Failure]:
    """Return the failures by document id."""
    if other := chosen(index, "load_failures"):
        found: dict[str, Failure] = other(index)
        return found
    try:
        content = read_regular(index / FILE_NAME, _MAX_FAILURE_LIST_BYTES)
    except FileNotFoundError:
        return {}
    except IrregularFileError as error:
        raise IndexFileError(index, FILE_NAME, str(error), _RETRY_NOTE) from error
    except NotADirectoryError as error:
        raise IndexPathError(index, "it is a file, not a folder") from error
    except OSError as error:
        raise IndexPathError(index, f"{FILE_NAME}: {reason_of(error)}") from error
    return parsed_failures(index, content)


def parsed_failures(index: Path, content: str | bytes) -> dict[str, Failure]:
    """Return the failures in a text that `dump_failures` has written."""
    try:
        return _failures().validate_json(content, strict=True)
    except ValueError as error:
        reason = "it is not a list of failures"
        raise IndexFileError(index, FILE_NAME, reason, _RETRY_NOTE) from error


@cache
def _failures() -> "TypeAdapter[dict[str, Failure]]":
    # Importing pydantic takes a tenth of a second, which a command can save if no file failed.
    from pydantic import TypeAdapter

    return TypeAdapter(dict[str, Failure])


def save_failures(
    index: Path, failures: Mapping[str, Failure], before: Mapping[str, Failure] | None = None
) -> None:
    """Write the failures atomically."""
    if other := chosen(index, "save_failures"):
        other(index, failures, before)
        return
    text, file = dump_failures(failures), index / FILE_NAME
    try:
        # The name never changes, so that the next run overwrites what a killed one left behind.
        write_private(index / f"{FILE_NAME}.new", file, text.encode("ascii"))
    except OSError as error:
        raise IndexWriteError(index, f"{FILE_NAME}: {reason_of(error)}") from error


def dump_failures(failures: Mapping[str, Failure]) -> str:
    """Return failures as a JSON text in ASCII."""
    known = {
        _decodable(name): asdict(replace(failure, reason=_decodable(failure.reason)))
        for name, failure in failures.items()
    }
    return json.dumps(known)


def _decodable(text: str) -> str:
    """Return a text without halves of surrogate pairs, which the content of a file may have."""
    return text.encode(errors="replace").decode()


def delete_failures(index: Path) -> None:
    try:
        system.delete(index / FILE_NAME)
    except FileNotFoundError:
        return
    except OSError as error:
        raise IndexWriteError(index, f"{FILE_NAME}: {reason_of(error)}") from error
