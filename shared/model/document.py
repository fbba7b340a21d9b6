"""Documents to be indexed, the limits that they must meet, and the chunks that they become."""

import math
import re
from collections.abc import Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final, Literal

from shared.errors import InvalidDocumentError
from shared.model.schema import CONTAINER, RESERVED_KEYS
from shared.settings.defaults import Layout

MEMBER_MARK: Final = "!/"
"""Mark in an id between a file and what is within it: ``mail.eml!/offer.pdf``."""


_MARKS: Final = re.compile(r"(?<!!)!+(?=/|\Z)")
_DOUBLED: Final = re.compile(r"(?<!!)(!+)\1(?=/|\Z)")


def marked_path(path: str) -> str:
    """Return a path as it stands in ids: each ``!`` that ends a part of it is doubled.

    So no file or folder has the id of what is within another file.
    """
    return _MARKS.sub(r"\g<0>\g<0>", path) if "!" in path else path


def unmarked_path(marked: str) -> str:
    """Return the path that stands in an id; the inverse of `marked_path`."""
    return _DOUBLED.sub(r"\1", marked) if "!" in marked else marked


@dataclass(frozen=True, slots=True)
class FileState:
    """State of a file at the time its document was made.

    Attributes:
        folder: the prefix of the indexed folder that contains it; None for a file that was named by
            itself.
        size: its size in bytes.
        modified_ns: time of the last change, in nanoseconds since 1970; 0 if the file was read so
            soon after it that a later change may have the same time.
        content_hash: SHA-256 of the bytes, hexadecimal.
        other_volume: true if it was on another volume than the folder itself.
        container: the id of the file's own document, if the document was made of something within
            the file, such as an attachment; the state is that of the whole file.
    """

    folder: str | None
    size: int
    modified_ns: int
    content_hash: str
    other_volume: bool = False
    container: str | None = None


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file and its state.

    Attributes:
        path: relative to the indexed folder, with slashes; absolute if there is no folder.
        state: its state when it was read.
    """

    path: str
    state: FileState


Unit = Literal["page", "slide", "sheet"]
"""Kind of a page, as the file's own program calls it."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page, slide or sheet of a text.

    Attributes:
        unit: its kind; all pages of a text are of the same kind.
        label: the number of a page or slide, from 1 in the order of the file, or the name of a
            sheet.
        start: offset in the text where it begins, in characters; it ends where the next one begins.
            A page without text begins at the same offset as the next one.
    """

    unit: Unit
    label: int | str
    start: int


MAX_HEADING: Final = 200


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading in a text; its section ends at the next heading of the same or a higher level.

    Attributes:
        level: its level, from 1 for the highest.
        text: one line of at most 200 characters.
        start: offset in the text of the section's first character, which is usually the heading.
    """

    level: int
    text: str
    start: int


Scalar = str | int | float | bool

Metadata = dict[str, Scalar | list[Scalar]]
"""Metadata of a document by key: text, numbers, truth values, or lists of them."""

MAX_ID: Final = 10_000
MAX_TITLE: Final = 10_000
"""Maximum length of an id and of a title, in characters: every chunk and every answer contains
them."""

MAX_KEY_LENGTH: Final = 128

MAX_METADATA: Final = 1_000_000
"""Maximum length of the metadata of a document, in characters of JSON: every chunk contains it."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document to index.

    Attributes:
        id: any text of 1 to 10,000 characters; a second document with the same id replaces the
            first.
        title: any text of at most 10,000 characters that is not blank.
        content: the text; a blank one has no chunks.
        metadata: values stored with every chunk, shown with it and usable in filters; keys have at
            most 128 characters. A document that is added to an index has at most 1,000,000
            characters of metadata, written as JSON, and 50 keys; the rest is texts under the key
            `other`. A key with a meaning of its own in
            filters, such as `folder`, becomes `x-folder`.
        pages: the pages, slides or sheets of the text, in order.
        headings: the headings of the text, in order.
        has_lines: true if the lines of the text are those of its source, so that chunks can be
            cited by line.
        file: the file it was made from; None if it was not made from one.
        layout: whether chunks keep the white space of the text and end after 3,000 characters, or
            join its words by single spaces.

    Raises:
        InvalidDocumentError: one of these rules is broken, or a text contains half of a surrogate
            pair, which is not a character.
    """

    id: str
    title: str
    content: str
    metadata: Metadata = field(default_factory=dict)
    pages: Sequence[Page] = ()
    headings: Sequence[Heading] = ()
    has_lines: bool = True
    file: SourceFile | None = None
    layout: Layout = "join"

    def __post_init__(self) -> None:
        if not self.id:
            raise InvalidDocumentError("the id of a document must not be empty")
        name = f"the document {self.id[:80]!r}"
        if not self.title.strip():
            raise InvalidDocumentError(f"the title of {name} must not be blank")
        for part, text, most in (("id", self.id, MAX_ID), ("title", self.title, MAX_TITLE)):
            if len(text) > most:
                raise InvalidDocumentError(
                    f"the {part} of {name} has {len(text):,} characters; "
                    f"at most {most:,} are allowed"
                )
        for part, text in (("id", self.id), ("title", self.title), ("content", self.content)):
            _check_unicode(f"the {part} of {name}", text)
        _check_metadata(name, self.metadata)
        if reserved := RESERVED_KEYS.intersection(self.metadata):
            if self.file is not None and self.file.state.container is not None:
                reserved -= {CONTAINER}
            object.__setattr__(self, "metadata", _renamed(self.metadata, reserved))
        _check_headings(name, self.headings)


def _renamed(metadata: Metadata, reserved: AbstractSet[str]) -> Metadata:
    """Return metadata whose reserved keys begin with ``x-``, once more where that is taken."""
    renamed: Metadata = {}
    for key, value in metadata.items():
        free = key
        while free in reserved or (free != key and free in metadata):
            free = f"x-{free}"
        renamed[free] = value
    return renamed


def _check_headings(name: str, headings: Sequence[Heading]) -> None:
    for heading in headings:
        if not 1 <= len(heading.text) <= MAX_HEADING or heading.level < 1:
            raise InvalidDocumentError(
                f"{name} has the heading {heading.text[:80]!r} of level {heading.level}; a heading "
                f"has 1 to {MAX_HEADING} characters and a level of 1 or more"
            )
        _check_unicode(f"a heading of {name}", heading.text)


def _check_unicode(what: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidDocumentError(
            f"{what} is not valid Unicode: a lone surrogate at character {error.start}"
        ) from error


def _check_metadata(name: str, metadata: Mapping[str, Scalar | list[Scalar]]) -> None:
    for key, value in metadata.items():
        if not key or len(key) > MAX_KEY_LENGTH:
            raise InvalidDocumentError(
                f"{name} has the metadata key {key[:80]!r}; a key has 1 to {MAX_KEY_LENGTH} "
                "characters"
            )
        _check_unicode(f"a metadata key of {name}", key)
        for scalar in value if isinstance(value, list) else [value]:
            if isinstance(scalar, str):
                _check_unicode(f"the metadata {key!r} of {name}", scalar)
            elif not _is_number(scalar):
                raise InvalidDocumentError(
                    f"the metadata {key!r} of {name} is {str(scalar)[:80]}; it must be text, a "
                    "number in the range of a double, true or false, or a list of these"
                )


def _is_number(value: object) -> bool:
    try:
        return isinstance(value, int | float) and math.isfinite(value)
    except OverflowError:
        return False


WORDS_PER_CHUNK: Final = 250

OVERLAP: Final = 40
"""Number of words that two neighbouring chunks share."""

STEP: Final = WORDS_PER_CHUNK - OVERLAP
"""Number of words from the beginning of a full chunk to that of the next one."""

MIN_CHARACTERS_PER_CHUNK: Final = STEP
"""Minimum characters that a full chunk adds: words of one letter, each with a space."""

Place = dict[str, int | str]
"""Known fields of `shared.model.search_results.Citation`, except the path of the file."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a document, the unit that is indexed and found.

    ``id`` is ``{document id}-chunk-{index:03d}``, ``index`` counts from 1, and ``title`` is the
    document's title, followed by `` - Part {index}`` if there is more than one chunk. ``start`` and
    ``end`` are offsets in the document's text, in characters; ``end`` is exclusive. ``count`` is
    the number of chunks of the document, and ``words`` that of its words, None if it is not known.
    """

    id: str
    title: str
    content: str
    source_document: str
    index: int
    start: int
    end: int
    count: int
    words: int | None


_NUMBER: Final = "-chunk-"


def chunk_id(source_document: str, index: int) -> str:
    """Return the id of a document's chunk number ``index``, from 1."""
    return f"{source_document}{_NUMBER}{index:03d}"


def chunk_of_id(chunk_id: str) -> tuple[str, int]:
    """Return the document and the number of a chunk from its id."""
    source_document, _, index = chunk_id.rpartition(_NUMBER)
    return source_document, int(index)


def chunk_title(title: str, index: int, count: int) -> str:
    """Return the title of a chunk from that of its document, which has so many chunks."""
    return title if count == 1 else f"{title} - Part {index}"


def addition(content: str, start: int, end: int, previous_end: int) -> str:
    """Return what a chunk adds to the chunks before it, with the blanks between.

    The first chunk of a document and the additions of all others are the text of the document.
    """
    if len(content) != end - start:
        # The words are joined by single spaces, so only their number tells where the rest begins.
        return " " + " ".join(content.split(" ", OVERLAP)[OVERLAP:])
    return content[previous_end - start :] if start <= previous_end else f"\n{content}"
