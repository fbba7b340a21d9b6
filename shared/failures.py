"""The files of the indexed folders that are not in the index, and why.

They are kept beside the index in a file of their own: that a file cannot be read is true of the
file, whatever the index holds, and it is looked up without opening the index.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

from shared.errors import IndexPathError, IndexWriteError

FILE_NAME: Final = "failures.json"
"""In the index folder; Lucene leaves alone what it has not written."""

Kind = Literal["failed", "unsupported", "empty"]
"""Something is wrong with the file, or it is of a kind that is not read, or it has no text."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a file is not in the index, or only in an older version.

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
        IndexPathError: they cannot be read.
    """
    try:
        entries = json.loads((index / FILE_NAME).read_bytes())
        return {name: Failure(**entry) for name, entry in entries.items()}
    except FileNotFoundError:
        return {}
    except NotADirectoryError as error:
        raise IndexPathError(index, "it is a file, not a folder") from error
    except OSError as error:
        raise IndexPathError(index, f"{FILE_NAME}: {error.strerror or error}") from error
    except (ValueError, TypeError, AttributeError):
        # Only a note of what was tried: without it, those files are tried again.
        return {}


def save_failures(index: Path, failures: Mapping[str, Failure]) -> None:
    """Write the failures, all at once or not at all.

    Raises:
        IndexWriteError: the file system refused to write; those of before are still there.
    """
    text = json.dumps({name: asdict(failure) for name, failure in failures.items()})
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
        raise IndexWriteError(index, f"{FILE_NAME}: {error.strerror or error}") from error


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
        raise IndexWriteError(index, f"{FILE_NAME}: {error.strerror or error}") from error


def _for_the_owner(path: str, flags: int) -> int:
    return os.open(path, flags, mode=0o600)
