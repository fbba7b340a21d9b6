"""What is read from a file, whatever its format."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from shared.files.access import Identity
from shared.model.document import Metadata, Section
from shared.settings.defaults import DEFAULT_MAX_MEGABYTES, DEFAULT_TIMEOUT


@dataclass(frozen=True, slots=True)
class Extracted:
    """The text of a file and what the file says about itself.

    Attributes:
        text: the text. What came out of a format is normalized (see
            `idx.extraction.text.cleaning`); a plain text is as it stands in the file, and so are
            the lines of Markdown but for some marks in them.
        media_type: the MIME type, such as ``application/pdf``.
        is_own_text: whether `text` is the file's own text, so that its lines are lines of the
            file.
        title: the title that the file gives itself; None if it has none.
        metadata: what the file says of itself: ``author``, ``subject``, ``keywords`` (a list),
            ``creator`` (the program), ``created`` and ``modified`` (ISO 8601); only what is there.
            Markdown may add keys of its own.
        sections: the pages, slides or sheets, in order; empty for formats without any.
        warnings: what a reader of the text should know, such as pages without text.
    """

    text: str
    media_type: str
    is_own_text: bool = False
    title: str | None = None
    metadata: Metadata = field(default_factory=dict)
    sections: tuple[Section, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExtractionOptions:
    """How files are read.

    Attributes:
        encoding: a codec of Python for plain text; None to find it out.
        pdf_engine: ``auto`` (plain pages by PDFium, pages with ruled tables by pdfplumber),
            ``pdfium`` or ``pdfplumber``.
        pdf_password: tried on PDFs that need one.
        max_megabytes: the largest file, in units of 10⁶ bytes.
        table_seconds: how long a PDF may be read when the next page with tables begins; the
            tables of that and of later pages are lines of text.
        allow_secrets: paths of files that are read though they hold secrets.
        own_files: identities of files that are never read.
    """

    encoding: str | None = None
    pdf_engine: str = "auto"
    pdf_password: str | None = None
    max_megabytes: float = DEFAULT_MAX_MEGABYTES
    table_seconds: float = DEFAULT_TIMEOUT / 2
    allow_secrets: frozenset[str] = frozenset()
    own_files: frozenset[Identity] = frozenset()


CHANGED: Final = "changed while it was read; add it again"
"""The reason why a file that is still being written is not taken."""

VANISHED: Final = "there is no such file"
"""The reason why a file is not taken that is no longer there, or never was."""


@dataclass(frozen=True, slots=True)
class ReadFile:
    """What was read from a file, and the state in which it was read.

    Attributes:
        extracted: text and metadata.
        language: ISO 639-1 code of its main language; None where it cannot be told.
        size: bytes.
        modified_ns: time of its last change, in nanoseconds since 1970.
        content_hash: SHA-256 of the bytes, hexadecimal.
        is_settled: whether a change made after the file was read bears a later time for sure.
    """

    extracted: Extracted
    language: str | None
    size: int
    modified_ns: int
    content_hash: str
    is_settled: bool


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a file has no text.

    Attributes:
        kind: whether something is wrong with it, it is of a kind that is not read, or it seems to
            hold a secret.
        reason: in words.
    """

    kind: Literal["failed", "unsupported", "secret"]
    reason: str


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
