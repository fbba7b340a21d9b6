"""Dates, times and durations in a workbook's cells as Excel displays them, and its locale."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from idx.office.table_headings import Number

_LANGUAGE: Final = re.compile(
    r"\[\$[^\]-]*-(?:[0-9A-F]{0,4}?([0-9A-F]{2})|([a-z]{2})[^\]]*)\]", re.IGNORECASE
)
_EURO_BEHIND: Final = re.compile(r"[0#?][^;]{0,4}(?:€|\[\$€)")

_CODES: Final = (
    "03:ca 05:cs 06:da 07:de 08:el 09:en 0a:es 0b:fi 0c:fr 0e:hu 10:it 13:nl 14:no 15:pl 16:pt "
    "18:ro 19:ru 1a:hr 1b:sk 1d:sv 1f:tr 21:id 22:uk 24:sl 2a:vi"
)
_LANGUAGES: Final = dict(code.split(":") for code in _CODES.split())
"""Languages by the lower byte of Windows' number of a locale (MS-LCID)."""

_WITH_COMMA: Final = {
    **dict.fromkeys("ca da de el es hr id it nl pt ro sl tr vi".split(), "."),  # noqa: SIM905
    **dict.fromkeys("cs fi fr hu no pl ru sk sv uk".split(), "\u00a0"),  # noqa: SIM905
}
"""Languages with a decimal comma, and their separators of thousands."""

_PLACE: Final = re.compile(r"\[\$[^\]-]*-0*([0-9a-z-]+)\]", re.IGNORECASE)
_WITH_POINT: Final = {
    **dict.fromkeys("807 100c 810 de-ch fr-ch it-ch".split(), "\u2019"),  # noqa: SIM905
    **dict.fromkeys("80a es-mx".split(), ","),  # noqa: SIM905
}
"""Countries that have a decimal point all the same: Switzerland and Mexico."""


@dataclass(frozen=True, slots=True)
class Locale:
    """What the display of numbers depends on beside their formats."""

    language: str = "en"
    decimal: str = "."
    thousands: str = ","
    from_1904: bool = False


def locale_of(patterns: Sequence[str], language: str | None, *, from_1904: bool) -> Locale:
    """Return the locale of a workbook, which it does not store.

    Its formats may name a language, or have a euro sign behind numbers; the language of its texts
    counts if it is known for certain.
    """
    named = [code for pattern in patterns if (code := language_of(pattern))]
    language = next((code for code in named if code != "en"), language or (named or ["en"])[0])
    if language not in _WITH_COMMA and any(map(_EURO_BEHIND.search, patterns)):
        language = "de"
    places = [match[1].lower() for pattern in patterns if (match := _PLACE.search(pattern))]
    if thousands := next(filter(None, map(_WITH_POINT.get, places)), None):
        return Locale(language, thousands=thousands, from_1904=from_1904)
    if language in _WITH_COMMA:
        return Locale(language, ",", _WITH_COMMA[language], from_1904)
    return Locale(language, from_1904=from_1904)


def language_of(pattern: str) -> str | None:
    named = _LANGUAGE.search(pattern)
    if named is None:
        return None
    return named[2].lower() if named[2] else _LANGUAGES.get(named[1].lower())


Token = tuple[str, str]  # part of a number format: its kind and its text

_NAMES: Final = {
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember "
    "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
    "en": "January February March April May June July August September October November December "
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre "
    "diciembre lunes martes miércoles jueves viernes sábado domingo",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre "
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre "
    "dicembre lunedì martedì mercoledì giovedì venerdì sabato domenica",
    "nl": "januari februari maart april mei juni juli augustus september oktober november "
    "december maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro "
    "dezembro segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo",
}
"""Months, then days of the week, in languages in which dates are displayed."""

_SHORT: Final = {"fr": 4}  # letters of a shortened name, if it is not three

EPOCH: Final = datetime(1899, 12, 30)
_EPOCH_1904: Final = datetime(1904, 1, 1)
_LEAP_BUG: Final = 60
"""Day number of 29 February 1900, which Excel counts; earlier days are off by one."""

_NOON: Final = 12
_LONGEST_NUMBER: Final = 2  # letters in a format up to which a month or a day is a number


def date_shown(value: str, tokens: Sequence[Token], language: str, *, from_1904: bool) -> Number:
    """Return a date, a time or a duration as displayed, then in ISO 8601 if that differs."""
    if any(kind == "elapsed" for kind, _ in tokens):
        return Number(duration_text(value))
    moment = _moment(value, from_1904=from_1904)
    stored = _iso(value, moment)
    shown = " ".join(_shown(moment, tokens, language).split()) if moment else ""
    return Number(stored if shown in stored else f"{shown} ({stored})")


def _shown(moment: datetime, tokens: Sequence[Token], language: str) -> str:
    """Return a moment as displayed; empty if the names of the language are not known."""
    names = _NAMES.get(language, "").split()
    has_names = any(
        kind == "date" and len(text) > _LONGEST_NUMBER and text[0] in "md" for kind, text in tokens
    )
    if has_names and not names:
        return ""
    has_half = any(kind == "half" for kind, _ in tokens)
    hour = (moment.hour - 1) % _NOON + 1 if has_half else moment.hour
    numbers = {"h": hour, "minute": moment.minute, "s": moment.second}
    numbers |= {"d": moment.day, "m": moment.month}
    parts = []
    before = ""
    for at, (kind, text) in enumerate(tokens):
        if kind != "date":
            half = "AM" if moment.hour < _NOON else "PM"
            parts.append({"half": half, "blank": " ", "digit": ""}.get(kind, text.strip("@")))
            continue
        letter = text[0]
        if letter == "m" and _is_minute(before, tokens[at:]):
            letter = "minute"
        before = text[0]
        number = numbers.get(letter, moment.year)
        if letter in ("y", "e"):
            parts.append(f"{number % 100:02}" if text in ("y", "yy") else str(number))
        elif letter in ("d", "m") and len(text) > _LONGEST_NUMBER:
            name = names[moment.month - 1 if letter == "m" else _NOON + moment.weekday()]
            parts.append({3: name[: _SHORT.get(language, 3)], 5: name[:1]}.get(len(text), name))
        else:
            parts.append(f"{number:0{min(len(text), 2)}}")
    return "".join(parts)


def _is_minute(before: str, tokens: Sequence[tuple[str, str]]) -> bool:
    """Check whether m is a minute: after an hour, or before a second."""
    following = (text[0] for kind, text in tokens[1:] if kind == "date")
    return before == "h" or next(following, "") == "s"


def date_text(value: str, *, from_1904: bool) -> str:
    """Return days since the workbook's epoch as a date, a time, or both; other text unchanged."""
    return _iso(value, _moment(value, from_1904=from_1904))


def _iso(value: str, moment: datetime | None) -> str:
    if moment is None:
        return value
    if 0 <= float(value) < 1:
        return moment.strftime("%H:%M:%S")
    is_day = moment.time() == datetime.min.time()
    return moment.date().isoformat() if is_day else moment.isoformat(" ")


def _moment(value: str, *, from_1904: bool) -> datetime | None:
    try:
        days = float(value)
        if not from_1904 and 0 < days < _LEAP_BUG:
            days += days >= 1
        # Excel's times are exact to the second.
        return (_EPOCH_1904 if from_1904 else EPOCH) + timedelta(seconds=round(days * 86_400))
    except (ValueError, OverflowError):
        return None


def duration_text(value: str) -> str:
    """Return days as hours, minutes and seconds: 37:30:00 for 1.5625; other text unchanged."""
    try:
        seconds = round(float(value) * 86_400)
    except (ValueError, OverflowError):
        return value
    minutes, rest = divmod(abs(seconds), 60)
    return f"{'-' if seconds < 0 else ''}{minutes // 60}:{minutes % 60:02}:{rest:02}"
