"""Extraction of FictionBook e-books (.fb2), which are one file of XML."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from idx.extraction.markup.markup import MarkupText, Role, Roles, local_name, parse_xml
from idx.extraction.text.headings import join_sections
from idx.extraction.text.properties import one_line, properties
from idx.extraction.types import Extracted, Source

_BLOCK_BYTES: Final = 1 << 16

_ROLES: Final[Roles] = {
    **dict.fromkeys(("title", "subtitle", "p", "cite", "poem", "text-author"), Role.PARAGRAPH),
    **dict.fromkeys(("epigraph", "annotation", "section"), Role.PARAGRAPH),
    **dict.fromkeys(("v", "date"), Role.LINE),
    "stanza": Role.PARAGRAPH,
    "table": Role.PARAGRAPH,
    "tr": Role.ROW,
    **dict.fromkeys(("td", "th"), Role.CELL),
    # Pictures in base64, and what the title and the metadata show.
    "binary": Role.HIDDEN,
    "description": Role.HIDDEN,
    "stylesheet": Role.HIDDEN,
}

_AUTHOR_NAMES: Final = ("first-name", "middle-name", "last-name", "nickname")


@dataclass(slots=True)
class _Book(MarkupText):
    """Collector of the text of a book and of its description.

    Attributes:
        said: the texts of the description, by the name of their element.
        authors: the authors, each as the parts of the name.
    """

    roles: Roles = field(default_factory=lambda: _ROLES)
    said: dict[str, list[str]] = field(default_factory=dict)
    authors: list[list[str]] = field(default_factory=list)
    _path: list[str] = field(default_factory=list)
    _depth: int = 0
    _text: list[str] = field(default_factory=list)

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Handle the start of an element; see `Target`."""
        name = local_name(tag)
        self._path.append(name)
        if self._is_described():
            self._begin(name, attributes)
        self._depth += name == "section"
        MarkupText.start(self, self._as_line(tag), attributes)
        if name == "title":
            self.begin_heading(self._depth + 1)

    def end(self, tag: str) -> None:
        """Handle the end of an element; see `Target`."""
        MarkupText.end(self, self._as_line(tag))
        self._depth -= self._path.pop() == "section"

    def data(self, text: str) -> None:
        """Handle a piece of text; see `Target`."""
        if self._is_described() and self._text:
            # A text may come in pieces.
            self._text[-1] += text
        MarkupText.data(self, text)

    def _begin(self, name: str, attributes: Mapping[str, str]) -> None:
        """Prepare for the text of an element of the description."""
        self._text = []
        if name == "author":
            self.authors.append([])
        elif name in _AUTHOR_NAMES and self.authors:
            self._text = self.authors[-1]
        elif "author" not in self._path:
            self._text = self.said.setdefault("annotation" if name == "p" else name, [])
        self._text.append("")
        if name == "date" and (value := attributes.get("value")):
            self.said.setdefault("value", []).append(value)

    def _as_line(self, tag: str) -> str:
        """Return the element that has the effect of another one: a title has lines, one heading."""
        is_in_title = self._path[-2:] == ["title", "p"]
        return "v" if is_in_title else tag

    def _is_described(self) -> bool:
        return self._path[1:3] == ["description", "title-info"]


def extract_fb2(source: Source) -> Extracted:
    """Extract the text of a book with its notes, and its description as metadata.

    Raises:
        SyntaxError: it is not well-formed.
    """
    book = _Book()
    parse_xml(_blocks(source.data), book)
    text, headings = join_sections(book.headed())
    said = book.said
    return Extracted(
        text=text,
        media_type=source.media_type,
        title=one_line("".join(said.get("book-title", ())[:1])),
        headings=headings,
        metadata=properties(
            author=[" ".join(names) for names in book.authors if names],
            subject=" ".join(said.get("annotation", ())),
            keywords=[*said.get("keywords", ()), *said.get("genre", ())],
            created="".join((said.get("value") or said.get("date", []))[:1]),
            language="".join(said.get("lang", ())[:1]),
        ),
    )


def _blocks(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), _BLOCK_BYTES):
        yield data[start : start + _BLOCK_BYTES]
