"""Numbers in a workbook's cells as Excel displays them, by their number formats.

A format is a pattern of up to four sections: for positive numbers, negative ones, zero, and texts
(ECMA-376, part 1, 18.8.31). Separators and names of months are those of a language, since a
workbook does not store them.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from fractions import Fraction
from functools import cache, lru_cache, partial
from operator import eq, ge, gt, le, lt, ne
from typing import Final

from idx.office.date_format import Locale, Token, date_shown, date_text, duration_text, language_of
from idx.office.table_headings import Number

Format = Callable[[str], str]  # function from the stored value of a cell to the displayed one

_BUILT_IN: Final = {
    **dict(enumerate(("0", "0.00", "#,##0", "#,##0.00"), start=1)),
    **dict(enumerate(("0%", "0.00%", "0.00E+00", "# ?/?", "# ??/??"), start=9)),
    **dict.fromkeys((37, 38), "#,##0;(#,##0)"),
    **dict.fromkeys((39, 40), "#,##0.00;(#,##0.00)"),
    **dict.fromkeys((41, 42), "#,##0"),
    **dict.fromkeys((43, 44), "#,##0.00"),
    48: "##0.0E+0",
}
_BUILT_IN_DATES: Final = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
"""Formats without a pattern in the file; dates in them, and in those of Asia, depend on the
language."""

_BUILT_IN_DURATION: Final = 46

_MAX_REMEMBERED: Final = 10_000  # values whose display is remembered for each format
_MAX_PATTERN: Final = 255
_MAX_DIGITS: Final = 60  # digits that are displayed; numbers have up to 309 without an exponent

_LONG_NUMBER: Final = re.compile(r"\d(?:[ /()\u2013-]{0,2}\d){6,33}")
"""Number that a search finds whatever stands between its digits."""

_FEWEST_OF_A_SUFFIX: Final = 7  # digits at its end by which a search finds it

_EXACT: Final = Context(prec=2 * _MAX_PATTERN, rounding=ROUND_HALF_UP)

_TOKEN: Final = re.compile(
    r'"(?P<text>[^"]*)"?|\\(?P<escaped>.)|(?P<blank>_.)|\*.|\[(?P<bracket>[^\]]*)\]?'
    r"|(?P<general>General)|(?P<half>AM/PM|A/P)|(?P<exponent>E[+-](?=[0#?]))"
    r"|(?P<date>y+|e+|m+|d+|h+|s+)(?:(?<=s)\.0+)?|(?P<digit>[0#?])|(?P<sign>.)",
    re.IGNORECASE | re.DOTALL,
)
_LITERAL: Final = frozenset(("text", "escaped", "blank", "sign"))
_PLAIN: Final = re.compile(r"( *)((?:#,##)?#*0)(?:\.(0*)(#*))?( *)")
_DIGIT: Final = re.compile(r"\d")

_INEXACT: Final = 16  # length from which on a number may have binary rounding errors

_FRACTION: Final = re.compile(r"([0#?]\s+)?[0#?]+\s*/\s*([\d#?]{1,7})")

_CONDITION: Final = re.compile(r"(<=|>=|<>|<|>|=)(-?[\d.]{1,30})")
_COMPARISONS: Final = {"<": lt, "<=": le, ">": gt, ">=": ge, "=": eq, "<>": ne}
_ELAPSED: Final = re.compile(r"h+|m+|s+", re.IGNORECASE)
_OF_SYSTEM: Final = re.compile(r"\[\$-F[48]00\]", re.IGNORECASE)


def format_of(format_id: int, pattern: str | None, locale: Locale) -> Format:
    # The values of a column, such as dates, are often the same.
    return lru_cache(_MAX_REMEMBERED)(_format_of(format_id, pattern, locale))


def _format_of(format_id: int, pattern: str | None, locale: Locale) -> Format:
    is_of_system = pattern is not None and _OF_SYSTEM.search(pattern)
    if is_of_system or (pattern is None and format_id in _BUILT_IN_DATES):
        if format_id == _BUILT_IN_DURATION:
            return duration_text
        return partial(date_text, from_1904=locale.from_1904)
    pattern = _BUILT_IN.get(format_id, "General") if pattern is None else pattern[:_MAX_PATTERN]
    sections = [_Section.of(tokens) for tokens in _divided(pattern)][:3]
    if pattern.lower() in ("general", "@", ""):
        return partial(_general, locale=locale)
    language = language_of(pattern) or locale.language
    return partial(_shown, sections=sections, language=language, locale=locale)


def _divided(pattern: str) -> list[list[Token]]:
    sections: list[list[Token]] = [[]]
    for match in _TOKEN.finditer(pattern):
        kind = match.lastgroup
        if kind == "sign" and match[0] == ";":
            sections.append([])
        elif kind is not None:
            sections[-1].append((kind, match[kind]))
    return sections


@dataclass(frozen=True, slots=True)
class _Plain:
    """Section with nothing but digits in a row, such as ``#,##0.00 €``.

    `unit` is the last decimal place, of which the `optional` ones are left out if they are zero;
    `shift` is 2 for a percentage.
    """

    before: str
    behind: str
    format: str
    unit: Decimal
    optional: int
    shows_sign: bool
    shift: int

    @classmethod
    def of(cls, tokens: Sequence[Token]) -> "_Plain | None":
        signs = "".join(
            text
            if kind == "digit" or (kind == "sign" and text in ",.")
            else " "
            if kind in _LITERAL
            else "?"
            for kind, text in tokens
        )
        found = _PLAIN.fullmatch(signs)
        if found is None:
            return None
        before, behind = (
            "".join(" " if kind == "blank" else text for kind, text in part)
            for part in (tokens[: found.end(1)], tokens[found.start(5) :])
        )
        percent_signs = tokens.count(("sign", "%"))
        if _DIGIT.search(before + behind) or percent_signs > 1:
            return None
        decimals = len(found[3] or "") + len(found[4] or "")
        style = f"{',' * (',' in found[2])}.{decimals}f"
        has_sign = any(sign in before + behind for sign in "-(")
        unit = Decimal(1).scaleb(-decimals)
        shift = 2 * percent_signs
        return cls(before, behind, style, unit, len(found[4] or ""), has_sign, shift)

    def shown(self, number: Decimal, locale: Locale, *, is_signed: bool) -> tuple[str, bool] | None:
        """Return a number as displayed, and whether that surely shows it all; None for some
        negative ones.
        """
        sign = "-" if is_signed and number < 0 else ""
        size = abs(number).scaleb(self.shift, _EXACT)
        rounded = size.quantize(self.unit, context=_EXACT)
        is_exact = rounded == size and not self.shift
        if number < 0 and not (is_exact and (sign or self.shows_sign)):
            return None
        text = format(rounded, self.format)
        for _ in range(self.optional if text.endswith("0") else 0):
            text = text.removesuffix("0")
        if (locale.decimal, locale.thousands) != (".", ","):
            text = text.translate({44: locale.thousands, 46: locale.decimal})
        text = " ".join(f"{sign}{self.before}{text.rstrip('.,')}{self.behind}".split())
        return text, is_exact


@dataclass(frozen=True, slots=True)
class _Section:
    tokens: tuple[Token, ...]
    condition: tuple[str, Decimal] | None
    is_date: bool
    plain: _Plain | None

    @classmethod
    def of(cls, tokens: list[Token]) -> "_Section":
        found: list[Token] = []
        condition = None
        for kind, text in tokens:
            compared = _CONDITION.fullmatch(text) if kind == "bracket" else None
            if compared and (number := _decimal(compared[2])) is not None:
                condition = compared[1], number
            elif kind == "bracket" and _ELAPSED.fullmatch(text):
                found.append(("elapsed", text.lower()))
            elif kind == "bracket" and text.startswith("$"):
                found.append(("text", text[1:].partition("-")[0]))
            elif kind == "date":
                found.append((kind, text.lower()))
            elif kind != "bracket":
                found.append((kind, text))
        is_date = any(kind in ("date", "elapsed", "half") for kind, _ in found)
        return cls(tuple(found), condition, is_date, _Plain.of(found))


def _shown(value: str, sections: Sequence[_Section], language: str, locale: Locale) -> str:
    """Return a number as its format displays it; then the stored value if it cannot be seen."""
    number = _decimal(value)
    if number is None:
        return value
    section, is_signed = _chosen(sections, number)
    if section.is_date:
        return date_shown(value, section.tokens, language, from_1904=locale.from_1904)
    plain = section.plain and section.plain.shown(number, locale, is_signed=is_signed)
    if plain:
        shown, is_exact = plain
        if is_exact:
            return Number(shown)
    else:
        shown = " ".join(_number_shown(abs(number), section, locale).split())
        if is_signed and number < 0 and any(digit in shown for digit in "123456789"):
            shown = f"-{shown}"
    stored = _general(value, locale)
    if not shown or len(shown) > _MAX_PATTERN + _MAX_DIGITS:
        return stored
    if any(kind == "sign" and text == "%" for kind, text in section.tokens):
        number = number.scaleb(2, _EXACT)
        stored = f"{_general(format(number, 'f'), locale)}%"
    return Number(shown if _is_seen(number, shown, locale) else f"{shown} ({stored})")


def is_seen(value: str, shown: str) -> bool:
    """Check whether a displayed text has a number or a date, in the notation of any language."""
    number = _decimal(value)
    if number is None:
        return value in shown
    signs = (Locale(), *(Locale("", ",", sign) for sign in (".", " ")))
    return any(_is_seen(number, shown, locale) for locale in signs)


def _is_seen(number: Decimal, shown: str, locale: Locale) -> bool:
    """Check whether a displayed text has the number itself, perhaps with signs between its digits.

    A search finds longer numbers, such as those of telephones, whatever stands between the digits.
    """
    if number < 0 and not re.search("[-(]", shown):
        return False
    plain = format(abs(number), "f")
    long = ("".join(filter(str.isdigit, run)) for run in _LONG_NUMBER.findall(shown))
    if len(plain) >= _FEWEST_OF_A_SUFFIX and any(run.endswith(plain) for run in long):
        return True
    thousands = " ".join(locale.thousands.split()) or " "
    runs = _notation(thousands, locale.decimal).findall(shown)
    if len(runs) != 1 or (runs[0].startswith("0") and runs[0][1:2].isdecimal()):
        return False
    digits = runs[0].replace(thousands, "").replace(locale.decimal, ".")
    return _decimal(digits) == abs(number)


@cache
def _notation(thousands: str, decimal: str) -> re.Pattern[str]:
    """Return a pattern of numbers with these separators."""
    whole = rf"\d{{1,3}}(?:{re.escape(thousands)}\d{{3}})+(?!\d)|\d+"
    return re.compile(rf"(?:{whole})(?:{re.escape(decimal)}\d+)?")


def _chosen(sections: Sequence[_Section], number: Decimal) -> tuple[_Section, bool]:
    """Return the section for a number, and whether it shows the sign of the number."""
    if any(section.condition for section in sections):
        for section in sections:
            if section.condition is None or _COMPARISONS[section.condition[0]](
                number, section.condition[1]
            ):
                return section, True
        return sections[-1], True
    if number < 0 and len(sections) > 1:
        return sections[1], False
    return sections[2 if number == 0 and len(sections) > 2 else 0], True  # noqa: PLR2004


def _number_shown(number: Decimal, section: _Section, locale: Locale) -> str:
    tokens = section.tokens
    signs = [text if kind in ("sign", "digit", "exponent") else "" for kind, text in tokens]
    if not any(kind == "digit" for kind, _ in tokens):
        return "".join(_literal(kind, text, number, locale) for kind, text in tokens)
    if _FRACTION.search("".join(signs)):
        return _fraction_shown(number, tokens)
    end = next((at for at, (kind, _) in enumerate(tokens) if kind == "exponent"), len(tokens))
    point = signs.index(".") if "." in signs[:end] else end
    whole = [at for at in range(min(point, end)) if tokens[at][0] == "digit"]
    decimals = [at for at in range(point, end) if tokens[at][0] == "digit"]
    commas = [at for at in range(end) if signs[at] == ","]
    ones = whole[-1] if whole else point
    # A comma behind the last digit divides by a thousand.
    scale = sum(at > (decimals or whole or [0])[-1] or ones < at < point for at in commas)
    is_grouped = any(whole and whole[0] < at < ones for at in commas)
    number = number.scaleb(2 * signs.count("%") - 3 * scale, _EXACT)
    exponent = 0
    if end < len(tokens) and number:
        exponent = number.adjusted() // max(len(whole), 1) * max(len(whole), 1)
        number = number.scaleb(-exponent, _EXACT)
    digits = format(number.quantize(Decimal(1).scaleb(-len(decimals)), context=_EXACT), "f")
    integer, _, fraction = digits.partition(".")
    shown = {at: _literal(*tokens[at], number, locale) for at in range(len(tokens))}
    shown |= dict.fromkeys(commas, "")
    shown |= _placed(integer.lstrip("0"), whole, tokens, locale.thousands if is_grouped else "")
    for at, digit in zip(decimals, fraction, strict=True):
        shown[at] = digit
    for at in reversed(decimals):
        if shown[at] != "0" or tokens[at][1] == "0":
            break
        shown[at] = ""
    if point < end:
        shown[point] = locale.decimal if any(shown[at] for at in decimals) else ""
    if end < len(tokens):
        powers = [at for at in range(end, len(tokens)) if tokens[at][0] == "digit"]
        sign = "-" if exponent < 0 else "+" * tokens[end][1].endswith("+")
        shown |= {end: f"E{sign}", **_placed(str(abs(exponent)).lstrip("0"), powers, tokens, "")}
    return "".join(shown[at] for at in range(len(tokens)))


def _placed(
    digits: str, places: Sequence[int], tokens: Sequence[Token], separator: str
) -> dict[int, str]:
    least = next((len(places) - of for of, at in enumerate(places) if tokens[at][1] == "0"), 0)
    digits = digits.rjust(least, "0")
    found = dict.fromkeys(places, "")
    for of, digit in enumerate(reversed(digits)):
        at = places[max(len(places) - 1 - of, 0)] if places else None
        if at is not None:
            found[at] = f"{digit}{separator if of and of % 3 == 0 else ''}{found[at]}"
    return found


def _literal(kind: str, text: str, number: Decimal, locale: Locale) -> str:
    if kind == "general" or (kind, text) == ("sign", "@"):
        return _general(format(number, "f"), locale)
    return {"blank": " ", "digit": ""}.get(kind, text)


def _fraction_shown(number: Decimal, tokens: Sequence[Token]) -> str:
    """Return a number as a fraction, such as 1 1/2; the digits of its pattern bound the divisor."""
    texts = "".join(" " if kind == "blank" else text for kind, text in tokens)
    has_whole, divisor = _FRACTION.search(texts).groups()  # type: ignore[union-attr]
    whole = int(number) if has_whole else 0
    rest = Fraction(number - whole)
    if divisor.isdigit() and int(divisor):
        part, of = round(rest * int(divisor)), int(divisor)
    else:
        near = rest.limit_denominator(10 ** min(len(divisor), 7) - 1)
        part, of = near.numerator, near.denominator
    if has_whole and part == of:
        whole, part = whole + 1, 0
    return f"{whole or ''} {f'{part}/{of}' if part else ''}".strip() or "0"


def _decimal(text: str) -> Decimal | None:
    try:
        number = Decimal(text if len(text) < _INEXACT else number_text(text))
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) < _MAX_DIGITS else None


def _general(value: str, locale: Locale) -> str:
    return number_text(value).replace(".", locale.decimal)


def number_text(value: str) -> str:
    """Return a number without binary rounding errors: 0.3 for 0.30000000000000004."""
    try:
        return f"{float(value):.15g}" if "." in value or "E" in value.upper() else value
    except ValueError:
        return value
