"""Documents that a command is given: by standard input, or in JSON."""

import codecs
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BufferedReader
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, Final, cast

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from idx.errors import SourceFileError
from idx.output.printing import say
from idx.text.decoding import decode
from shared.errors import InvalidDocumentError
from shared.messages import reason_of
from shared.model.document import Document, Scalar
from shared.model.metadata import FILE_EXTENSION, FILE_NAME, MODIFIED

STDIN: Final = "-"  # file name that means standard input
NAME: Final = "standard input"  # name of standard input in messages

_STDIN_BLOCK_BYTES: Final = 2**20


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
    left = int(max_megabytes * 1e6)
    is_read = False
    while not is_read:
        try:
            data = sys.stdin.buffer.read(_STDIN_BLOCK_BYTES)
        except OSError as error:
            raise SourceFileError(NAME, f"cannot be read: {reason_of(error)}") from error
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


def without_file(document: Document) -> Document:
    """Return a document without the metadata of the temporary file."""
    known = {
        key: value
        for key, value in document.metadata.items()
        if key not in (FILE_NAME, FILE_EXTENSION, MODIFIED)
    }
    return replace(document, metadata=known, file=None)


class _Entry(BaseModel):
    """Entry of a bulk file; keys without a field become metadata."""

    model_config = ConfigDict(strict=True, extra="allow")

    id: str | None = None
    title: str | None = None
    content: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _lower_case_field_names(cls, entry: Any) -> Any:
        if not isinstance(entry, dict):
            return entry
        return {
            key.lower() if key.lower() in cls.model_fields else key: entry[key] for key in entry
        }

    def document(self) -> Document | None:
        """Return the document of the entry, or None without an id or a title."""
        if not self.id or not (self.title and self.title.strip()):
            return None
        extra = self.model_extra or {}
        metadata = {key: _metadata(value) for key, value in extra.items() if value is not None}
        return Document(self.id, self.title, self.content or "", metadata)


def read_bulk(file: str) -> Iterator[Document | str]:
    """Yield the documents of a bulk file, or of standard input (``-``).

    In place of an entry without an id or a title, yield the reason that it is skipped. JSON Lines
    are read line by line.
    """
    name = NAME if file == STDIN else file
    with opened_input(file) as stream:
        for number, found in enumerate(_entries(stream, name), start=1):
            try:
                entry = _Entry.model_validate(found)
                document = entry.document()
            except ValidationError as error:
                raise SourceFileError(name, f"entry {number}: {fault(error)}") from error
            except InvalidDocumentError as error:
                raise SourceFileError(name, f"entry {number}: {error}") from error
            missing = "title" if entry.id else "id"
            yield document or f"Skipped entry {number}: it has no {missing}."


@contextmanager
def opened_input(file: str) -> Iterator[BufferedReader]:
    name = NAME if file == STDIN else file
    try:
        if file == STDIN:
            # The standard streams are buffered readers unless a program replaces them.
            yield cast("BufferedReader", sys.stdin.buffer)
        else:
            with Path(file).open("rb") as stream:
                yield stream
    except FileNotFoundError as error:
        raise SourceFileError(name, "there is no such file") from error
    except OSError as error:
        raise SourceFileError(name, f"cannot be read: {reason_of(error)}") from error


def _entries(stream: BufferedReader, name: str) -> Iterable[Any]:
    lines = enumerate(stream, start=1)
    number, first = next((line for line in lines if _without_mark(line[1]).strip()), (1, b""))
    # Null bytes indicate UTF-16 or UTF-32, which cannot be split into lines byte by byte.
    if b"\0" in first or _without_mark(first).lstrip().startswith(b"["):
        return _whole(b"\n" * (number - 1) + first + stream.read(), name)
    return _lines(chain([(number, first)], lines), name)


def _without_mark(data: bytes) -> bytes:
    return data.removeprefix(codecs.BOM_UTF8)


def _whole(data: bytes, name: str) -> Iterable[Any]:
    text = decode(data, name, json.detect_encoding(data))
    if text.lstrip().startswith("{"):
        return _lines(enumerate(text.encode().split(b"\n"), start=1), name)
    entries = parsed(text, name)
    if not isinstance(entries, list):
        raise SourceFileError(name, "contains neither a JSON array nor JSON Lines")
    return entries


def _lines(lines: Iterable[tuple[int, bytes]], name: str) -> Iterator[Any]:
    return (parsed(text, name, number) for number, text in text_lines(lines, name))


def text_lines(lines: Iterable[tuple[int, bytes]], name: str) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines that are not blank, as text."""
    for number, line in lines:
        text = decode(_without_mark(line), f"{name}, line {number}", "utf-8")
        if text.strip():
            yield number, text


def parsed(text: str, name: str | Path, line: int | None = None) -> Any:
    """Parse JSON that is a whole file, or one line of it."""
    place = f"line {line}: " if line else ""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        row = "" if line else f"line {error.lineno}, "
        reason = f"is not valid JSON: {error.msg} at {row}column {error.colno}"
        advice = "; the file must be a JSON array of objects, or have one object on each line"
        raise SourceFileError(name, place + reason + advice) from error
    except (ValueError, RecursionError) as error:
        raise SourceFileError(name, f"{place}is not JSON that can be read: {error}") from error


def _metadata(value: Any) -> Scalar | list[Scalar]:
    if isinstance(value, list) and all(isinstance(item, Scalar) for item in value):
        return value
    if isinstance(value, Scalar):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise InvalidDocumentError("the metadata contain a number that is not finite") from error


def fault(error: ValidationError) -> str:
    """Describe the first error of an entry in a few words."""
    detail = error.errors(include_url=False)[0]
    kind = type(detail["input"]).__name__
    if not detail["loc"]:
        return f"is {kind}, not an object"
    key = str(detail["loc"][0])
    return f"has no {key!r}" if detail["type"] == "missing" else f"{key!r} is {kind}, not text"
