"""Text extraction from XML and HTML, parsed as a stream of tags.

Each format of this family is a table of the effects of its elements on the text. Only the given
bytes are read: no document type, no external entity, no address.
"""

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from idx.errors import SourceFileError
from idx.extraction.types import Source, unpacked_limit
from idx.text.cleaning import CELL_SEPARATOR, preformatted
from shared.model.document import Heading

if TYPE_CHECKING:
    from lxml import etree

_PARSER_CHARACTERS: Final = 1 << 20  # characters passed to the HTML parser at once


class Role(Enum):
    """Effect of an element on the text."""

    PARAGRAPH = auto()  # paragraph, between blank lines
    LINE = auto()  # line of its own
    PREFORMATTED = auto()  # paragraph that keeps its line breaks
    ROW = auto()
    CELL = auto()
    HIDDEN = auto()  # content that is not text
    PAGE = auto()  # slide or sheet, whose text is collected separately
    APART = auto()  # note, whose text follows that of the document or its page
    TEXT = auto()
    """Element that contains text; if a format has such elements, text elsewhere is ignored."""


_BREAKS: Final = frozenset({"\n", "\n\n"})

Headed = tuple[int, str, str]
"""Section of a text: the level of its heading, the text of the heading, and the section with it; 0
and no heading for the text before the first one."""

Roles = Mapping[str, Role | str]
"""Roles of the elements of a format, by name; a string replaces the element.

A name has no namespace, or has it in braces in front, which takes precedence. Elements that are not
listed have no effect.
"""


class Target(Protocol):
    """Receiver of parser events: tags and text."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None: ...

    def end(self, tag: str) -> None: ...

    def data(self, text: str) -> None: ...  # perhaps one of several pieces

    def close(self) -> object: ...


class RolesByTag(dict[str, Role | str | None]):
    """Roles by tag as the parser spells it, with the namespace in braces."""

    def __init__(self, roles: Roles) -> None:
        super().__init__()
        self._roles = roles

    def __missing__(self, tag: str) -> Role | str | None:
        role = self[tag] = self._roles.get(tag, self._roles.get(local_name(tag)))
        return role


@dataclass(slots=True)
class _Cell:
    outside: list[str]
    copies: int
    has_rows: bool = False


@dataclass(slots=True)
class _Heading:
    """Heading in the pieces of a text: its level, its first piece, and the one after its last."""

    level: int
    start: int
    end: int


@dataclass(slots=True)
class MarkupText:
    """Collector of the text of a document by the roles of a format; a target for the parsers."""

    roles: Roles
    pages: list[tuple[Mapping[str, str], list[str]]] = field(default_factory=list)
    _by_tag: RolesByTag = field(init=False)
    _pieces: list[str] = field(default_factory=list)
    _rows: list[list[str]] = field(default_factory=list)
    _cells: list[_Cell] = field(default_factory=list)
    _around: list[list[str]] = field(default_factory=list)
    _apart: list[str] = field(default_factory=list)
    _headings: list[_Heading] = field(default_factory=list)
    _heading: _Heading | None = None
    _hidden: int = 0
    _preformatted: int = 0
    _counts: bool = True
    _all_counts: bool = True

    def __post_init__(self) -> None:
        self._by_tag = RolesByTag(self.roles)
        self._all_counts = self._counts = Role.TEXT not in self.roles.values()

    @property
    def text(self) -> str:
        """Text outside all pages, followed by its notes."""
        return "\n\n".join(("".join(self._pieces), *self._apart))

    def headed(self) -> Iterator[Headed]:
        """Yield the sections of the text outside all pages, then its notes without heading."""
        pieces = self._pieces
        ends = [*(heading.start for heading in self._headings), len(pieces)]
        yield 0, "", "".join(pieces[: ends[0]])
        for heading, end in zip(self._headings, ends[1:], strict=True):
            title = "".join(pieces[heading.start : heading.end])
            yield heading.level, title, "".join(pieces[heading.start : end])
        yield 0, "", "\n\n".join(self._apart)

    def begin_heading(self, level: int) -> None:
        """Take the paragraph that has just begun as a heading, but not within a table or note."""
        if not (self._cells or self._around or self.pages):
            self._heading = _Heading(level, len(self._pieces), len(self._pieces))

    def insert(self, text: str, found: Sequence[Heading]) -> None:
        """Add the text of another document, with its headings, as paragraphs of their own."""
        ends = [*(heading.start for heading in found), len(text)]
        self._break(Role.PARAGRAPH)
        self._pieces.append(text[: ends[0]])
        for heading, end in zip(found, ends[1:], strict=True):
            title, _, section = text[heading.start : end].partition("\n")
            self._break(Role.PARAGRAPH)
            self.begin_heading(heading.level)
            self._pieces.append(title)
            self._end_heading()
            self._pieces.append(f"\n{section}")
        self._break(Role.PARAGRAPH)

    def _end_heading(self) -> None:
        if self._heading:
            self._heading.end = len(self._pieces)
            self._headings.append(self._heading)
            self._heading = None

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        role = self._by_tag[tag]
        if self._hidden or role is Role.HIDDEN:
            self._hidden += 1
        elif role is None:
            return
        elif isinstance(role, str):
            self._pieces.append(role)
        elif role is Role.TEXT:
            self._counts = True
        elif role is Role.ROW:
            self._rows.append([])
        elif role is Role.CELL:
            self._cells.append(_Cell(self._pieces, self.copies(attributes)))
            self._pieces = []
        elif role is Role.PAGE:
            self._pieces = []
            self.pages.append((dict(attributes), self._pieces))
        elif role is Role.APART:
            self._around.append(self._pieces)
            self._pieces = []
        else:
            self._preformatted += role is Role.PREFORMATTED
            self._break(role)

    def end(self, tag: str) -> None:
        role = self._by_tag[tag]
        if self._hidden:
            self._hidden -= 1
        elif role is Role.TEXT:
            self._counts = self._all_counts
        elif role is Role.ROW:
            self._end_row()
        elif role is Role.CELL:
            self._end_cell()
        elif role is Role.APART:
            self._apart.append("".join(self._pieces))
            self._pieces = self._around.pop()
        elif role is Role.PAGE:
            self._pieces.extend(f"\n\n{note}" for note in self._apart)
            self._apart.clear()
        elif isinstance(role, Role):
            self._preformatted -= role is Role.PREFORMATTED
            if role is Role.PARAGRAPH:
                self._end_heading()
            self._break(role)

    def data(self, text: str) -> None:
        if not self._counts or self._hidden:
            return
        if self._preformatted:
            self._pieces.append(preformatted(text))
        elif not text.isspace():
            self._pieces.append(text.replace("\n", " "))
        elif self._pieces and self._pieces[-1] not in _BREAKS:
            self._pieces.append(" ")

    def close(self) -> None: ...

    def copies(self, attributes: Mapping[str, str]) -> int:  # noqa: ARG002 - for subclasses
        """Return the number of repetitions of a cell with these attributes."""
        return 1

    def count(self, text: str) -> None:
        """Count the text of a cell for each repetition; a ValueError ends an endless table."""

    def row(self, cells: list[str]) -> str:
        return row_text(cells)

    def _break(self, role: Role) -> None:
        """End the line or the paragraph, without duplicate breaks."""
        end = "\n" if role is Role.LINE or role is Role.ROW else "\n\n"
        if self._pieces and self._pieces[-1] in _BREAKS:
            self._pieces[-1] = max(self._pieces[-1], end)
        else:
            self._pieces.append(end)

    def _end_row(self) -> None:
        self._break(Role.ROW)
        self._pieces.append(self.row(self._rows.pop()))
        self._break(Role.ROW)
        if self._cells:
            self._cells[-1].has_rows = True

    def _end_cell(self) -> None:
        cell = self._cells.pop()
        inside = "".join(self._pieces)
        self._pieces = cell.outside
        if cell.has_rows and self._rows:
            # In a nested table, the outer one is layout, and the rows of the inner one are kept.
            self._pieces.append(f"\n{row_text(self._rows[-1])}\n{inside}\n")
            self._rows[-1].clear()
        elif self._rows:
            text = " ".join(inside.split())
            for _ in range(cell.copies):
                self.count(text)
                self._rows[-1].append(text)
        else:
            self._pieces.append(f"\n{inside}\n")


def local_name(tag: str) -> str:
    return tag.rpartition("}")[2]


def row_text(cells: list[str]) -> str:
    last = next((place for place in range(len(cells), 0, -1) if cells[place - 1]), 0)
    return CELL_SEPARATOR.join(cells[:last])


def parse_xml(chunks: Iterable[bytes], target: Target) -> None:
    from lxml import etree

    parser = etree.XMLParser(target=cast("Any", target), resolve_entities=False, no_network=True)
    for chunk in chunks:
        parser.feed(chunk)
    parser.close()


def parse_html(text: str, target: Target) -> None:
    from lxml import etree

    if not text.strip():
        return
    parser = etree.HTMLParser(target=cast("Any", target), no_network=True, huge_tree=True)
    for start in range(0, len(text), _PARSER_CHARACTERS):
        parser.feed(text[start : start + _PARSER_CHARACTERS])
    parser.close()


_MEMBER_BLOCK_BYTES: Final = 1 << 16

_ENCRYPTED: Final = 0x1  # bit of an entry's flags that marks encryption


class Package:
    """Opened archive with a limit on its unpacked size.

    The limit applies to the total of all entries, which stops ZIP bombs.
    """

    def __init__(self, source: Source) -> None:
        self._file = source.file
        self._archive = zipfile.ZipFile(io.BytesIO(source.data))
        self.limit: Final = unpacked_limit(len(source.data))
        self._unpacked = 0
        self._counted: set[str] = set()
        self._in_cells = 0

    def __contains__(self, name: str) -> bool:
        return name in self._archive.NameToInfo

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of an entry in chunks; a second time they do not count."""
        entry = self._archive.getinfo(name)
        if entry.flag_bits & _ENCRYPTED:
            raise SourceFileError(self._file, "protected by a password")
        with self._archive.open(entry) as stream:
            counts = name not in self._counted
            while chunk := stream.read(_MEMBER_BLOCK_BYTES):
                self._unpacked += len(chunk) * counts
                if self._unpacked > self.limit:
                    raise SourceFileError(
                        self._file,
                        f"unpacks to more than {self.limit // 1_000_000} MB, too much for a "
                        "document of its size",
                    )
                yield chunk
            self._counted.add(name)

    def count(self, text: str) -> None:
        """Count the text of a table cell, which may be repeated, towards the limit on the unpacked
        size.
        """
        self._in_cells += len(text)
        if self._in_cells > self.limit:
            raise ValueError("its cells repeat too much text")

    def read(self, name: str) -> bytes:
        return b"".join(self.chunks(name))

    def parse(self, name: str, target: Target) -> None:
        """Parse an XML entry as a stream; see `chunks` and `parse_xml`."""
        parse_xml(self.chunks(name), target)

    def tree(self, name: str, *, recover: bool = False) -> "etree._Element":
        """Parse a small XML entry as a tree; see `chunks`. A damaged one may be recovered."""
        from lxml import etree

        parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=recover)
        tree: etree._Element | None = cast("Any", etree.fromstring(self.read(name), parser))
        if tree is None:
            raise ValueError(f"{name} is not XML")
        return tree

    def texts(self, name: str) -> dict[str, list[str]]:
        """Return the texts in an XML entry of properties by local element name.

        It is empty if the entry is missing. A damaged one costs no more than itself.
        """
        texts: dict[str, list[str]] = {}
        with suppress(EOFError, SyntaxError, ValueError, zipfile.BadZipFile, zlib.error):
            for element in self.tree(name, recover=True).iter("*") if name in self else ():
                if element.text and element.text.strip():
                    texts.setdefault(local_name(str(element.tag)), []).append(element.text)
        return texts


def resolve(base: str, reference: str) -> str:
    """Return the name of the entry that a reference in another entry denotes.

    It never leaves the archive.
    """
    if reference.startswith("/"):
        return reference[1:]
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), reference))
