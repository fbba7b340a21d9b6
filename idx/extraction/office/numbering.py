"""Numbers that Word makes before paragraphs: ``§ 4``, ``3.2``, ``(iv)``, ``Artikel 5``.

A document says the list and the level of a paragraph; its number is counted (ECMA-376, part 1,
17.9).
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from idx.extraction.office.open_xml import attribute

if TYPE_CHECKING:
    from lxml import etree

_MAX_LEVELS: Final = 9
_MAX_TEXT: Final = 255
_MAX_LETTERS: Final = 780
_MAX_ROMAN: Final = 32_767
"""Levels of a list, characters around its numbers, and numbers in letters, at most, as in Word."""

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
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
    "lowerLetter": _in_letters(_LETTERS),
    "upperLetter": _in_letters(_LETTERS.upper()),
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

_DIGITS: Final = {"decimalZero": 2}
"""Minimum number of digits of formats."""


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
        """Return a number of this level in its format."""
        if is_legal and self.format not in {"none", "bullet"}:
            return str(number)
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
