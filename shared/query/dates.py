"""Dates and times of day in a query, in the ways in which texts write them: 3pm is 15:00."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, islice
from typing import Final, NamedTuple

from shared.analysis.analyzers import as_typed, folded, tokens_of
from shared.analysis.languages import PUNCTUATION, month_names


class Row(NamedTuple):
    """Terms next to each other; several at one position are alternatives."""

    positions: Sequence[tuple[str, ...]]
    slop: int = 0


_DATE: Final = re.compile(r"(?:(\d{4})([./-]))?(\d{1,2})[./-](\d{1,2})(?:([./-])(\d{4}))?")
"""A date with the year at one end."""

_YEARS: Final = re.compile(r"((?:19|20)\d\d)[/\u2013](\d\d(?:\d\d)?)")

_DATE_WITHOUT_YEAR: Final = re.compile(r"(\d{1,2})(?:/(\d{1,2})|\.(\d{1,2})\.)")

_DAY: Final = r"(?P<day>\d{1,2})(?:\.|er|st|nd|rd|th|\u00ba)?"
_NAME: Final = r"(?P<name>[^\W\d_]{3,12})\.?"
_YEAR: Final = r"(?:\s(?:de )?(?P<year>\d{4}))?(?!\w)"
_WRITTEN_DATES: Final = (
    re.compile(rf"\b{_DAY}\s(?:de |of )?{_NAME}{_YEAR}"),
    re.compile(rf"\b{_NAME}\s{_DAY},?{_YEAR}"),
    re.compile(
        r"(?:(?P<year>\d{4})\s?[年년]\s?)?(?P<name>\d{1,2})\s?[月월]\s?(?P<day>\d{1,2})\s?[日号일]"
    ),
)
"""Dates that may have the name of a month, after the day or before it, each looked for by itself:
in "minutes 3 March" another word stands before the day."""

_MONTHS: Final = 12
_DAYS: Final = 31
_SLOP_OF_A_DATE: Final = 2  # for December 31, 2024, and 31 de diciembre de 2024

_MORNING: Final = r"a\.?\s?m\b|π\.?\s?μ\b|de la mañana|(?:час\w{0,3}\s)?утра"
_AFTERNOON: Final = r"p\.?\s?m\b|μ\.?\s?μ\b|de la (?:tarde|noche)|(?:час\w{0,3}\s)?(?:дня|вечера)"
_TIME: Final = re.compile(
    r"(?<![\d.,:/-])(?:(?P<am>上午|午前|오전|délelőtt)|(?P<pm>下午|午後|오후|délután)"
    r"|(?P<at>\b(?:kl\.?|klo|ore)(?=\s)))?\s?"
    r"(?<!\d)(?P<hour>\d{1,2})"
    r"(?:\s?(?P<point>[:.h點点時时시]|uhr)\s?(?P<minute>[0-5]\d)(?!\d)(?:\s?(?P<clock>uhr|uur)\b)?"
    r"|\s?(?P<full>h|uhr|uur|点|點|时|時|시)(?!\w))?"
    rf"\s?(?:(?P<morning>{_MORNING})|(?P<afternoon>{_AFTERNOON}))?",
    re.IGNORECASE,
)
"""A number that is a time of day if it has minutes, or a word before or after it says so."""

_EASTERN_HALVES: Final = {"a": ("上午", "午前"), "p": ("下午", "午後")}

_HALF_A_DAY: Final = 12
_DAY_IN_HOURS: Final = 24
_MOST_IN_A_QUERY: Final = 4  # dates, and times


def written_as(word: str) -> list[Row]:
    """Return the ways to write a date or a time that is a word of a query, as 15/8 or 3pm."""
    found = _TIME.fullmatch(word.strip(PUNCTUATION))
    if found and (time := _time(found)):
        return [*_ways(*time)]
    found = _DATE.fullmatch(word.strip(PUNCTUATION))
    if found and bool(found[1]) != bool(found[6]):
        first, second = int(found[3]), int(found[4])
        days = [(second, first)] if found[1] else [(first, second)]
        if found[5] == "/":
            # In America, the month comes first.
            days.append((second, first))
        return [*_days(days, found[1] or found[6])]
    if years := school_year(word):
        return [Row(((f"{years[0]}",), (f"{years[1]}", f"{years[1] % 100:02}")))]
    if found := _DATE_WITHOUT_YEAR.fullmatch(word):
        return [*_days([(int(found[1]), int(found[2] or found[3]))])]
    return []


def school_year(word: str) -> tuple[int, int] | None:
    """Return a year and the next one, as in 2021/22; None for other numbers."""
    found = _YEARS.fullmatch(word)
    years = (int(found[1]), int(found[1]) + 1) if found else None
    return years if found and years and int(found[2]) % 100 == years[1] % 100 else None


def dates_and_times(text: str) -> Iterator[Row]:
    """Yield the ways to write dates with the name of a month, and times, of several words."""
    for day, month, year in islice(_dates(text), _MOST_IN_A_QUERY):
        yield from _days([(day, month)], year)
    words = {word.strip(PUNCTUATION) for word in text.split()}
    of_words = (_time(found) for found in _TIME.finditer(text) if found[0].strip() not in words)
    for hour, minute in islice(filter(None, of_words), _MOST_IN_A_QUERY):
        yield from _ways(hour, minute)


def _dates(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield day, month and year of the dates of several words; the year may be empty."""
    for found in chain.from_iterable(pattern.finditer(text) for pattern in _WRITTEN_DATES):
        name = found["name"]
        if month := int(name) if name.isdigit() else _months().get(folded(name)):
            yield int(found["day"]), month, found["year"] or ""


def _days(days: Iterable[tuple[int, int]], year: str = "") -> Iterator[Row]:
    """Yield the ways to write a day and its month of a year; several for 05/06/2024."""
    last = ((year,),) if year else ()
    for day, month in days:
        if not (0 < day <= _DAYS and 0 < month <= _MONTHS):
            continue
        one, other = (tuple(dict.fromkeys((f"{n}", f"{n:02}"))) for n in (day, month))
        yield Row((one, other, *last))
        if year:
            yield Row((*last, other, one))
        else:
            # The analyzer takes 31.03. for a number.
            written = [as_typed(f"{a}.{b}") for a in one for b in other]
            terms = (of[0].text for of in tokens_of(written) if len(of) == 1)
            yield Row([tuple(dict.fromkeys(terms))])
        if day > _MONTHS:
            yield Row((other, one, *last))
        if names := tuple(name for name, number in _months().items() if number == month):
            yield Row((one, names, *last), _SLOP_OF_A_DATE)


def _time(found: re.Match[str]) -> tuple[int, int] | None:
    """Return the hour, from 0 to 23, and the minute of a number; None if it is no time of day."""
    is_morning = found["am"] or found["morning"]
    is_afternoon = found["pm"] or found["afternoon"]
    # 3.12 may be any number.
    has_minutes = found["minute"] and (found["clock"] or found["point"] != ".")
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    if (is_morning or is_afternoon) and hour <= _HALF_A_DAY:
        hour = hour % _HALF_A_DAY + (_HALF_A_DAY if is_afternoon else 0)
    is_time = is_morning or is_afternoon or has_minutes or found["full"] or found["at"]
    return (hour, minute) if is_time and hour < _DAY_IN_HOURS else None


def _ways(hour: int, minute: int) -> Iterator[Row]:
    """Yield the ways to write a time of day."""
    half, of_twelve = "ap"[hour >= _HALF_A_DAY], (hour - 1) % _HALF_A_DAY + 1
    ways = [f"{hour}:{minute:02}", f"{hour:02}:{minute:02}", f"{hour} Uhr {minute:02}"]
    ways += [f"{hour}h{minute:02}", *(f"{of_twelve}:{minute:02} {half}{m}" for m in ("m", ".m."))]
    if minute:
        ways += [
            f"{hour}.{minute:02}",
            f"{hour:02}.{minute:02}",
            f"{of_twelve}.{minute:02} {half}m",
        ]
    else:
        ways += [f"{hour}{unit}" for unit in ("h", " Uhr", "点", "時", "시")]
        ways += [f"{of_twelve} {half}m", f"{of_twelve} {half}.m."]
        ways += [f"{name}{of_twelve}" for name in _EASTERN_HALVES[half]]
    written = tokens_of([as_typed(way) for way in ways])
    for row in dict.fromkeys(tuple((token.text,) for token in of) for of in written):
        yield Row(row)


@cache
def _months() -> Mapping[str, int]:
    """Return the number of each month by its names as terms."""
    return {folded(name): number for name, number in month_names()}
