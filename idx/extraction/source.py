"""A file whose bytes are read and whose type is known, on its way to the reader of its format."""

from dataclasses import dataclass
from pathlib import Path

from idx.extraction.extracted import ExtractionOptions


@dataclass(frozen=True, slots=True)
class Source:
    """What the reader of a format gets.

    Attributes:
        file: the file, for messages.
        data: its bytes.
        media_type: the MIME type that its content or its name says.
        options: how files are read.
    """

    file: Path
    data: bytes
    media_type: str
    options: ExtractionOptions
