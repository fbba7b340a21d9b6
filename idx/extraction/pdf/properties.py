"""Properties of a PDF from its document information dictionary."""

import ctypes
import re
from typing import Any, Final

from idx.extraction.text.properties import one_line, properties
from shared.model.document import Metadata

_DATE: Final = re.compile(
    r"D:(?P<year>\d{4})(?:(?P<month>\d\d)(?:(?P<day>\d\d)"
    r"(?:(?P<hour>\d\d)(?P<minute>\d\d)?(?P<second>\d\d)?"
    r"(?P<zone>[Z+-](?:(?P<hours>\d\d)'?(?P<minutes>\d\d)?'?)?)?)?)?)?"
)
"""Pattern of a PDF date (ISO 32000-1, 7.9.4), in which all but the year may be missing."""


def read_properties(document: Any) -> tuple[str | None, Metadata]:
    """Return the title and the other properties of a document.

    Args:
        document: an open document of PDFium.

    Returns:
        The title, or None, and the metadata; the creator is the program that wrote the text, or
        else the one that produced the PDF.
    """
    metadata = properties(
        author=_value(document, "Author"),
        subject=_value(document, "Subject"),
        keywords=_value(document, "Keywords"),
        creator=one_line(_value(document, "Creator")) or _value(document, "Producer"),
        created=_iso_time(_value(document, "CreationDate")),
        modified=_iso_time(_value(document, "ModDate")),
    )
    return one_line(_value(document, "Title")), metadata


def _value(document: Any, name: str) -> str:
    """Return a property, or "" if it is missing."""
    from pypdfium2 import raw

    size = raw.FPDF_GetMetaText(document, name.encode(), None, 0)
    buffer = ctypes.create_string_buffer(size)
    raw.FPDF_GetMetaText(document, name.encode(), buffer, size)
    # pypdfium2 raises an error on lone surrogates.
    return buffer.raw.decode("utf-16-le", errors="ignore").rstrip("\0")


def _iso_time(value: str) -> str:
    """Convert a PDF date to ISO 8601; other values, some already in ISO 8601, are unchanged."""
    found = _DATE.fullmatch(value.strip())
    if not found:
        return value
    parts = found.groupdict(default="00")
    date = "-".join(found[name] for name in ("year", "month", "day") if found[name])
    if not found["hour"]:
        return date
    zone = found["zone"] or ""
    offset = f"{zone[0].replace('Z', '+')}{parts['hours']}:{parts['minutes']}" if zone else ""
    return f"{date}T{parts['hour']}:{parts['minute']}:{parts['second']}{offset}"
