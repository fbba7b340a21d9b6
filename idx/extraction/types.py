"""Types of extraction results, common to all formats."""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

from shared.files.access import Identity
from shared.model.document import Heading, Metadata, Page
from shared.ocr.cache import ReadingCache
from shared.settings.defaults import (
    DEFAULT_MAX_MEGABYTES,
    DEFAULT_MAX_ROWS,
    DEFAULT_TIMEOUT,
    OcrMode,
)

MAX_DEPTH: Final = 3
"""Maximum number of containers within each other: a letter in an archive in a message."""

MAX_MEMBERS: Final = 100_000
"""Maximum number of files and messages that are read from one file."""

MIN_UNPACKED_BYTES: Final = 100_000_000
MAX_RATIO: Final = 50
"""Bytes that may be unpacked from every file, and the multiple of its size for a larger one."""


class BudgetError(Exception):
    """A limit on what is read from one file is reached; the text says which."""


class Budget:
    """What may still be unpacked from a file.

    Args:
        size: size of the file, in bytes.
        seconds: time after which no further member is read, in seconds.
    """

    def __init__(self, size: int, seconds: float) -> None:
        self._bytes = max(MIN_UNPACKED_BYTES, MAX_RATIO * size)
        self._limit = self._bytes
        self._members = MAX_MEMBERS
        self._end = time.monotonic() + seconds

    @property
    def seconds_left(self) -> float:
        """Time in which members are still read, in seconds, at least 0."""
        return max(self._end - time.monotonic(), 0)

    def take_member(self) -> None:
        """Count a member.

        Raises:
            BudgetError: there are too many, or the time is up.
        """
        self._members -= 1
        if self._members < 0:
            raise BudgetError(f"it has more than {MAX_MEMBERS:,} files")
        self._check_time()

    def take_bytes(self, count: int) -> None:
        """Count unpacked bytes.

        Raises:
            BudgetError: there are too many, or the time is up.
        """
        self._check_time()
        self._bytes -= count
        if self._bytes < 0:
            raise BudgetError(
                f"it unpacks to more than {self._limit // 1_000_000:,} MB, too much for its size"
            )

    def _check_time(self) -> None:
        if time.monotonic() > self._end:
            raise BudgetError("reading it took too long; allow more with --timeout")


@dataclass(frozen=True, slots=True)
class Embedded:
    """File within a file: in an archive, a message in a mailbox, an attachment.

    Attributes:
        name: its path within the file, with slashes, as the file says.
        read: function that returns its bytes; called at once or never.
        size: its size in bytes, as the file says; None if unknown.
        modified_ns: its modification time, in nanoseconds since 1970; 0 if unknown.
        read_as: the file name that its type is detected by, if not by its own.
        section: the headings above its text, the outermost first, such as the folders of a message.
    """

    name: str
    read: Callable[[], bytes]
    size: int | None = None
    modified_ns: int = 0
    read_as: str | None = None
    section: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Extracted:
    """Text and metadata extracted from a file.

    Attributes:
        text: the text. Text of a structured format is normalized (see
            `idx.extraction.text.cleaning`); plain text is exactly that of the file, except for
            letters that some formats write as escapes, and so are the lines of Markdown, except for
            some syntax in them.
        media_type: the MIME type, such as ``application/pdf``.
        is_own_text: whether `text` is the file's own text, so that its lines are those of the file.
        title: the title given in the file; None if there is none.
        metadata: the metadata given in the file: ``author``, ``subject``, ``keywords`` (a list),
            ``creator`` (the program), ``created`` and ``modified`` (ISO 8601), ``language``; only
            keys with a value. Markdown may add other keys.
        pages: the pages, slides or sheets, in order; empty for formats without them.
        headings: the headings of the text, in order.
        warnings: problems that a reader of the text should know, such as pages without text.
        members: the files within the file, to be read in this order; empty once they were read.
        scanned_pages: number of pages whose text OCR shall read later.
        hidden: texts in the file that a reader does not see, not yet normalized; not in `text`.
    """

    text: str
    media_type: str
    is_own_text: bool = False
    title: str | None = None
    metadata: Metadata = field(default_factory=dict)
    pages: tuple[Page, ...] = ()
    headings: tuple[Heading, ...] = ()
    warnings: tuple[str, ...] = ()
    members: Iterable[Embedded] = ()
    scanned_pages: int = 0
    hidden: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Ocr:
    """Recognition of text in pictures.

    Attributes:
        program: Tesseract, absolute.
        languages: the languages, by Tesseract's codes, with ``+`` between them.
        seconds: maximum time for one file, in seconds.
        mode: ``auto`` for pages without text, ``force`` for all pages, and for pictures.
        is_due: whether it is done now; else files that need it are marked, and read later.
        version: the version of Tesseract.
        cache: the readings of pages that the index knows; None for none.
        at_once: number of pages of one file that are read at the same time.
        counter: a file that grows by a byte with each page; None for none.
    """

    program: str
    languages: str
    seconds: float
    mode: OcrMode = "auto"
    is_due: bool = False
    version: str = ""
    cache: ReadingCache | None = None
    at_once: int = 1
    counter: str | None = None

    @property
    def engine(self) -> str:
        """What a reading depends on beside the page: the version and the languages."""
        return f"{self.version} {self.languages}"


OCR_TIME_FACTOR: Final = 10
"""Time limit of a file with OCR, as a multiple of that without it: a page takes two seconds."""

MEMBER_SHARE_OF_TIMEOUT: Final = 0.75
"""Share of the time limit after which no further file within a file is read, so that those that
were read are kept."""


@dataclass(frozen=True, slots=True)
class ExtractionOptions:
    """Options of text extraction.

    Attributes:
        encoding: a codec of Python for plain text; None to detect it.
        pdf_engine: ``auto`` (PDFium for plain pages, pdfplumber for pages with ruled tables),
            ``pdfium`` or ``pdfplumber``.
        pdf_password: a password to try on PDFs that need one.
        max_megabytes: maximum size of a file, in units of 10⁶ bytes.
        max_rows: maximum number of rows that are read of a sheet or a file of rows.
        table_seconds: time after which no further page of a PDF is read with tables, in seconds;
            the tables of later pages become lines of text.
        member_seconds: time after which no further file within a file is read, in seconds.
        hidden: whether files within files are read if their names begin with a dot.
        exclude: patterns as in a ``.gitignore`` of files within files that are not read.
        ocr: recognition of text in pictures; None for none.
        libreoffice: LibreOffice, absolute; None if it is not installed.
        allow_secrets: paths of files that are read although they hold secrets.
        own_files: identities of files that are never read.
    """

    encoding: str | None = None
    pdf_engine: str = "auto"
    pdf_password: str | None = None
    max_megabytes: float = DEFAULT_MAX_MEGABYTES
    max_rows: int = DEFAULT_MAX_ROWS
    table_seconds: float = DEFAULT_TIMEOUT / 2
    member_seconds: float = DEFAULT_TIMEOUT * MEMBER_SHARE_OF_TIMEOUT
    hidden: bool = False
    exclude: tuple[str, ...] = ()
    ocr: Ocr | None = None
    libreoffice: str | None = None
    allow_secrets: frozenset[str] = frozenset()
    own_files: frozenset[Identity] = frozenset()


def within_time(options: ExtractionOptions, seconds: float) -> ExtractionOptions:
    """Return options whose limits on time are no longer than some seconds."""
    ocr = options.ocr and replace(options.ocr, seconds=min(options.ocr.seconds, seconds))
    return replace(
        options,
        ocr=ocr,
        table_seconds=min(options.table_seconds, seconds),
        member_seconds=min(options.member_seconds, seconds),
    )


CHANGED: Final = "changed while it was read; add it again"
"""Reason for skipping a file that is still being written."""

VANISHED: Final = "there is no such file"
"""Reason for skipping a file that does not exist (any more)."""


@dataclass(frozen=True, slots=True)
class ReadFile:
    """Content of a file, and the state in which it was read.

    Attributes:
        extracted: text and metadata.
        language: ISO 639-1 code of its main language; None if it cannot be detected.
        size: size in bytes.
        modified_ns: modification time, in nanoseconds since 1970.
        content_hash: SHA-256 of the content, hexadecimal.
        is_settled: whether any change after the reading is certain to have a later time.
        members: the files within it, and within those, in order; empty for those of a member.
        has_more_members: whether there may be more, since reading them ended early.
        left_out: the number of files within it that were left out as secrets, or not reached; None
            if there is nothing within it.
    """

    extracted: Extracted
    language: str | None
    size: int
    modified_ns: int
    content_hash: str
    is_settled: bool
    members: tuple["Member", ...] = ()
    has_more_members: bool = False
    left_out: int | None = None

    @property
    def scanned_pages(self) -> int:
        """Number of pages and pictures in it, and within it, that OCR shall read later."""
        own = self.extracted.scanned_pages
        return own + sum(each.result.scanned_pages for each in self.members)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Failure to read a file.

    Attributes:
        kind: an error, fonts without letters, an unsupported type, or a suspected secret.
        reason: the reason, in words.
        scanned_pages: number of its pages and pictures that OCR shall read later.
    """

    kind: Literal["failed", "garbled", "unsupported", "secret"]
    reason: str
    scanned_pages: int = 0


@dataclass(frozen=True, slots=True)
class Member:
    """File within a file.

    Attributes:
        path: its path within the outermost file; ``!/`` stands between a container and its member.
        result: its content, or why it could not be read.
    """

    path: str
    result: ReadFile | Unreadable


def _no_limit() -> Budget:
    return Budget(0, math.inf)


@dataclass(frozen=True, slots=True)
class Source:
    """Input of a format's extraction function.

    Attributes:
        file: the file, for messages.
        data: its bytes.
        media_type: the MIME type according to its content or name.
        options: the options of extraction.
        budget: what may be unpacked from the outermost file.
    """

    file: Path
    data: bytes
    media_type: str
    options: ExtractionOptions
    budget: Budget = field(default_factory=_no_limit)
