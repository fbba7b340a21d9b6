"""A document as it is given to the index, and what may not be in one."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from shared.errors import InvalidDocumentError


@dataclass(frozen=True, slots=True)
class FileState:
    """What a file was like when its document was made.

    Attributes:
        folder: the prefix of the indexed folder that it lies in; None for a file that was named
            by itself.
        size: bytes.
        modified_ns: time of the last change, in nanoseconds since 1970; 0 where the file was
            read so shortly after it that a later change may bear the same time.
        content_hash: SHA-256 of the bytes, hexadecimal.
        other_volume: whether it lay on another volume than the folder itself.
    """

    folder: str | None
    size: int
    modified_ns: int
    content_hash: str
    other_volume: bool = False


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file and its state.

    Attributes:
        path: relative to the indexed folder, with slashes; absolute where there is no folder.
        state: the state in which it was read.
    """

    path: str
    state: FileState


Unit = Literal["page", "slide", "sheet"]
"""What a part is called in the file's own program."""


@dataclass(frozen=True, slots=True)
class Section:
    """One page, slide or sheet of a text.

    Attributes:
        unit: what it is; all sections of a text are of the same kind.
        label: the number of a page or a slide, from 1 as they are counted in the file, or the
            name of a sheet.
        start: the character of the text where it begins; it ends where the next one begins. A
            section without text begins where the next one does.
    """

    unit: Unit
    label: int | str
    start: int


Scalar = str | int | float | bool

Metadata = dict[str, Scalar | list[Scalar]]
"""What came with a document: text, numbers, truth values, or lists of them, by key."""

MAX_ID: Final = 10_000

MAX_TITLE: Final = 10_000
"""Characters in an id and in a title: they stand in every chunk and in every answer."""

MAX_METADATA_KEYS: Final = 64
"""Metadata keys of one document. Each key is a field, and every field costs every segment."""

MAX_KEY_LENGTH: Final = 128
"""Characters in a metadata key."""

MAX_METADATA: Final = 1_000_000
"""Characters of all metadata of one document, written as JSON: they stand in every chunk."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document to index.

    Attributes:
        id: any text of 1 to 10,000 characters; a second document with the same id replaces the
            first.
        title: any text of at most 10,000 characters but a blank one.
        content: the text; a blank one has no chunks.
        metadata: values stored with every chunk, shown with it and open to filters; at most
            64 keys of at most 128 characters, and what is added to an index at most 1,000,000
            characters of it in all, written as JSON.
        sections: the pages, slides or sheets of the text, in order.
        has_lines: whether the lines of the text are those of its source, so that chunks are
            cited by them.
        file: the file it was made of; None if it was not made of one.

    Raises:
        InvalidDocumentError: one of these does not hold, or a text holds half of a surrogate
            pair, which is no character.
    """

    id: str
    title: str
    content: str
    metadata: Metadata = field(default_factory=dict)
    sections: Sequence[Section] = ()
    has_lines: bool = True
    file: SourceFile | None = None

    def __post_init__(self) -> None:
        if not self.id:
            raise InvalidDocumentError("a document needs an id that is not empty")
        name = f"the document {self.id[:80]!r}"
        if not self.title.strip():
            raise InvalidDocumentError(f"{name} needs a title that is not blank")
        for part, text, most in (("id", self.id, MAX_ID), ("title", self.title, MAX_TITLE)):
            if len(text) > most:
                raise InvalidDocumentError(
                    f"the {part} of {name} has {len(text):,} characters; "
                    f"at most {most:,} are allowed"
                )
        for part, text in (("id", self.id), ("title", self.title), ("content", self.content)):
            _check_unicode(f"the {part} of {name}", text)
        _check_metadata(name, self.metadata)


def _check_unicode(what: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidDocumentError(
            f"{what} is not valid Unicode: a lone surrogate at character {error.start}"
        ) from error


def _check_metadata(name: str, metadata: Mapping[str, Scalar | list[Scalar]]) -> None:
    if len(metadata) > MAX_METADATA_KEYS:
        raise InvalidDocumentError(
            f"{name} has {len(metadata)} metadata keys; at most {MAX_METADATA_KEYS} are allowed"
        )
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
                    "number of a double's range, true or false, or a list of these"
                )


def _is_number(value: object) -> bool:
    try:
        return isinstance(value, int | float) and math.isfinite(value)
    except OverflowError:
        return False
