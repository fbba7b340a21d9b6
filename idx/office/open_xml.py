"""Common parts of Office Open XML: packages of .docx, .pptx and .xlsx."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from idx.extraction.types import Extracted, Source
from idx.markup.markup import MarkupText, Package, Role, Roles, local_name, parse_xml, resolve
from idx.text.cleaning import join_pages
from idx.text.properties import one_line, properties

if TYPE_CHECKING:
    from lxml import etree

ROLES: Final[Roles] = {
    "t": Role.TEXT,
    "p": Role.PARAGRAPH,
    "br": "\n",
    "cr": "\n",
    "tab": "\t",
    # Tab aligned to the page.
    "ptab": "\t",
    "noBreakHyphen": "-",
    "tbl": Role.PARAGRAPH,
    "tr": Role.ROW,
    "tc": Role.CELL,
    # Styles, which include the positions of tabs.
    "pPr": Role.HIDDEN,
    # Duplicate of the preceding content for older programs.
    "Fallback": Role.HIDDEN,
    # Text moved away under tracked changes; deleted text has its own elements.
    "moveFrom": Role.HIDDEN,
    # Phonetic guides above a word.
    "rt": Role.HIDDEN,
    # In charts: names of series and categories, but not their numbers.
    "pt": Role.LINE,
    "v": Role.TEXT,
    "numCache": Role.HIDDEN,
    "numLit": Role.HIDDEN,
    # In the comments of a workbook.
    "comment": Role.PARAGRAPH,
}
"""Roles of text elements in WordprocessingML and DrawingML."""


_KINDS_OF_STRICT: Final = {
    "extendedProperties": "extended-properties",
    "customProperties": "custom-properties",
}
"""Kinds of relationships that strict documents spell in another way."""


@dataclass(frozen=True, slots=True)
class Relationship:
    """Relationship of a part of a package to another; its kind is the last word of its type."""

    kind: str
    part: str


@dataclass(slots=True)
class OfficeOpenFile:
    """Opened .docx, .pptx or .xlsx."""

    package: Package
    main: str = field(init=False)

    def __post_init__(self) -> None:
        self.main = self.related_part("", "officeDocument")
        if not self.main:
            raise ValueError("it has no main part")

    def relationships(self, part: str) -> dict[str, Relationship]:
        """Return the relationships of a part within the package, by id; "" is the package."""
        folder, _, name = part.rpartition("/")
        listing = f"{folder}/_rels/{name}.rels" if folder else f"_rels/{name}.rels"
        if listing not in self.package:
            return {}
        return {
            element.get("Id", ""): Relationship(
                _KINDS_OF_STRICT.get(kind := element.get("Type", "").rpartition("/")[2], kind),
                resolve(part, element.get("Target", "")),
            )
            for element in self.package.tree(listing).iter("{*}Relationship")
            if element.get("TargetMode") != "External"
        }

    def related_part(self, part: str, kind: str) -> str:
        """Return the first related part of a kind that the package has; empty without one."""
        links = self.relationships(part).values()
        found = (link.part for link in links if link.kind == kind and link.part in self.package)
        return next(found, "")

    def related_text(self, part: str, kinds: tuple[str, ...], roles: Roles = ROLES) -> str:
        """Return the text of a part's related parts of some kinds, in this order."""
        return "\n\n".join(self.text(name, roles) for name in self._related(part, kinds, {part}))

    def described(self, found: Extracted) -> Extracted:
        """Add the properties of the file to what was read of it."""
        core = self.package.texts(self.related_part("", "core-properties"))
        program = self.package.texts(self.related_part("", "extended-properties"))
        metadata = properties(
            author=core.get("creator"),
            subject="".join(core.get("subject", ())),
            keywords=core.get("keywords"),
            creator="".join(program.get("Application", ())),
            created="".join(core.get("created", ())),
            modified="".join(core.get("modified", ())),
            language="".join(core.get("language", ())),
        )
        return replace(found, title=one_line("".join(core.get("title", ()))), metadata=metadata)

    def text(self, part: str, roles: Roles) -> str:
        target = MarkupText(roles)
        self.package.parse(part, target)
        return target.text

    def _related(self, part: str, kinds: tuple[str, ...], seen: set[str]) -> Iterator[str]:
        links = list(self.relationships(part).values())
        for kind in kinds:
            for link in links:
                if link.kind == kind and link.part not in seen and link.part in self.package:
                    seen.add(link.part)
                    yield link.part
                    yield from self._related(link.part, kinds, seen)


def relationship_id(element: "etree._Element") -> str:
    names = (str(name) for name in element.attrib)
    return element.get(next((name for name in names if name.endswith("}id")), ""), "")


def attribute(attributes: "Mapping[str, str] | etree._Attrib", name: str) -> str:
    """Return an attribute in any namespace, since strict documents have their own; or empty."""
    named = (str(value) for key, value in attributes.items() if local_name(str(key)) == name)
    return next(named, "")


_RELATED: Final = ("chart", "diagramData", "notesSlide", "comments")

_SLIDE_ROLES: Final = {
    **ROLES,
    "p": Role.LINE,
    "sp": Role.PARAGRAPH,
    # Fields for the slide number and the date.
    "fld": Role.HIDDEN,
    # Comments contain plain text.
    "text": Role.TEXT,
    "cm": Role.PARAGRAPH,
}

_SHOWS_NOTHING_BEHIND: Final = re.compile(
    rb"""<(?:\w+:)?sld(?:Layout)?\s[^>]*?\sshowMasterSp\s*=\s*["'](?:0|false)"""
)
_ROOT_WITHIN: Final = 4096  # beginning of a slide or layout that does not show what lies behind it


def extract_pptx(source: Source) -> Extracted:
    """Extract a presentation by slides, each with its charts, notes and comments."""
    file = OfficeOpenFile(Package(source))
    text, pages = join_pages("slide", enumerate(_slides(file), start=1))
    return file.described(Extracted(text, pages=pages))


def _slides(file: OfficeOpenFile) -> Iterator[str]:
    links = file.relationships(file.main)
    seen: set[str] = set()
    for element in file.package.tree(file.main).iter("{*}sldId"):
        link = links.get(relationship_id(element))
        if link is None or link.kind != "slide":
            yield ""
        else:
            text = file.text(link.part, _SLIDE_ROLES)
            related = file.related_text(link.part, _RELATED, _SLIDE_ROLES)
            yield "\n\n".join((text, related, *_texts_behind(file, link.part, seen)))


def _texts_behind(file: OfficeOpenFile, part: str, seen: set[str]) -> Iterator[str]:
    """Yield the texts of the layout and master behind a slide, once for all slides."""
    for kind in ("slideLayout", "slideMaster"):
        beginning = next(file.package.chunks(part), b"")[:_ROOT_WITHIN]
        if _SHOWS_NOTHING_BEHIND.search(beginning):
            return
        part = file.related_part(part, kind)
        if not part:
            return
        if part not in seen:
            seen.add(part)
            yield _own_text(file, part)


def _own_text(file: OfficeOpenFile, part: str) -> str:
    """Return the text of a layout or master without its placeholders, whose texts are prompts."""
    from lxml import etree

    tree = file.package.tree(part)
    for place in [*tree.iter("{*}ph")]:
        for shape in islice(place.iterancestors("{*}sp", "{*}graphicFrame"), 1):
            parent = shape.getparent()
            if parent is not None:
                parent.remove(shape)
    text = MarkupText(_SLIDE_ROLES)
    parse_xml([etree.tostring(tree)], text)
    return text.text
