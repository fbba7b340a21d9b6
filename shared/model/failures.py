"""The files of the indexed folders that are not in the index, or only in part, and why.

They are kept beside the index in a file of their own: that a file cannot be read is true of the
file, whatever the index holds, and it is looked up without opening the index.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from shared.errors import IndexFileError, IndexPathError, IndexWriteError
from shared.files.content import IrregularFileError, read_regular
from shared.messages import reason_of

if TYPE_CHECKING:
    from pydantic import TypeAdapter

FILE_NAME: Final = "failures.json"
"""In the index folder; Lucene leaves alone what it has not written."""

_MAX_BYTES: Final = 1_000_000_000
"""Room for some millions of files."""

_WITHOUT: Final = ": the next idx sync tries its files again"

Kind = Literal["failed", "unsupported", "empty", "partial", "secret"]
"""Something is wrong with the file, or it is of an unsupported kind, or it has no text, or only a
part of it could be read, which is in the index; or it is a secret, or seems to hold one."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a file is not in the index, or only in an older version or in part.

    Attributes:
        folder: the prefix of its indexed folder; None for a file named by itself.
        path: its path within the folder, or the absolute one.
        kind: what sort of reason it is.
        reason: in words.
        size: its bytes when it was tried.
        modified_ns: time of its last change then, in nanoseconds since 1970.
        tried: when it was tried, ISO 8601 in UTC.
    """

    folder: str | None
    path: str
    kind: Kind
    reason: str
    size: int
    modified_ns: int
    tried: str


def load_failures(index: Path) -> dict[str, Failure]:
    """The failures by document id.

    Args:
        index: the index folder.

    Raises:
        IndexFileError: the file is not one that this project has written.
        IndexPathError: they cannot be read.
    """
    try:
        content = read_regular(index / FILE_NAME, _MAX_BYTES)
    except FileNotFoundError:
        return {}
    except IrregularFileError as error:
        raise IndexFileError(index, FILE_NAME, str(error), _WITHOUT) from error
    except NotADirectoryError as error:
        raise IndexPathError(index, "it is a file, not a folder") from error
    except OSError as error:
        raise IndexPathError(index, f"{FILE_NAME}: {reason_of(error)}") from error
    try:
        return _failures().validate_json(content, strict=True)
    except ValueError as error:
        raise IndexFileError(index, FILE_NAME, _reason(error), _WITHOUT) from error


@cache
def _failures() -> "TypeAdapter[dict[str, Failure]]":
    # Takes a tenth of a second, which a command need not spend where no file failed.
    from pydantic import TypeAdapter

    return TypeAdapter(dict[str, Failure])


def _reason(error: ValueError) -> str:
    """The first of the reasons that pydantic gives, in one line."""
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False, include_input=False)[0]
    return f"it is not a list of failures: {first['msg']}"


def save_failures(index: Path, failures: Mapping[str, Failure]) -> None:
    """Write the failures, all at once or not at all.

    Raises:
        IndexWriteError: the file system refused to write; those of before are still there.
    """
    # A reason quotes what was found in a file, which may hold half of a surrogate pair.
    known = {
        name: replace(failure, reason=failure.reason.encode(errors="replace").decode())
        for name, failure in failures.items()
    }
    text = json.dumps({name: asdict(failure) for name, failure in known.items()})
    # Always the same name: what a killed run leaves behind, the next one writes over.
    temporary = index / f"{FILE_NAME}.new"
    try:
        try:
            with open(temporary, "w", encoding="ascii", opener=_for_the_owner) as stream:
                stream.write(text)
            temporary.replace(index / FILE_NAME)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise IndexWriteError(index, f"{FILE_NAME}: {reason_of(error)}") from error


def replace_failures(index: Path, failures: Mapping[str, Failure]) -> None:
    """Have an index know these failures and no others.

    Raises:
        IndexWriteError: the file system refused; those of before are still there.
    """
    if failures:
        save_failures(index, failures)
    else:
        delete_failures(index)


def delete_failures(index: Path) -> None:
    """Forget all failures.

    Raises:
        IndexWriteError: the file system refused.
    """
    try:
        (index / FILE_NAME).unlink(missing_ok=True)
    except OSError as error:
        raise IndexWriteError(index, f"{FILE_NAME}: {reason_of(error)}") from error


def _for_the_owner(path: str, flags: int) -> int:
    return os.open(path, flags, mode=0o600)
