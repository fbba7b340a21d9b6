"""Common parts of Office Open XML: packages of .docx, .pptx and .xlsx."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from idx.extraction.markup.markup import MarkupText, Role, Roles, local_name
from idx.extraction.markup.package import Package, resolve
from idx.extraction.text.properties import one_line, properties
from idx.extraction.types import Source
from shared.model.document import Metadata

if TYPE_CHECKING:
    from lxml import etree

Text = TypeVar("Text", bound=MarkupText)

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
    """Relationship of a part of a package to another part.

    Attributes:
        kind: the last word of its type, such as ``slide``.
        part: the name of the target part.
    """

    kind: str
    part: str


@dataclass(slots=True)
class OfficeOpenFile:
    """Opened .docx, .pptx or .xlsx.

    Attributes:
        package: its archive.
        main: the name of the main part.
    """

    package: Package
    main: str = field(init=False)

    def __post_init__(self) -> None:
        documents = (
            link.part
            for link in self.relationships("").values()
            if link.kind == "officeDocument" and link.part in self.package
        )
        main = next(documents, None)
        if main is None:
            raise ValueError("it has no main part")
        self.main = main

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

    def text(self, part: str, kinds: tuple[str, ...] = (), roles: Roles = ROLES) -> str:
        """Return the text of a part and its related parts.

        Args:
            part: its name.
            kinds: the kinds of relationships to follow, in this order.
            roles: the roles of the elements.
        """
        return "\n\n".join((self._own_text(part, roles), self.related_text(part, kinds, roles)))

    def related_text(self, part: str, kinds: tuple[str, ...], roles: Roles = ROLES) -> str:
        """Return the text of a part's related parts; see `text`."""
        return "\n\n".join(
            self._own_text(name, roles) for name in self._related(part, kinds, {part})
        )

    def properties(self) -> tuple[str | None, Metadata]:
        """Return the title and the metadata from the properties."""
        links = {link.kind: link.part for link in self.relationships("").values()}
        core = self.package.texts(links.get("core-properties", ""))
        program = self.package.texts(links.get("extended-properties", ""))
        return one_line("".join(core.get("title", ()))), properties(
            author=core.get("creator"),
            subject="".join(core.get("subject", ())),
            keywords=core.get("keywords"),
            creator="".join(program.get("Application", ())),
            created="".join(core.get("created", ())),
            modified="".join(core.get("modified", ())),
            language="".join(core.get("language", ())),
        )

    def _own_text(self, part: str, roles: Roles) -> str:
        return self.read(part, MarkupText(roles)).text

    def read(self, part: str, target: Text) -> Text:
        """Parse a part of the package, and return the target with its text."""
        self.package.parse(part, target)
        return target

    def _related(self, part: str, kinds: tuple[str, ...], seen: set[str]) -> Iterator[str]:
        links = list(self.relationships(part).values())
        for kind in kinds:
            for link in links:
                if link.kind == kind and link.part not in seen and link.part in self.package:
                    seen.add(link.part)
                    yield link.part
                    yield from self._related(link.part, kinds, seen)


def open_office_file(source: Source) -> OfficeOpenFile:
    """Open a .docx, .pptx or .xlsx.

    Raises:
        zipfile.BadZipFile: it is not an archive.
        ValueError: it has no main part.
    """
    return OfficeOpenFile(Package(source))


def relationship_id(element: "etree._Element") -> str:
    """Return the relationship id in an element, in any namespace."""
    names = (str(name) for name in element.attrib)
    return element.get(next((name for name in names if name.endswith("}id")), ""), "")


def attribute(attributes: "Mapping[str, str] | etree._Attrib", name: str) -> str:
    """Return an attribute in any namespace, since strict documents have their own; or empty."""
    named = (str(value) for key, value in attributes.items() if local_name(str(key)) == name)
    return next(named, "")
