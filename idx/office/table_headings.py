"""Headings of the columns of a table: which row has them, as the rows below it show.

Lines of a report, or of a bank, may stand above them, and another table may follow.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final

MAX_GAP: Final = 20  # empty cells kept between two others; sheets have 16,384 columns
_MAX_LABEL: Final = 60  # characters of a heading in front of values; each row repeats it

_MAX_QUESTION: Final = 200  # characters of a heading above values, such as a question of a form

_MAX_DIGITS_IN_LABEL: Final = 4

_MAX_BLANK_LABELS: Final = 2  # columns without a heading behind the last one that has one
_COMPARED_ROWS: Final = 20  # rows below a row that show whether it has their headings

_COMPARED_COLUMNS: Final = 200

_MIN_AGREEING_SHARE: Final = 0.8
"""Minimum share of the rows below that fit the headings, and of values in a column of values."""

_MIN_DOUBTFUL_SHARE: Final = 0.5  # share of rows that fit the headings if no row has that many

_VALUE: Final = re.compile(r"[\W_]*\d[\d\W_]*[\w%€$£]{0,4}|TRUE|FALSE|true|false")
_YEAR: Final = re.compile(r"(?:19|20)\d\d(?:[/-]\d\d(?:\d\d)?)?")
_DATE: Final = re.compile(
    r"\d{1,4}([./-])\d{1,2}\1\d{1,4}(?:[ T,]+\d\d?:\d\d(?::\d\d)?)?|\d{4}-\d\d(?:-\d\d)?"
)
_STORED: Final = re.compile(r"(?<=.) \([^()]*\)\Z")
_NO_NAME: Final = re.compile(r"@|://")
_DIGIT: Final = re.compile(r"\d")
_DIGITS: Final = re.compile(r"\d+")
_THOUSANDS: Final = re.compile(r"[.,' ]\d{3}(?!\d)")
_LETTERS: Final = re.compile(r"[^\W\d_]+")

_TEXT: Final = "text"
NUMBER: Final = "number"


class Number(str):
    """Value that is a number, even if it is displayed as a text."""

    __slots__ = ()


@dataclass
class Row:
    """Row with at least one value; its cells end with the last one, its width with empty ones."""

    number: int
    cells: list[str]
    follows_gap: bool
    width: int

    @cached_property
    def kinds(self) -> dict[int, str]:
        return {column: kind_of(cell) for column, cell in enumerate(self.cells) if cell}

    @property
    def last(self) -> int:
        return len(self.cells) - 1


@dataclass(slots=True)
class Seen:
    """Row of names, as the rows below see it.

    `share` of these rows fit it in width and kinds of values; `contrast` columns have a name above
    values.
    """

    share: float
    rows: int
    kinds: dict[int, str]
    contrast: int


def without_stored(cell: str) -> str:
    """Return the displayed part of a number or date, without the stored value in parentheses."""
    return _STORED.sub("", cell)


def kind_of(cell: str) -> str:
    """Return the kind of a value: a text, a number, a year or a date; truth values are numbers."""
    shown = without_stored(cell)
    if shown != cell and _DATE.fullmatch(cell[len(shown) + 2 : -1]):
        return "date"
    if _YEAR.fullmatch(shown):
        return "year"
    if _DATE.fullmatch(shown):
        return "date"
    return NUMBER if isinstance(cell, Number) or _VALUE.fullmatch(shown) else _TEXT


def is_alike(kind: str, other: str) -> bool:
    return kind == other or {kind, other} == {NUMBER, "year"}


def _is_names(row: Row, *, are_usual: bool = True) -> bool:
    """Check whether a row may have headings: names, and years or dates."""
    cells = [row.cells[column] for column in row.kinds]
    kinds = Counter(row.kinds.values())
    colons = sum(cell.endswith(":") for cell in cells)
    # A longer gap may have been shortened, and the names after it are not in their columns.
    has_gap = "0" * MAX_GAP in "".join("01"[bool(cell)] for cell in row.cells)
    return (
        len({*cells}) > 1
        and not has_gap
        and not kinds[NUMBER]
        and kinds["date"] != 1
        # Mandant: | Muster GmbH
        and colons in (0, len(cells))
        and not any(
            len(cell) > (_MAX_LABEL if are_usual else _MAX_QUESTION)
            or _NO_NAME.search(cell)
            or (are_usual and kind == _TEXT and len(_DIGIT.findall(cell)) > _MAX_DIGITS_IN_LABEL)
            for cell, kind in zip(cells, row.kinds.values(), strict=True)
        )
    )


def block_of(rows: Sequence[Row]) -> Sequence[Row]:
    """Return the first rows, up to an empty one that is not at the beginning."""
    rows = rows[:_COMPARED_ROWS]
    return rows[: next((at for at, row in enumerate(rows) if at and row.follows_gap), len(rows))]


def seen_from(names: Sequence[str], below: Sequence[Row], width: int = 0) -> Seen:
    """Return how the rows below see a row of names; of its width, the last names may be blank."""
    kinds = {}
    contrast = 0
    columns = [column for column, name in enumerate(names) if name]
    for column in columns[:_COMPARED_COLUMNS]:
        found = Counter(row.kinds[column] for row in below if column in row.kinds)
        number = found.total()
        values = number - found[_TEXT]
        if values and values >= _MIN_AGREEING_SHARE * number:
            del found[_TEXT]
            kinds[column] = found.most_common(1)[0][0]
            contrast += kinds[column] != kind_of(names[column])
    last = max(columns, default=0)
    last = min(max(width - 1, last), last + _MAX_BLANK_LABELS)
    counted = [row for row in below if len(row.kinds) > 1]
    agreeing = sum(
        row.last <= last
        and 2 * sum(row.kinds.get(column) == _TEXT for column in kinds)
        <= sum(column in row.kinds for column in kinds)
        for row in counted
    )
    share = agreeing / len(counted) if counted else 0
    return Seen(share, len(counted), kinds, contrast)


def place_of_headings(rows: Sequence[Row], *, is_first: bool) -> int | None:
    """Return the place of the row with the headings of the rows below; None if there is none.

    Within a sheet or file, the headings are above values, or below a title, and the first row after
    an empty one. Long names, and those with many digits, are taken if there are no others, and if
    they are above values.
    """
    places = (_place_of_names(rows, is_first=is_first, are_usual=usual) for usual in (True, False))
    return next((place for place in places if place is not None), None)


def _place_of_names(rows: Sequence[Row], *, is_first: bool, are_usual: bool) -> int | None:
    best: tuple[int, int, int] | None = None
    for at, row in enumerate(rows[:-1]):
        if not _is_names(row, are_usual=are_usual) or not (is_first or _is_beginning(rows, at)):
            continue
        block = block_of(rows[at + 1 :])
        near = seen_from(row.cells, block, row.width)
        if (
            not (are_usual or near.contrast)
            or (at and _is_row_of(rows[at - 1], row, near))
            or _are_values(row, near, block)
            or _is_above_names(row, rows[at + 1 :])
        ):
            continue
        is_alone = all(other.last <= row.last for other in rows[at + 1 :])
        if near.share >= _MIN_AGREEING_SHARE and _is_certain(row, near, block, is_alone=is_alone):
            is_form = best is not None and len(rows[best[2]].kinds) < min(len(row.kinds), 3)
            return at if best is None or is_form else best[2]
        seen = seen_from(row.cells, rows[at + 1 : at + 1 + _COMPARED_ROWS], row.width)
        is_titled = bool(at) and len(rows[at - 1].kinds) == 1 and bool(near.rows)
        # Two cells below others are a name and its value, as in a form.
        is_table = not at or len(row.kinds) > 2  # noqa: PLR2004
        if is_table and (is_first or is_titled) and seen.share >= _MIN_DOUBTFUL_SHARE:
            agreeing = round(seen.share * seen.rows)
            if best is None or (seen.contrast, agreeing) > best[:2]:
                best = seen.contrast, agreeing, at
    return best[2] if best else None


def _is_beginning(rows: Sequence[Row], at: int) -> bool:
    """Check whether a row is the first one after an empty one, a title, or such a row of names."""
    if rows[at].follows_gap or not at or len(rows[at - 1].kinds) == 1:
        return True
    return _is_names(rows[at - 1]) and _is_beginning(rows, at - 1)


def _is_row_of(above: Row, names: Row, seen: Seen) -> bool:
    """Check whether a row of names is below a row of values of the same table."""
    kinds = {*above.kinds.values()}
    return (
        not names.follows_gap
        and above.last == names.last
        and (NUMBER in kinds or ("year" in kinds and not seen.contrast))
        and not any(above.cells[column].endswith(":") for column in above.kinds)
    )


def _are_values(row: Row, seen: Seen, below: Sequence[Row]) -> bool:
    """Check whether names are values like those below them, or years above years."""
    for column, kind in islice(row.kinds.items(), _COMPARED_COLUMNS):
        cell = row.cells[column]
        others = [other.cells[column] for other in below if column in other.kinds]
        if others and kind != _TEXT and seen.kinds.get(column, kind) == kind:
            return True
        if not seen.contrast and cell in others:
            return True
        if kind == _TEXT and _DIGIT.search(cell):
            alike = sum(_shape(other) == _shape(cell) for other in others)
            if others and alike >= _MIN_AGREEING_SHARE * len(others):
                return True
    return not seen.contrast and len({*row.cells} - {""}) < len(row.kinds)


def _shape(cell: str) -> str:
    return _LETTERS.sub("a", _DIGIT.sub("0", cell))


def _is_above_names(row: Row, below: Sequence[Row]) -> bool:
    """Check whether the row below names has names, too, above the same values."""
    if not _is_names(below[0]):
        return False
    kinds = seen_from(row.cells, block_of(below[1:])).kinds
    names = below[0].kinds
    others_are_names = sum(names.get(column, kind) != kind for column, kind in kinds.items())
    return 2 * others_are_names > len(kinds)


def _is_certain(row: Row, seen: Seen, below: Sequence[Row], *, is_alone: bool) -> bool:
    """Check whether names are headings of the rows up to the next empty one alone.

    Two columns may also be a form, with a name and a value in each row, above a wider table.
    """
    if not seen.contrast or len(row.kinds) > 2:  # noqa: PLR2004 - a name and a value
        return bool(seen.contrast)
    are_numbers = all(kind in (NUMBER, "year") for kind in seen.kinds.values())
    has_keys = any(other.cells[min(other.kinds)].endswith(":") for other in below)
    numbers = (other.cells[at] for other in below for at in seen.kinds if at in other.kinds)
    is_column = is_alone or len({*map(_notation, numbers)}) == 1
    return seen.rows > 1 and are_numbers and not has_keys and is_column


def _notation(number: str) -> str:
    return _DIGITS.sub("0", _THOUSANDS.sub("", number.lstrip("+-")))
