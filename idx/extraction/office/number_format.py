"""Display format of numbers in a workbook's cells."""

import re
from datetime import datetime, timedelta
from typing import Final

# Built-in formats without a pattern in the file (ECMA-376, part 1, 18.8.30), and those of Asia.
_BUILT_IN_DATES: Final = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
_BUILT_IN_DURATION: Final = 46
_BUILT_IN_PERCENTAGES: Final = frozenset((9, 10))

_NOT_PATTERN: Final = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)
_DATE: Final = re.compile(r"[dmyhs]", re.IGNORECASE)
_DURATION: Final = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)

_EPOCH: Final = datetime(1899, 12, 30)
_EPOCH_1904: Final = datetime(1904, 1, 1)
_LEAP_BUG: Final = 60
"""Day number of 29 February 1900, which Excel counts; earlier days are off by one."""


def is_date(format_id: int, pattern: str | None) -> bool:
    """Check whether a number format displays a date or a time."""
    if pattern is None:
        return format_id in _BUILT_IN_DATES
    return bool(_DATE.search(_positive_pattern(pattern)))


def is_duration(format_id: int, pattern: str | None) -> bool:
    """Check whether a number format displays a duration, whose hours may exceed 23."""
    if pattern is None:
        return format_id == _BUILT_IN_DURATION
    return bool(_DURATION.search(_positive_pattern(pattern)))


def is_percentage(format_id: int, pattern: str | None) -> bool:
    """Check whether a number format displays a percentage."""
    if pattern is None:
        return format_id in _BUILT_IN_PERCENTAGES
    return "%" in _NOT_PATTERN.sub("", pattern)


def _positive_pattern(pattern: str) -> str:
    """Return the part of a pattern for positive numbers, without texts and colours."""
    return _NOT_PATTERN.sub("", pattern).partition(";")[0]


def number_text(value: str) -> str:
    """Return a number without binary rounding errors: 0.3 for 0.30000000000000004."""
    try:
        return f"{float(value):.15g}" if "." in value or "E" in value.upper() else value
    except ValueError:
        return value


def percentage_text(value: str) -> str:
    """Return a fraction as a percentage: 7% for 0.07."""
    try:
        return f"{float(value) * 100:.15g}%"
    except ValueError:
        return value


def date_text(value: str, *, from_1904: bool) -> str:
    """Return days since the workbook's epoch as a date, a time, or both; other text unchanged."""
    try:
        days = float(value)
        if not from_1904 and 0 < days < _LEAP_BUG:
            days += days >= 1
        # Excel's times are exact to the second.
        seconds = round(days * 86_400)
        moment = (_EPOCH_1904 if from_1904 else _EPOCH) + timedelta(seconds=seconds)
    except (ValueError, OverflowError):
        return value
    if 0 <= days < 1:
        return moment.strftime("%H:%M:%S")
    return moment.date().isoformat() if seconds % 86_400 == 0 else moment.isoformat(" ")


def duration_text(value: str) -> str:
    """Return days as hours, minutes and seconds: 37:30:00 for 1.5625; other text unchanged."""
    try:
        seconds = round(float(value) * 86_400)
    except (ValueError, OverflowError):
        return value
    minutes, rest = divmod(abs(seconds), 60)
    return f"{'-' if seconds < 0 else ''}{minutes // 60}:{minutes % 60:02}:{rest:02}"
