"""Word documents: the text, and the numbers that Word puts before paragraphs."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING, Final

from idx.containers.mail import extract_web_archive
from idx.errors import SourceFileError
from idx.extraction.file_type import BEGINNING, damage
from idx.extraction.types import MAX_DEPTH, BudgetError, Extracted, Source
from idx.markup.html import extract_html
from idx.markup.markup import MarkupText, Package, Roles, local_name
from idx.office.open_xml import ROLES, OfficeOpenFile, attribute
from idx.office.rtf import extract_rtf
from idx.text.cleaning import join_sections
from idx.text.plain_text import extract_plain_text

if TYPE_CHECKING:
    from lxml import etree

_MAX_LEVELS: Final = 9
_MAX_TEXT: Final = 255
_MAX_LETTERS: Final = 780
_MAX_ROMAN: Final = 32_767
"""Levels of a list, characters around its numbers, and numbers in letters, at most, as in Word."""

_RUSSIAN: Final = "абвгдежзиклмнопрстуфхцчшщыэюя"
_ROMAN: Final = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_PLACE: Final = re.compile("%([1-9])")
"""Place of the number of a level, from 1, in the text of a level."""


def _in_letters(letters: str) -> Callable[[int], str]:
    """Return a function that writes 1 to 26 as a to z, and 27 as aa."""

    def written(number: int) -> str:
        if not 0 < number <= _MAX_LETTERS:
            return str(number)
        rounds, place = divmod(number - 1, len(letters))
        return letters[place] * (rounds + 1)

    return written


def _roman(number: int) -> str:
    if not 0 < number <= _MAX_ROMAN:
        return str(number)
    written = ""
    for value, letters in _ROMAN:
        count, number = divmod(number, value)
        written += letters * count
    return written


def _ordinal(number: int) -> str:
    is_teen = number // 10 % 10 == 1
    return f"{number}{'th' if is_teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


_FORMATS: Final[Mapping[str, Callable[[int], str]]] = {
    "lowerLetter": _in_letters(ascii_lowercase),
    "upperLetter": _in_letters(ascii_uppercase),
    "russianLower": _in_letters(_RUSSIAN),
    "russianUpper": _in_letters(_RUSSIAN.upper()),
    "lowerRoman": _roman,
    "upperRoman": lambda number: _roman(number).upper(),
    "ordinal": _ordinal,
    "numberInDash": "- {} -".format,
    "decimalEnclosedParen": "({})".format,
    "decimalEnclosedFullstop": "{}.".format,
    "hex": "{:X}".format,
    "none": lambda _number: "",
    "bullet": lambda _number: "",
}
"""Formats of numbers; all others are written in digits."""

_OFF: Final = frozenset({"0", "false", "off"})

_DIGITS: Final = {"decimalZero": 2}  # minimum number of digits of formats


@dataclass(frozen=True, slots=True)
class _Level:
    """Level of a list.

    `text` has ``%1`` in place of the number of the first level; `restart` upper levels begin it
    anew.
    """

    start: int
    format: str
    digits: int
    text: str
    restart: int
    is_legal: bool
    style: str

    def written(self, number: int, *, is_legal: bool) -> str:
        if is_legal and self.format not in {"none", "bullet"}:
            # Word's own list of articles has "Section 1.01" below "Article I.".
            return str(number).zfill(_DIGITS.get(self.format, 1))
        write = _FORMATS.get(self.format)
        return write(number) if write else str(number).zfill(self.digits)


@dataclass(frozen=True, slots=True)
class _List:
    """List, as paragraphs refer to it; lists of one definition share their counts."""

    counts: dict[int, int]
    levels: dict[int, _Level]
    begins: dict[int, int] = field(default_factory=dict)


class Numbering:
    """Numbers of the paragraphs of a document, in their order."""

    def __init__(self, tree: "etree._Element | None") -> None:
        self._lists = dict(_lists(tree)) if tree is not None else {}

    def level_of_style(self, name: str, style: str) -> int | None:
        """Return the level of a list that the paragraphs of a style are at, from 0."""
        levels = self._lists[name].levels if name in self._lists else {}
        return next((place for place, level in levels.items() if level.style == style), None)

    def next(self, name: str, place: int) -> str:
        """Count a paragraph at a level from 0, and return what stands before it."""
        if name not in self._lists or place not in self._lists[name].levels:
            return ""
        counts, levels, begins = (each := self._lists[name]).counts, each.levels, each.begins
        # Upper levels without a paragraph count as if they had their first one.
        for upper in range(place):
            if upper in levels:
                counts.setdefault(upper, begins.pop(upper, levels[upper].start))
        level = levels[place]
        counts[place] = begins.pop(place, counts.get(place, level.start - 1) + 1)
        for lower in range(place + 1, _MAX_LEVELS):
            if lower in levels and place < levels[lower].restart:
                counts.pop(lower, None)
        if level.format == "bullet":
            return ""

        def number(found: re.Match[str]) -> str:
            other = int(found[1]) - 1
            if other > place or other not in levels:
                return ""
            return levels[other].written(counts[other], is_legal=level.is_legal)

        return _PLACE.sub(number, level.text).strip()


def _lists(tree: "etree._Element") -> Iterator[tuple[str, _List]]:
    definitions = {_attribute(each, "abstractNumId"): each for each in _all(tree, "abstractNum")}
    # A definition may refer to that of a style of lists.
    of_styles = {_value(each, "styleLink"): name for name, each in definitions.items()}
    counts: dict[str, dict[int, int]] = {}
    for each in _all(tree, "num"):
        name = _value(each, "abstractNumId")
        if name in definitions and (style := _value(definitions[name], "numStyleLink")):
            name = of_styles.get(style, name)
        if name not in definitions:
            continue
        found = _List(counts.setdefault(name, {}), dict(_levels(definitions[name])))
        for override in _all(each, "lvlOverride"):
            found.levels.update(_levels(override))
            if begin := _value(override, "startOverride"):
                found.begins[_number(_attribute(override, "ilvl"))] = _number(begin)
        yield _attribute(each, "numId"), found


def _levels(parent: "etree._Element") -> Iterator[tuple[int, _Level]]:
    for each in _all(parent, "lvl"):
        place = _number(_attribute(each, "ilvl"))
        if place >= _MAX_LEVELS:
            continue
        form = next(each.iter("{*}numFmt"), None)
        # The example of a format of one's own begins with its first number: "001, 002, …".
        example = "" if form is None else _attribute(form, "format").partition(",")[0]
        name = "decimal" if form is None else _attribute(form, "val")
        yield (
            place,
            _Level(
                start=_number(_value(each, "start")),
                format=name,
                digits=min(len(example), _MAX_TEXT) or _DIGITS.get(name, 1),
                text=_value(each, "lvlText")[:_MAX_TEXT],
                restart=min(_number(_value(each, "lvlRestart"), place), place),
                is_legal=any(_attribute(on, "val") not in _OFF for on in _all(each, "isLgl")),
                style=_value(each, "pStyle"),
            ),
        )


def _all(parent: "etree._Element", name: str) -> Iterator["etree._Element"]:
    return parent.iterchildren(f"{{*}}{name}")


def _value(parent: "etree._Element", name: str) -> str:
    child = next(_all(parent, name), None)
    return "" if child is None else _attribute(child, "val")


def _attribute(element: "etree._Element", name: str) -> str:
    return attribute(element.attrib, name)


def _number(written: str, default: int = 0) -> int:
    return int(written) if re.fullmatch("[0-9]{1,9}", written) else default


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

_NO_LIST: Final = "0"  # list of paragraphs that are in none although their style is
_MAX_BASES: Final = 20  # styles that a style is based on, one by the other


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
    file = OfficeOpenFile(Package(source))
    numbering = Numbering(_part(file, "numbering"))
    chunks = _Chunks(file, source, depth)
    text = _WordText(
        count_number=file.package.count,
        styles=dict(_styles(_part(file, "styles"), numbering)),
        numbering=numbering,
        chunk=chunks.read,
    )
    related = file.related_text(file.main, _RELATED)
    file.package.parse(file.main, text)
    joined, headings = join_sections([*text.headed(), (0, "", related)])
    warnings = tuple(chunks.warnings)
    return file.described(
        Extracted(joined, headings=headings, hidden=chunks.hidden, warnings=warnings)
    )


def _part(file: OfficeOpenFile, kind: str) -> "etree._Element | None":
    part = file.related_part(file.main, kind)
    return file.package.tree(part) if part else None


def _styles(tree: "etree._Element | None", numbering: Numbering) -> Iterator[tuple[str, _Style]]:
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
