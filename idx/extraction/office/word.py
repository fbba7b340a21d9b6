"""Extraction of Word documents: .docx and its templates."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from idx.errors import SourceFileError
from idx.extraction.containers.mail import extract_web_archive
from idx.extraction.damage import damage
from idx.extraction.file_type import BEGINNING
from idx.extraction.markup.html import extract_html
from idx.extraction.markup.markup import MarkupText, Roles, local_name
from idx.extraction.office.numbering import Numbering
from idx.extraction.office.open_xml import ROLES, OfficeOpenFile, attribute, open_office_file
from idx.extraction.office.rtf import extract_rtf
from idx.extraction.text.headings import join_sections
from idx.extraction.text.plain_text import extract_plain_text
from idx.extraction.types import MAX_DEPTH, BudgetError, Extracted, Source

if TYPE_CHECKING:
    from lxml import etree

_RELATED: Final = (
    *("footnotes", "endnotes", "comments", "chart", "diagramData"),
    # They appear on every page, but once in the text.
    *("header", "footer"),
)

_HEADING_STYLE: Final = re.compile("heading ([1-9])", re.IGNORECASE)
"""Name of a built-in style, which is the same in all languages of Word."""

_BODY_LEVEL: Final = 9
"""Outline level of paragraphs that are no headings (ECMA-376, part 1, 17.3.1.20)."""

_DEPTHS: Final = {
    **dict.fromkeys(("pStyle", "outlineLvl"), 2),
    **dict.fromkeys(("numId", "ilvl", "del", "moveFrom"), 3),
}
"""Properties of a paragraph, with the number of hidden elements around each, itself included: those
of the styles before a tracked change have more."""

_MIME: Final = re.compile(rb"^(?:MIME-Version|Content-Type):", re.IGNORECASE | re.MULTILINE)

_MAX_NAME: Final = 80

_NO_LIST: Final = "0"
"""List of paragraphs that are in none although their style is."""

_MAX_BASES: Final = 20
"""Maximum number of styles that a style is based on, one by the other."""


@dataclass(frozen=True, slots=True)
class _Style:
    """Style of paragraphs: its level as a heading, its list, and its level in that, from 0."""

    heading: int | None = None
    list_id: str = ""
    level: int = 0


@dataclass(slots=True)
class _WordText(MarkupText):
    """Collector of the text of a document with its headings and the numbers of its paragraphs.

    `chunk` returns the document inserted by a relationship.
    """

    roles: Roles = field(default_factory=lambda: ROLES)
    count_number: Callable[[str], None] = field(kw_only=True)
    styles: Mapping[str, _Style] = field(kw_only=True)
    numbering: Numbering = field(kw_only=True)
    chunk: Callable[[str], Extracted | None] = field(kw_only=True)
    _said: dict[str, str] = field(default_factory=dict)

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        MarkupText.start(self, tag, attributes)
        name = local_name(tag)
        if self._hidden and _DEPTHS.get(name) == self._hidden:
            self._said[name] = attribute(attributes, "val")
        elif name == "p":
            self._said = {}
        elif name == "altChunk" and (chunk := self.chunk(attribute(attributes, "id"))):
            self.insert(chunk.text, chunk.headings)

    def end(self, tag: str) -> None:
        MarkupText.end(self, tag)
        if not self._hidden and tag.endswith("}pPr"):
            self._begin_paragraph()

    def _begin_paragraph(self) -> None:
        """Write what Word puts before a paragraph, whose properties were read."""
        said = self._said
        style = self.styles.get(said.get("pStyle", ""), _Style())
        level = _outline_level(said.get("outlineLvl", "")) or style.heading
        if level is not None:
            self.begin_heading(level)
        list_id = said.get("numId", style.list_id)
        # A deleted end of a paragraph joins it to the next one.
        if list_id in {"", _NO_LIST} or "del" in said or "moveFrom" in said:
            return
        place = said.get("ilvl", "")
        number = self.numbering.next(list_id, int(place) if place.isdecimal() else style.level)
        if number:
            self.count_number(number)
            self._pieces.append(f"{number} ")


@dataclass(slots=True)
class _Chunks:
    """Documents that a document has as parts, which Word inserts when it opens it (altChunk)."""

    file: OfficeOpenFile
    source: Source
    depth: int
    hidden: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    _read: dict[str, Extracted | None] = field(default_factory=dict)

    def read(self, name: str) -> Extracted | None:
        """Return the document that a relationship leads to; None if there is none."""
        if name not in self._read:
            link = self.file.relationships(self.file.main).get(name)
            is_part = link and link.kind == "aFChunk" and link.part in self.file.package
            self._read[name] = self._extracted(link.part) if link and is_part else None
        found = self._read[name]
        if found:
            # A part may be inserted many times.
            self.file.package.count(found.text)
        return found

    def _extracted(self, part: str) -> Extracted | None:
        name = Path(part).name
        try:
            with damage(self.source.file, "document"):
                if self.depth >= MAX_DEPTH:
                    raise ValueError(f"it lies within {MAX_DEPTH} others")
                data = self.file.package.read(part)
                self.source.budget.take_bytes(len(data))
                source = replace(self.source, file=Path(part), data=data)
                found = _extracted_chunk(source, self.depth + 1)
        except (SourceFileError, BudgetError) as error:
            reason = error.reason if isinstance(error, SourceFileError) else error
            self.warnings.append(f"the inserted document {name[:_MAX_NAME]!r} {reason}")
            return None
        self.hidden += found.hidden
        self.warnings += found.warnings
        return found


def _extracted_chunk(source: Source, depth: int) -> Extracted:
    """Extract an inserted document; the name of its part need not say its format."""
    beginning = source.data[:BEGINNING].lstrip()
    if beginning.startswith(b"{\\rtf"):
        return extract_rtf(source)
    if beginning.startswith(b"PK"):
        return _extracted(source, depth)
    if not beginning.startswith(b"<") and _MIME.search(beginning):
        return extract_web_archive(source)
    return extract_plain_text(source) if source.file.suffix == ".txt" else extract_html(source)


def extract_docx(source: Source) -> Extracted:
    """Extract a document: its body, then notes, comments, charts, headers and footers.

    The file contains no pages, which the displaying program creates.
    """
    return _extracted(source, 0)


def _extracted(source: Source, depth: int) -> Extracted:
    file = open_office_file(source)
    title, metadata = file.properties()
    numbering = Numbering(_part(file, "numbering"))
    chunks = _Chunks(file, source, depth)
    text = _WordText(
        count_number=file.package.count,
        styles=dict(_styles(_part(file, "styles"), numbering)),
        numbering=numbering,
        chunk=chunks.read,
    )
    related = file.related_text(file.main, _RELATED)
    body = file.read(file.main, text)
    joined, headings = join_sections([*body.headed(), (0, "", related)])
    return Extracted(
        joined,
        source.media_type,
        title=title,
        metadata=metadata,
        headings=headings,
        hidden=chunks.hidden,
        warnings=tuple(chunks.warnings),
    )


def _part(file: OfficeOpenFile, kind: str) -> "etree._Element | None":
    """Return the tree of a part of the document; None if there is none."""
    links = file.relationships(file.main).values()
    part = next((link.part for link in links if link.kind == kind), "")
    return file.package.tree(part) if part in file.package else None


def _styles(tree: "etree._Element | None", numbering: Numbering) -> Iterator[tuple[str, _Style]]:
    """Yield each style with its id, and with what it has from those that it is based on."""
    own: dict[str, dict[str, str]] = {}
    for style in tree.iter("{*}style") if tree is not None else ():
        values: dict[str, str] = {}
        for element in style.iter("{*}name", "{*}basedOn", "{*}outlineLvl", "{*}numId", "{*}ilvl"):
            # Those before a tracked change come last.
            values.setdefault(local_name(str(element.tag)), attribute(element.attrib, "val"))
        own[attribute(style.attrib, "styleId")] = values
    for name in own:
        based = [*islice(_bases(name, own), _MAX_BASES)]
        headings = (_heading_level(own[each]) for each in based)
        heading = next((level for level in headings if level is not None), None)
        owner = next((each for each in based if "numId" in own[each]), "")
        list_id = own[owner]["numId"] if owner else ""
        said = next((own[each]["ilvl"] for each in based if "ilvl" in own[each]), "")
        level = numbering.level_of_style(list_id, owner)
        if level is None:
            level = int(said) if said.isdecimal() else 0
        yield name, _Style(heading, list_id, level)


def _bases(name: str, own: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yield a style and those that it is based on, one by the other."""
    while name in own:
        yield name
        name = own[name].get("basedOn", "")


def _heading_level(values: Mapping[str, str]) -> int | None:
    named = _HEADING_STYLE.fullmatch(values.get("name", ""))
    return int(named[1]) if named else _outline_level(values.get("outlineLvl", ""))


def _outline_level(value: str) -> int | None:
    """Return the level of a heading from 1; None for an outline level of other paragraphs."""
    is_heading = value.isdecimal() and len(value) == 1 and int(value) < _BODY_LEVEL
    return int(value) + 1 if is_heading else None
