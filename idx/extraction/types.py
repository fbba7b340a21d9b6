"""Types of extraction results, common to all formats."""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal, TypeVar

from shared.files.access import Identity
from shared.model.document import Heading, Metadata, Page
from shared.ocr import ReadingCache
from shared.settings.defaults import (
    DEFAULT_MAX_MEGABYTES,
    DEFAULT_MAX_ROWS,
    DEFAULT_TIMEOUT,
    OcrMode,
)

MAX_DEPTH: Final = 3  # containers within each other: a letter in an archive in a message
MAX_MEMBERS: Final = 100_000  # files and messages that are read from one file
MAX_REASON: Final = 200  # characters of what a parser says of an error

MIN_UNPACKED_BYTES: Final = 100_000_000
MAX_RATIO: Final = 50
"""Bytes that may be unpacked from every file, and the multiple of its size for a larger one.

Real documents reach 30.
"""


def unpacked_limit(size: int) -> int:
    return max(MIN_UNPACKED_BYTES, MAX_RATIO * size)


class BudgetError(Exception):
    """A limit on what is read from one file is reached; the text says which."""


Item = TypeVar("Item")


def limited(items: Iterable[Item], most: int, what: str) -> Iterator[Item]:
    """Pass items of a file on; one more than the most is an error."""
    for number, item in enumerate(items):
        if number == most:
            raise BudgetError(f"it has more than {most:,} {what}")
        yield item


class Budget:
    """What may still be unpacked from a file, and read of its members."""

    def __init__(self, size: int, seconds: float) -> None:
        self._bytes = self._limit = unpacked_limit(size)
        self._members = MAX_MEMBERS
        self._end = time.monotonic() + seconds

    @property
    def seconds_left(self) -> float:
        """Time in which members are still read, in seconds, at least 0."""
        return max(self._end - time.monotonic(), 0)

    def take_member(self) -> None:
        self._members -= 1
        if self._members < 0:
            raise BudgetError(f"it has more than {MAX_MEMBERS:,} files")
        self._check_time()

    def take_bytes(self, count: int) -> None:
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
    """File within a file: in an archive, a message in a mailbox, an attachment."""

    name: str  # with slashes, as the file says
    read: Callable[[], bytes]  # called at once or never
    size: int | None = None  # as the file says
    modified_ns: int = 0  # 0 if unknown
    read_as: str | None = None  # the name that its type is detected by
    section: Sequence[str] = ()  # the headings above its text


@dataclass(frozen=True, slots=True)
class Extracted:
    """Text and metadata extracted from a file.

    Text of a structured format is normalized (see `idx.text.cleaning`); plain text is
    exactly that of the file, except for letters that some formats write as escapes, and so are the
    lines of Markdown, except for some syntax in them.
    """

    text: str
    media_type: str = ""  # known to the entry point, which detects it
    is_own_text: bool = False  # so that its lines are those of the file
    title: str | None = None
    metadata: Metadata = field(default_factory=dict)  # times in ISO 8601; only keys with a value
    pages: tuple[Page, ...] = ()
    headings: tuple[Heading, ...] = ()
    warnings: tuple[str, ...] = ()
    members: Iterable[Embedded] = ()  # read in this order
    scanned_pages: int = 0  # pages whose text OCR shall read later
    hidden: Sequence[str] = ()  # what readers do not see; not normalized


@dataclass(frozen=True, slots=True)
class Ocr:
    """Recognition of text in pictures by Tesseract."""

    program: str  # absolute
    languages: str  # Tesseract's codes, with + between them
    seconds: float  # for one file
    mode: OcrMode = "auto"
    is_due: bool = False  # else files that need it are marked, and read later
    version: str = ""
    cache: ReadingCache | None = None  # the pages that the index knows
    at_once: int = 1  # pages, of all files, or of one that is read
    counter: Path | None = None  # a file that grows by a byte with each page

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
    encoding: str | None = None  # of plain text
    pdf_engine: str = "auto"
    pdf_password: str | None = None
    max_megabytes: float = DEFAULT_MAX_MEGABYTES
    max_rows: int = DEFAULT_MAX_ROWS
    table_seconds: float = DEFAULT_TIMEOUT / 2  # later tables become lines of text
    member_seconds: float = DEFAULT_TIMEOUT * MEMBER_SHARE_OF_TIMEOUT  # later members are not read
    hidden: bool = False  # members whose names begin with a dot
    exclude: tuple[str, ...] = ()  # patterns of members that are not read
    ocr: Ocr | None = None
    libreoffice: str | None = None  # absolute; None if it is not installed
    allow_secrets: frozenset[str] = frozenset()
    own_files: frozenset[Identity] = frozenset()  # never read


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
    """Content of a file, and the state in which it was read."""

    extracted: Extracted
    language: str | None  # ISO 639-1
    size: int
    modified_ns: int
    content_hash: str
    is_settled: bool  # any later change has a later time
    members: tuple["Member", ...] = ()  # and those within them, in order
    has_more_members: bool = False  # reading them ended early
    left_out: int | None = None  # members that are secrets, or were not reached

    @property
    def scanned_pages(self) -> int:
        """Number of pages and pictures in it, and within it, that OCR shall read later."""
        own = self.extracted.scanned_pages
        return own + sum(each.result.scanned_pages for each in self.members)


@dataclass(frozen=True, slots=True)
class Unreadable:
    kind: Literal["failed", "garbled", "unsupported", "secret"]
    reason: str
    scanned_pages: int = 0  # pages and pictures that OCR shall read later

    @classmethod
    def unforeseen(cls, error: BaseException) -> "Unreadable":
        said = f"{type(error).__name__}: {error}".partition("\n")[0][:MAX_REASON]
        return cls("failed", f"its reader failed with an internal error, please report it: {said}")


@dataclass(frozen=True, slots=True)
class Member:
    """File within a file; in its path, ``!/`` stands between a container and its member."""

    path: str
    result: ReadFile | Unreadable


@dataclass(frozen=True, slots=True)
class Source:
    """Input of a format's extraction function."""

    file: Path  # for messages
    data: bytes
    media_type: str
    options: ExtractionOptions
    # Of the outermost file.
    budget: Budget = field(default_factory=lambda: Budget(0, math.inf))
