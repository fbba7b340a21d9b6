"""Locale of a workbook, which decides how its numbers are displayed, and is not stored in it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

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
    """Return the language that a format names."""
    named = _LANGUAGE.search(pattern)
    if named is None:
        return None
    return named[2].lower() if named[2] else _LANGUAGES.get(named[1].lower())
