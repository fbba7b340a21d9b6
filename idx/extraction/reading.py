"""A file on disk, opened once: its text and its state, both of what the descriptor leads to."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Final

from idx.extraction.extracted import ExtractionOptions
from idx.extraction.formats import extract_from
from idx.extraction.outcome import CHANGED, VANISHED, ReadFile
from idx.extraction.secret_content import BYTES, SecretFileError, found_secret
from idx.location import Location, opened_file
from idx.secret_files import is_allowed_secret
from shared.analysis.detection import detect_language
from shared.errors import SourceFileError
from shared.files.access import identity_of
from shared.files.content import content_hash
from shared.files.own_files import OWN

_MEGABYTE: Final = 1_000_000


def read_file(location: Location, options: ExtractionOptions) -> ReadFile:
    """Read a file whole.

    Raises:
        SourceFileError: the file is missing, unreadable, too large, protected, damaged, or
            changed while it was read.
        SecretFileError: it seems to hold a secret, or is a file of the program itself.
        UnsupportedFileError: it is of a kind that is not read.
    """
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
        if not is_allowed:
            _refuse_secret(file, stream.read(BYTES))
            stream.seek(0)
        extracted = extract_from(stream, file, options)
        if not is_allowed:
            # The bytes of many formats are compressed.
            _refuse_secret(file, extracted.text[:BYTES].encode(errors="replace"))
        after = os.fstat(stream.fileno())
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise SourceFileError(file, CHANGED)
    return ReadFile(
        extracted=extracted,
        language=detect_language(extracted.text),
        size=before.st_size,
        modified_ns=before.st_mtime_ns,
        content_hash=digest,
        is_settled=now - before.st_mtime_ns > _tick(before.st_mtime_ns),
    )


def hash_file(location: Location) -> str:
    """The hash of the bytes of a file; see `shared.files.access`.

    Raises:
        SourceFileError: the file is missing or unreadable.
    """
    with _opened(location) as stream:
        return content_hash(stream)


def _refuse_secret(file: Path, content: bytes) -> None:
    if secret := found_secret(content):
        raise SecretFileError(file, f"seems to hold {secret}")


@contextmanager
def _opened(location: Location) -> Iterator[BufferedReader]:
    """Open a file for a block, and say in words what the system has against it, then or later."""
    try:
        with opened_file(location) as stream:
            yield stream
    except FileNotFoundError as error:
        raise SourceFileError(location.path, VANISHED) from error
    except OSError as error:
        reason = f"cannot be read: {error.strerror or error}"
        raise SourceFileError(location.path, reason) from error


def _tick(modified_ns: int) -> int:
    """Nanoseconds within which two changes may bear the same time.

    File systems count in whole seconds (even ones on FAT) or by the kernel's clock, which ticks
    up to every 10 ms.
    """
    return 2_000_000_000 if modified_ns % 1_000_000_000 == 0 else 20_000_000


def _check_size(file: Path, size: int, max_megabytes: float) -> None:
    if size > max_megabytes * _MEGABYTE:
        raise SourceFileError(
            file,
            f"has {size / _MEGABYTE:.1f} MB, more than the {max_megabytes:g} MB that "
            "are allowed; allow more with --max-size MB",
        )
