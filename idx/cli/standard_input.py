"""Document from standard input: extracted like a file, but indexed without the file's metadata."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, Final

from idx.errors import SourceFileError
from idx.output.printing import say
from shared.messages import reason_of
from shared.model.document import Document
from shared.model.metadata import FILE_EXTENSION, FILE_NAME, MODIFIED

STDIN: Final = "-"
"""File name that means standard input."""

NAME: Final = "standard input"
"""Name of standard input in messages."""

_STDIN_BLOCK_BYTES: Final = 2**20
_MEGABYTE: Final = 1_000_000


@contextmanager
def standard_input_as_file(max_megabytes: float) -> Iterator[Path]:
    """Copy standard input to a file that is deleted at the end of the block."""
    if sys.stdin.isatty():
        say("Type the text, and Ctrl-D on a line of its own to end it.")
    with TemporaryDirectory(prefix="idx-") as folder:
        file = Path(folder) / NAME
        with file.open("xb") as copy:
            _copy(copy, max_megabytes)
        yield file


def _copy(copy: BinaryIO, max_megabytes: float) -> None:
    left = int(max_megabytes * _MEGABYTE)
    is_read = False
    while not is_read:
        data = _read()
        # On a terminal, the user types the end of the input, and another read would wait for a
        # second one.
        is_read = len(data) < _STDIN_BLOCK_BYTES
        left -= len(data)
        if left < 0:
            raise SourceFileError(
                NAME,
                f"is larger than the allowed {max_megabytes:g} MB; allow more with --max-size MB",
            )
        copy.write(data)


def _read() -> bytes:
    try:
        return sys.stdin.buffer.read(_STDIN_BLOCK_BYTES)
    except OSError as error:
        raise SourceFileError(NAME, f"cannot be read: {reason_of(error)}") from error


def without_file(document: Document) -> Document:
    """Return a document without the metadata of the temporary file."""
    known = {
        key: value
        for key, value in document.metadata.items()
        if key not in (FILE_NAME, FILE_EXTENSION, MODIFIED)
    }
    return replace(document, metadata=known, file=None)
