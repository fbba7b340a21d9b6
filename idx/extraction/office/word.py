"""Extraction of Word documents: .docx and its templates."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from idx.extraction.markup.markup import MarkupText, Roles, local_name
from idx.extraction.office.open_xml import ROLES, OfficeOpenFile, open_office_file
from idx.extraction.text.headings import join_sections
from idx.extraction.types import Extracted, Source

_RELATED: Final = (
    *("footnotes", "endnotes", "comments", "chart", "diagramData"),
    # They appear on every page, but once in the text.
    *("header", "footer"),
)

_NAMESPACE: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_VALUE: Final = _NAMESPACE + "val"
_STYLE_ID: Final = _NAMESPACE + "styleId"

_HEADING_STYLE: Final = re.compile("heading ([1-9])", re.IGNORECASE)
"""Name of a built-in style, which is the same in all languages of Word."""

_BODY_LEVEL: Final = 9
"""Outline level of paragraphs that are no headings (ECMA-376, part 1, 17.3.1.20)."""

_DEPTH: Final = 2
"""Number of hidden elements around the style of a shown paragraph, itself included."""

_MAX_BASES: Final = 20
"""Maximum number of styles that a style is based on, one by the other."""


@dataclass(slots=True)
class _WordText(MarkupText):
    """Collector of the text of a document with its headings.

    Attributes:
        levels: the levels of the styles of headings, by their ids.
    """

    roles: Roles = field(default_factory=lambda: ROLES)
    levels: Mapping[str, int] = field(default_factory=dict)

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Handle the start of an element; see `MarkupText`."""
        MarkupText.start(self, tag, attributes)
        level = None
        if self._hidden > _DEPTH:
            return
        if tag.endswith("}pStyle"):
            level = self.levels.get(attributes.get(_VALUE, ""))
        elif tag.endswith("}outlineLvl"):
            level = _outline_level(attributes.get(_VALUE, ""))
        if level is not None:
            self.begin_heading(level)


def extract_docx(source: Source) -> Extracted:
    """Extract a document: its body, then notes, comments, charts, headers and footers.

    The file contains no pages, which the displaying program creates.

    Raises:
        SourceFileError: it needs a password, or unpacks to too much.
    """
    file = open_office_file(source)
    title, metadata = file.properties()
    body = file.read(file.main, _WordText(levels=dict(_heading_levels(file))))
    related = file.related_text(file.main, _RELATED)
    text, headings = join_sections([*body.headed(), (0, "", related)])
    return Extracted(text, source.media_type, title=title, metadata=metadata, headings=headings)


def _heading_levels(file: OfficeOpenFile) -> Iterator[tuple[str, int]]:
    """Yield the id and the level, from 1, of each style of headings."""
    links = file.relationships(file.main).values()
    part = next((link.part for link in links if link.kind == "styles"), "")
    if part not in file.package:
        return
    own: dict[str, int | None] = {}
    bases: dict[str, str] = {}
    for style in file.package.tree(part).iter("{*}style"):
        values = {
            local_name(str(element.tag)): element.get(_VALUE, "")
            for element in style.iter("{*}name", "{*}basedOn", "{*}outlineLvl")
        }
        name = style.get(_STYLE_ID, "")
        named = _HEADING_STYLE.fullmatch(values.get("name", ""))
        own[name] = int(named[1]) if named else _outline_level(values.get("outlineLvl", ""))
        bases[name] = values.get("basedOn", "")
    for name in own:
        base = name
        for _ in range(_MAX_BASES):
            if (level := own.get(base)) is not None:
                yield name, level
                break
            base = bases.get(base, "")


def _outline_level(value: str) -> int | None:
    """Return the level of a heading from 1; None for an outline level of other paragraphs."""
    is_heading = value.isdecimal() and len(value) == 1 and int(value) < _BODY_LEVEL
    return int(value) + 1 if is_heading else None
