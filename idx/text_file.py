"""Plain text in a file, byte by byte as it stands there."""

import codecs
from pathlib import Path
from typing import Final

from shared.errors import SourceFileError

_BYTE_ORDER_MARKS: Final = (
    # UTF-32 first: the mark of UTF-16 is the beginning of its mark.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)


def read_text(file: Path, encoding: str | None = None) -> str:
    """The text of a file, without its byte order mark.

    Args:
        file: the file.
        encoding: a codec of Python; None for what the byte order mark says, else UTF-8.

    Raises:
        SourceFileError: the bytes are not text in this encoding; the message says where.
        OSError: the file cannot be read.
    """
    data = file.read_bytes()
    return decode(data, file, encoding)


def decode(data: bytes, file: str | Path, encoding: str | None = None) -> str:
    """Bytes as text; `file` is the name for an error. See `read_text`."""
    chosen = encoding or next(
        (codec for mark, codec in _BYTE_ORDER_MARKS if data.startswith(mark)), "utf-8"
    )
    try:
        text = data.decode(chosen)
    except LookupError as error:
        raise SourceFileError(file, f"there is no encoding {chosen!r}") from error
    except UnicodeDecodeError as error:
        raise SourceFileError(
            file,
            f"is not {chosen} text: byte {data[error.start]:#04x} at offset {error.start}; "
            "name its encoding with --encoding, for example --encoding cp1252",
        ) from error
    except UnicodeError as error:
        raise SourceFileError(file, f"cannot be read as {chosen!r}: {error}") from error
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        raise SourceFileError(
            file, f"is binary, not text: a null character at offset {text.index(chr(0))}"
        )
    return text
