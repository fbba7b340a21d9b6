"""Tasks of worker processes, which read one file at a time under limits."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Final, TypeVar

from idx.errors import SecretFileError, SourceFileError, UnsupportedFileError
from idx.extraction.containers.members import MemberReader, failure, is_examined_by_member
from idx.extraction.formats import extract_from
from idx.extraction.types import (
    CHANGED,
    VANISHED,
    Budget,
    ExtractionOptions,
    ReadFile,
    Unreadable,
)
from shared import system
from shared.analysis.detection import detect_language
from shared.files.access import OWN, identity_of
from shared.files.content import IrregularFileError, content_hash
from shared.files.location import Location, opened_file
from shared.files.secret_content import BYTES, found_secret
from shared.files.secret_files import is_allowed_secret
from shared.messages import reason_of

_MEGABYTE: Final = 1_000_000


def read_file(location: Location, options: ExtractionOptions) -> ReadFile:
    file = location.path
    with _opened(location) as stream:
        before = os.fstat(stream.fileno())
        if identity_of(before) in options.own_files:
            raise SecretFileError(file, OWN)
        now = time.time_ns()
        _check_size(file, before.st_size, options.max_megabytes)
        digest = content_hash(stream)
        is_allowed = is_allowed_secret(file, options.allow_secrets)
        stream.seek(0)
        beginning = stream.read(BYTES)
        stream.seek(0)
        if not is_allowed and not is_examined_by_member(beginning, file, options):
            _refuse_secret(file, beginning)
        budget = Budget(before.st_size, options.member_seconds)
        extracted = extract_from(stream, file, options, budget)
        if not is_allowed:
            # The bytes of many formats are compressed.
            _refuse_secret(file, extracted.text[:BYTES].encode(errors="replace"))
        members = MemberReader(options, budget, allow_secrets=is_allowed)
        extracted = members.read(extracted, "")
        left_out = members.left_out + members.is_partial
        after = os.fstat(stream.fileno())
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise SourceFileError(file, CHANGED)
    return ReadFile(
        extracted=extracted,
        language=detect_language(extracted.text),
        size=before.st_size,
        modified_ns=before.st_mtime_ns,
        content_hash=digest,
        is_settled=_is_settled(before.st_mtime_ns, now),
        members=tuple(members.found),
        has_more_members=members.is_partial,
        left_out=left_out if members.found or left_out else None,
    )


def hash_file(location: Location) -> str:
    with _opened(location) as stream:
        return content_hash(stream)


def _refuse_secret(file: Path, content: bytes) -> None:
    if secret := found_secret(content):
        raise SecretFileError(file, f"seems to contain {secret}")


@contextmanager
def _opened(location: Location) -> Iterator[BufferedReader]:
    """Open a file for a block, and convert errors of the system, then or later, to messages."""
    try:
        with opened_file(location) as stream:
            yield stream
    except FileNotFoundError as error:
        raise SourceFileError(location.path, VANISHED) from error
    except IrregularFileError as error:
        raise SourceFileError(location.path, str(error)) from error
    except OSError as error:
        reason = f"cannot be read: {reason_of(error)}"
        raise SourceFileError(location.path, reason) from error


def _is_settled(modified_ns: int, now: int) -> bool:
    """Check whether any change after a moment is certain to have a later time of modification."""
    return now - modified_ns > _tick(modified_ns)


def _tick(modified_ns: int) -> int:
    """Return the resolution of modification times on the file system, in nanoseconds.

    File systems store whole seconds (FAT only even-numbered ones), or use the kernel's clock, which
    ticks at least every 10 ms.
    """
    return 2_000_000_000 if modified_ns % 1_000_000_000 == 0 else 20_000_000


def _check_size(file: Path, size: int, max_megabytes: float) -> None:
    if size > max_megabytes * _MEGABYTE:
        raise SourceFileError(
            file,
            f"has {size / _MEGABYTE:.1f} MB, more than the {max_megabytes:g} MB that "
            "are allowed; allow more with --max-size MB",
        )


_Result = TypeVar("_Result")


def read_files(
    files: Sequence[Location], options: ExtractionOptions, seconds: float
) -> list[ReadFile | Unreadable]:
    """Read files in sequence; errors are values, which can be pickled, but for a MemoryError."""
    return _each(lambda file: read_file(file, options), files, seconds)


def hash_files(
    files: Sequence[Location],
    options: ExtractionOptions,  # noqa: ARG001 - as of `read_files`
    seconds: float,
) -> list[str | Unreadable]:
    """Hash the content of files in sequence; see `read_files`."""
    return _each(hash_file, files, seconds)


def _each(
    work: Callable[[Location], _Result], files: Sequence[Location], seconds: float
) -> list[_Result | Unreadable]:
    # The limit ends a worker that hangs, even if its parent is gone.
    used = int(time.process_time())
    system.limit_processor_time(used + int(seconds) + 2)
    return [_outcome(work, file) for file in files]


def _outcome(work: Callable[[Location], _Result], file: Location) -> _Result | Unreadable:
    try:
        return work(file)
    except UnsupportedFileError as error:
        return Unreadable("unsupported", error.reason)
    except SecretFileError as error:
        return Unreadable("secret", error.reason)
    except SourceFileError as error:
        return failure(error)
