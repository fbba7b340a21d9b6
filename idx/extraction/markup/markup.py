"""Text out of markup: XML and HTML, read as a stream of tags.

Every format of this family is a table that says what its tags do to the text. Nothing is loaded
but the bytes given: no document type, no external entity, no address.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Final, Protocol, cast

from idx.extraction.text.cleaning import CELL_SEPARATOR

_CHUNK: Final = 1 << 20
"""Characters that are given to the parser of HTML at once."""


class Role(Enum):
    """What an element does to the text."""

    PARAGRAPH = auto()
    """It stands between blank lines."""
    LINE = auto()
    """It stands on lines of its own."""
    PREFORMATTED = auto()
    """A paragraph whose line breaks count."""
    ROW = auto()
    CELL = auto()
    HIDDEN = auto()
    """Nothing in it is text."""
    SECTION = auto()
    """A slide or a sheet: its text is kept apart."""
    APART = auto()
    """A note: it stands after the text, or after that of its section."""
    TEXT = auto()
    """If a format has it, only what stands directly in such elements is text."""


_BREAKS: Final = frozenset({"\n", "\n\n"})

Roles = Mapping[str, Role | str]
"""What the elements of a format do, by name; a text stands for the element.

A name is without its namespace, or has it in braces before it, which goes first. Elements that are
not named do nothing.
"""


class Target(Protocol):
    """What a parser tells of the tags and the text that it meets."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""

    def end(self, tag: str) -> None:
        """An element ends."""

    def data(self, text: str) -> None:
        """A piece of text, perhaps not all of it."""

    def close(self) -> object:
        """The document ended."""


class RolesByTag(dict[str, Role | str | None]):
    """The role of each tag as a parser spells it, with a namespace in braces."""

    def __init__(self, roles: Roles) -> None:
        super().__init__()
        self._roles = roles

    def __missing__(self, tag: str) -> Role | str | None:
        role = self[tag] = self._roles.get(tag, self._roles.get(local_name(tag)))
        return role


@dataclass(slots=True)
class _Cell:
    """An open cell of a table.

    Attributes:
        outside: the text that the table stands in.
        copies: how often it stands in its row.
        has_rows: whether a table is in it.
    """

    outside: list[str]
    copies: int
    has_rows: bool = False


@dataclass(slots=True)
class MarkupText:
    """Collects the text of a document; a target for `parse_xml` and `parse_html`.

    Attributes:
        roles: the table of the format.
        sections: the attributes and the text of each section, as pieces.
    """

    roles: Roles
    sections: list[tuple[Mapping[str, str], list[str]]] = field(default_factory=list)
    _by_tag: RolesByTag = field(init=False)
    _pieces: list[str] = field(default_factory=list)
    _rows: list[list[str]] = field(default_factory=list)
    _cells: list[_Cell] = field(default_factory=list)
    _around: list[list[str]] = field(default_factory=list)
    _apart: list[str] = field(default_factory=list)
    _hidden: int = 0
    _preformatted: int = 0
    _counts: bool = True
    _all_counts: bool = True

    def __post_init__(self) -> None:
        self._by_tag = RolesByTag(self.roles)
        self._all_counts = self._counts = Role.TEXT not in self.roles.values()

    @property
    def text(self) -> str:
        """The text outside all sections, then the notes to it."""
        return "\n\n".join(("".join(self._pieces), *self._apart))

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """See `Target`."""
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
        elif role is Role.SECTION:
            self._pieces = []
            self.sections.append((dict(attributes), self._pieces))
        elif role is Role.APART:
            self._around.append(self._pieces)
            self._pieces = []
        else:
            self._preformatted += role is Role.PREFORMATTED
            self._break(role)

    def end(self, tag: str) -> None:
        """See `Target`."""
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
        elif role is Role.SECTION:
            self._pieces.extend(f"\n\n{note}" for note in self._apart)
            self._apart.clear()
        elif isinstance(role, Role):
            self._preformatted -= role is Role.PREFORMATTED
            self._break(role)

    def data(self, text: str) -> None:
        """See `Target`."""
        if not self._counts or self._hidden:
            return
        if self._preformatted:
            self._pieces.append(text)
        elif not text.isspace():
            self._pieces.append(text.replace("\n", " "))
        elif self._pieces and self._pieces[-1] not in _BREAKS:
            self._pieces.append(" ")

    def close(self) -> None:
        """See `Target`."""

    def copies(self, attributes: Mapping[str, str]) -> int:  # noqa: ARG002 - for subclasses
        """How often a cell with these attributes stands in its row."""
        return 1

    def count(self, text: str) -> None:
        """Take note that a text is in a cell once more.

        Raises:
            ValueError: there is too much of it.
        """

    def _break(self, role: Role) -> None:
        """End the line or the paragraph, once."""
        end = "\n" if role is Role.LINE or role is Role.ROW else "\n\n"
        if self._pieces and self._pieces[-1] in _BREAKS:
            self._pieces[-1] = max(self._pieces[-1], end)
        else:
            self._pieces.append(end)

    def _end_row(self) -> None:
        self._break(Role.ROW)
        self._pieces.append(row_text(self._rows.pop()))
        self._break(Role.ROW)
        if self._cells:
            self._cells[-1].has_rows = True

    def _end_cell(self) -> None:
        cell = self._cells.pop()
        inside = "".join(self._pieces)
        self._pieces = cell.outside
        if cell.has_rows and self._rows:
            # A table within a table: the outer one is layout, the rows of the inner one stay.
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
    """The name of an element or an attribute without its namespace."""
    return tag.rpartition("}")[2]


def row_text(cells: list[str]) -> str:
    """A row of a table as a line; empty if all cells are."""
    last = next((place for place in range(len(cells), 0, -1) if cells[place - 1]), 0)
    return CELL_SEPARATOR.join(cells[:last])


def parse_xml(chunks: Iterable[bytes], target: Target) -> None:
    """Read XML that comes in pieces.

    Raises:
        SyntaxError: it is not well-formed, too deep, or its entities explode.
    """
    from lxml import etree

    parser = etree.XMLParser(target=cast("Any", target), resolve_entities=False, no_network=True)
    for chunk in chunks:
        parser.feed(chunk)
    parser.close()


def parse_html(text: str, target: Target) -> None:
    """Read HTML, well-formed or not."""
    from lxml import etree

    if not text.strip():
        return
    parser = etree.HTMLParser(target=cast("Any", target), no_network=True, huge_tree=True)
    for start in range(0, len(text), _CHUNK):
        parser.feed(text[start : start + _CHUNK])
    parser.close()
