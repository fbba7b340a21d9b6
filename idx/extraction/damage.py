"""Conversion of all errors that the parsers raise on damaged files to one type."""

import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from idx.errors import SourceFileError


def _lzma_errors() -> tuple[type[Exception], ...]:
    # The Python of a bundle has no LZMA; such archives are then damaged by zipfile's own error.
    try:
        from lzma import LZMAError
    except ImportError:
        return ()
    return (LZMAError,)


_DAMAGE: Final[tuple[type[Exception], ...]] = (
    *_lzma_errors(),
    ArithmeticError,
    EOFError,
    LookupError,
    RuntimeError,
    # Includes the errors of the XML parser.
    SyntaxError,
    ValueError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
)

_MAX_REASON: Final = 200


@contextmanager
def damage(file: Path, name: str) -> Iterator[None]:
    """Convert errors of a parser that damaged files cause to one that says so."""
    try:
        yield
    except RecursionError as error:
        raise SourceFileError(file, "is nested too deeply to read") from error
    except _DAMAGE as error:
        # The text of a KeyError is its message in quotation marks.
        is_key = isinstance(error, KeyError) and error.args
        said = str(error.args[0] if is_key else error).strip().partition("\n")[0]
        reason = said[:_MAX_REASON] or type(error).__name__
        raise SourceFileError(file, f"is a damaged {name}: {reason}") from error
