"""Office Open XML: what .docx, .pptx and .xlsx have in common."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from idx.extraction.markup.markup import MarkupText, Role, Roles
from idx.extraction.markup.package import Package, resolve
from idx.extraction.text.properties import one_line, properties
from idx.extraction.types import Source
from shared.model.document import Metadata

if TYPE_CHECKING:
    from lxml import etree

ROLES: Final[Roles] = {
    "t": Role.TEXT,
    "p": Role.PARAGRAPH,
    "br": "\n",
    "cr": "\n",
    "tab": "\t",
    # A tab that is aligned to the page.
    "ptab": "\t",
    "noBreakHyphen": "-",
    "tbl": Role.PARAGRAPH,
    "tr": Role.ROW,
    "tc": Role.CELL,
    # Styles; among them the stops of tabs, which are no tabs.
    "pPr": Role.HIDDEN,
    # The same once more, for programs that do not know what stands before it.
    "Fallback": Role.HIDDEN,
    # Text that was moved away under tracked changes; deleted text is in elements of its own.
    "moveFrom": Role.HIDDEN,
    # How a word is read, above it.
    "rt": Role.HIDDEN,
    # In charts: the names of series and categories, not their numbers.
    "pt": Role.LINE,
    "v": Role.TEXT,
    "numCache": Role.HIDDEN,
    "numLit": Role.HIDDEN,
    # In the comments of a workbook.
    "comment": Role.PARAGRAPH,
}
"""The elements of texts in WordprocessingML and DrawingML."""


@dataclass(frozen=True, slots=True)
class Relationship:
    """What a part of a package refers to.

    Attributes:
        kind: the last word of its type, such as ``slide``.
        part: the name of the part that is meant.
    """

    kind: str
    part: str


@dataclass(slots=True)
class OfficeOpenFile:
    """An opened .docx, .pptx or .xlsx.

    Attributes:
        package: its archive.
        main: the name of the part that everything else hangs on.
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
        """What a part refers to within the package, by id; "" for the package itself."""
        folder, _, name = part.rpartition("/")
        listing = f"{folder}/_rels/{name}.rels" if folder else f"_rels/{name}.rels"
        if listing not in self.package:
            return {}
        return {
            element.get("Id", ""): Relationship(
                element.get("Type", "").rpartition("/")[2],
                resolve(part, element.get("Target", "")),
            )
            for element in self.package.tree(listing).iter("{*}Relationship")
            if element.get("TargetMode") != "External"
        }

    def text(self, part: str, kinds: tuple[str, ...] = (), roles: Roles = ROLES) -> str:
        """The text of a part, and of what it refers to.

        Args:
            part: its name.
            kinds: the kinds of relationships whose parts follow, in this order.
            roles: what the elements do.
        """
        return "\n\n".join((self._own_text(part, roles), self.related_text(part, kinds, roles)))

    def related_text(self, part: str, kinds: tuple[str, ...], roles: Roles = ROLES) -> str:
        """The text of what a part refers to; see `text`."""
        return "\n\n".join(
            self._own_text(name, roles) for name in self._related(part, kinds, {part})
        )

    def properties(self) -> tuple[str | None, Metadata]:
        """The title and the metadata in the properties."""
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


def open_office_file(source: Source) -> OfficeOpenFile:
    """Open a .docx, .pptx or .xlsx.

    Raises:
        zipfile.BadZipFile: it is no archive.
        ValueError: it has no main part.
    """
    return OfficeOpenFile(Package(source))


def relationship_id(element: "etree._Element") -> str:
    """The id of the relationship that an element names, whichever namespace its writer uses."""
    names = (str(name) for name in element.attrib)
    return element.get(next((name for name in names if name.endswith("}id")), ""), "")
