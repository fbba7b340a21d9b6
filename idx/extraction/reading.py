"""A file on disk, read once: its text and its state."""

import os
import time
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Final

from idx.content_hash import content_hash
from idx.extraction.extracted import ExtractionOptions
from idx.extraction.formats import extract
from idx.extraction.outcome import CHANGED, VANISHED, ReadFile
from shared.analysis.language_detection import detect_language
from shared.errors import SourceFileError

_MEGABYTE: Final = 1_000_000


def read_file(file: Path, options: ExtractionOptions) -> ReadFile:
    """Read a file whole.

    Raises:
        SourceFileError: the file is missing, unreadable, too large, protected, damaged, or
            changed while it was read.
        UnsupportedFileError: it is of a kind that is not read.
    """
    try:
        before = file.stat()
        now = time.time_ns()
        _check(file, before, options.max_megabytes)
        digest = content_hash(file)
        extracted = extract(file, options)
        after = file.stat()
    except FileNotFoundError as error:
        raise SourceFileError(file, VANISHED) from error
    except OSError as error:
        raise SourceFileError(file, f"cannot be read: {error.strerror or error}") from error
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


def _tick(modified_ns: int) -> int:
    """Nanoseconds within which two changes may bear the same time.

    File systems count in whole seconds (even ones on FAT) or by the kernel's clock, which ticks
    up to every 10 ms.
    """
    return 2_000_000_000 if modified_ns % 1_000_000_000 == 0 else 20_000_000


def _check(file: Path, status: os.stat_result, max_megabytes: float) -> None:
    if S_ISDIR(status.st_mode):
        raise SourceFileError(file, "is a folder; name the files in it")
    if not S_ISREG(status.st_mode):
        raise SourceFileError(file, "is not a regular file")
    if status.st_size > max_megabytes * _MEGABYTE:
        raise SourceFileError(
            file,
            f"has {status.st_size / _MEGABYTE:.1f} MB, more than the {max_megabytes:g} MB that "
            "are allowed; allow more with --max-size MB",
        )
