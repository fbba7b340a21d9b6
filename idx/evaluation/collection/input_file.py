"""Input files of an evaluation: UTF-8, optionally gzipped, with errors that give the line."""

import codecs
import gzip
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Final

from idx.errors import SourceFileError
from shared.messages import reason_of

_GZIP: Final = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Line:
    """Line without its line break; `number` counts from 1."""

    number: int
    text: str


def error_at(file: Path, number: int, reason: str) -> SourceFileError:
    """Return an error about a line of a file."""
    return SourceFileError(file, f"line {number}: {reason}")


def read_lines(file: Path) -> Iterator[Line]:
    """Yield the non-blank lines of a file as they are read.

    Args:
        file: a text in UTF-8; gzip is recognized by its first bytes.

    Raises:
        SourceFileError: the file cannot be read, is damaged gzip, is not UTF-8, or is empty.
    """
    empty = True
    for number, data in enumerate(_binary_lines(file), start=1):
        try:
            text = (data.removeprefix(codecs.BOM_UTF8) if number == 1 else data).decode()
        except UnicodeDecodeError as error:
            raise error_at(file, number, "is not UTF-8 text") from error
        if text.strip():
            empty = False
            yield Line(number, text.rstrip("\r\n"))
    if empty:
        raise SourceFileError(file, "is empty")


def peek(lines: Iterator[Line]) -> tuple[str, Iterator[Line]]:
    """Return the text of the first line, which identifies the format, and all lines."""
    first = next(lines)
    return first.text, chain([first], lines)


@dataclass
class UniqueIds:
    """Ids of a file, with a check for duplicates.

    Attributes:
        file: the file.
        kind: the kind of the ids, for an error.
    """

    file: Path
    kind: str
    _lines: dict[str, int] = field(default_factory=dict)

    def add(self, id_: str, number: int) -> None:
        """Add the id of a line.

        Raises:
            SourceFileError: the id is a duplicate.
        """
        if first := self._lines.get(id_):
            raise error_at(
                self.file, number, f"the {self.kind} {id_[:80]!r} was on line {first} already"
            )
        self._lines[id_] = number


def _binary_lines(file: Path) -> Iterator[bytes]:
    try:
        with _opened(file) as stream:
            yield from stream
    except FileNotFoundError as error:
        raise SourceFileError(file, "there is no such file") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise SourceFileError(file, f"is a gzip file that is damaged: {error}") from error
    except OSError as error:
        raise SourceFileError(file, f"cannot be read: {reason_of(error)}") from error


@contextmanager
def _opened(file: Path) -> Iterator[Iterable[bytes]]:
    with file.open("rb") as stream:
        if stream.peek(len(_GZIP)).startswith(_GZIP):
            with gzip.open(stream) as unpacked:
                yield unpacked
        else:
            yield stream
