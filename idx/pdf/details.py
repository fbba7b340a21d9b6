"""Details of a PDF: outline, properties, fields of forms, and letters that are none or in parts."""

import ctypes
import re
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from idx.errors import SourceFileError
from idx.text.cleaning import MAX_HEADINGS, headings
from idx.text.properties import one_line, properties
from shared.model.document import Heading, Metadata, Page

OutlineItem = tuple[int, str, int]
"""Level, title and page of a heading."""


def read_outline(document: Any) -> list[OutlineItem]:
    items = []
    for bookmark in islice(document.get_toc(), MAX_HEADINGS):
        destination = bookmark.get_dest()
        index = destination.get_index() if destination else None
        try:
            title = one_line(bookmark.get_title())
        except UnicodeDecodeError:
            # It has half of a surrogate pair.
            continue
        if index is not None and title:
            items.append((bookmark.level + 1, title, index + 1))
    return items


def outline_headings(
    items: Sequence[OutlineItem], text: str, pages: Sequence[Page]
) -> tuple[Heading, ...]:
    """Return the headings of an outline in the text of the pages.

    A heading stands where its page has its words, after the heading before it, or else where it
    has them in another spelling, or else at the beginning of the page.
    """
    ends = [*(page.start for page in pages[1:]), len(text)]
    spans = {page.label: (page.start, end) for page, end in zip(pages, ends, strict=True)}
    return headings(sorted(_placed(items, text, spans), key=lambda placed: placed[2]))


def _placed(
    items: Sequence[OutlineItem], text: str, spans: Mapping[int | str, tuple[int, int]]
) -> Iterator[tuple[int, str, int]]:
    plain_pages: dict[int, tuple[str, array[int]]] = {}
    after = 0
    for level, title, page in items:
        if page not in spans:
            continue
        start, end = spans[page]
        after = max(start, after) if after < end else start
        found = text.find(title, after, end)
        if found < 0:
            if page not in plain_pages:
                plain_pages[page] = _plain(text[start:end])
            found = start + _find_plain(title, *plain_pages[page], after - start)
        # One that was not found stands at the heading before it.
        after = max(after, found)
        yield level, title, after


class _PlainSigns(dict[int, str]):
    """Table for `str.translate` of characters to their base letters, in lower case."""

    def __missing__(self, code: int) -> str:
        parts = unicodedata.normalize("NFKD", chr(code)).lower()
        base = [part for part in parts if unicodedata.category(part) not in _DROPPED_CATEGORIES]
        # A syllable of Korean has several parts, and stays whole.
        self[code] = chr(code) if base[1:] else "".join(base) or _DROPPED
        return self[code]


_DROPPED: Final = "\0"

_DROPPED_CATEGORIES: Final = frozenset({"Mn", "Sk", "Pi", "Pf", "Pd", "Zs", "Zl", "Zp", "Cc", "Cf"})
"""Accents, quotes, dashes and white space, which outlines and pages write in different ways."""

# The letter i under the accents that TeX sets apart has no dot.
_PLAIN_SIGNS: Final = _PlainSigns(
    {**dict.fromkeys(map(ord, "'\"\u02bc\u201a\u201e\u2032\u2033\u2212"), _DROPPED), 0x131: "i"}
)

_MAX_FINDS: Final = 100  # of a title within words of one page


def _plain(text: str) -> tuple[str, "array[int]"]:
    """Return the base letters and signs of a text, in lower case, and the place of each in it."""
    plain = text.translate(_PLAIN_SIGNS)
    places = array("L", (place for place, sign in enumerate(plain) if sign != _DROPPED))
    return plain.replace(_DROPPED, ""), places


def _find_plain(title: str, plain: str, places: "array[int]", after: int) -> int:
    """Return the place of a title in a text by the letters of both, or -1.

    It neither begins nor ends within a word.
    """
    wanted, _ = _plain(title)
    at = bisect_left(places, after) - 1
    for _ in range(_MAX_FINDS):
        at = plain.find(wanted, at + 1)
        if at < 0 or not wanted:
            break
        if _is_edge(plain, places, at) and _is_edge(plain, places, at + len(wanted)):
            return places[at]
    return -1


def _is_edge(plain: str, places: "array[int]", at: int) -> bool:
    """Check whether no word goes on from one of the letters to the next."""
    return (
        not 0 < at < len(plain)
        or places[at] - places[at - 1] > 1
        or not (plain[at - 1].isalnum() and plain[at].isalnum())
    )


_DATE: Final = re.compile(
    r"D:(?P<year>\d{4})(?:(?P<month>\d\d)(?:(?P<day>\d\d)"
    r"(?:(?P<hour>\d\d)(?P<minute>\d\d)?(?P<second>\d\d)?"
    r"(?P<zone>[Z+-](?:(?P<hours>\d\d)'?(?P<minutes>\d\d)?'?)?)?)?)?)?"
)
"""Pattern of a PDF date (ISO 32000-1, 7.9.4), in which all but the year may be missing."""


def read_properties(document: Any) -> tuple[str | None, Metadata]:
    """Return the title and the other properties of a document.

    The creator is the program that wrote the text, or else the one that produced the PDF.
    """
    metadata = properties(
        author=_value(document, "Author"),
        subject=_value(document, "Subject"),
        keywords=_value(document, "Keywords"),
        creator=one_line(_value(document, "Creator")) or _value(document, "Producer"),
        created=_iso_time(_value(document, "CreationDate")),
        modified=_iso_time(_value(document, "ModDate")),
    )
    return one_line(_value(document, "Title")), metadata


def _value(document: Any, name: str) -> str:
    from pypdfium2 import raw

    # The method of pypdfium2 raises an error on lone surrogates.
    return _string(raw.FPDF_GetMetaText, document, name.encode())


def _iso_time(value: str) -> str:
    """Convert a PDF date to ISO 8601; other values, some already in ISO 8601, are unchanged."""
    found = _DATE.fullmatch(value.strip())
    if not found:
        return value
    parts = found.groupdict(default="00")
    date = "-".join(found[name] for name in ("year", "month", "day") if found[name])
    if not found["hour"]:
        return date
    zone = found["zone"] or ""
    offset = f"{zone[0].replace('Z', '+')}{parts['hours']}:{parts['minutes']}" if zone else ""
    return f"{date}T{parts['hour']}:{parts['minute']}:{parts['second']}{offset}"


_PASSWORD_FLAG: Final = 1 << 13
"""Flag of a text field whose value is a password (ISO 32000-1, 12.7.4.3)."""


def read_fields(page: Any, form: Any) -> str:
    """Return the values of the text and choice fields of a page, one field per line.

    Each stands after the display name of its field; passwords and empty fields are omitted. The
    page was loaded after its document's forms.
    """
    return "\n".join(_fields(page, form))


def _fields(page: Any, form: Any) -> Iterator[str]:
    from pypdfium2 import raw

    kinds = (raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX)
    for index in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            # Other annotations have a type that is not listed.
            kind = raw.FPDFAnnot_GetFormFieldType(form, annotation)
            if kind not in kinds:
                continue
            is_text = kind == raw.FPDF_FORMFIELD_TEXTFIELD
            if is_text and raw.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD_FLAG:
                continue
            value = "" if is_text else _choices(form, annotation)
            # Text typed into a field with choices is not one of the choices.
            value = value or _string(raw.FPDFAnnot_GetFormFieldValue, form, annotation)
            name = _string(raw.FPDFAnnot_GetFormFieldAlternateName, form, annotation)
            if value:
                yield f"{name}: {value}" if name else value
        finally:
            raw.FPDFPage_CloseAnnot(annotation)


def _choices(form: Any, annotation: Any) -> str:
    """Return the labels of the selected choices, since their values may be codes."""
    from pypdfium2 import raw

    return ", ".join(
        _string(raw.FPDFAnnot_GetOptionLabel, form, annotation, index)
        for index in range(raw.FPDFAnnot_GetOptionCount(form, annotation))
        if raw.FPDFAnnot_IsOptionSelected(form, annotation, index)
    )


def _string(function: Callable[..., int], *arguments: Any) -> str:
    """Return the text that a function of PDFium writes into a buffer as null-terminated UTF-16."""
    from pypdfium2 import raw

    size = function(*arguments, None, 0)
    buffer = ctypes.create_string_buffer(size)
    function(*arguments, ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)), size)
    return buffer.raw.decode("utf-16-le", errors="ignore").rstrip("\0").strip()


class GarbledError(SourceFileError):
    """A file has no text but that of fonts that do not say which letters they show."""

    kind = "garbled"


_MIN_CHARACTERS: Final = 40  # of a text that is judged, without white space

_MAX_UNKNOWN_SHARE: Final = 0.3
"""Maximum share of characters that are no letters of any script; symbols of lists are fewer."""

_UNKNOWN: Final = re.compile(
    "[\ue000-\uf8ff\ufffd\x00-\x08\x0e-\x1f\x7f-\x9f\U000f0000-\U0010ffff]"
)


def is_garbled(text: str) -> bool:
    """Check whether many characters of a page, as the engine reads it, are no letters."""
    length = sum(map(len, text.split()))
    return length >= _MIN_CHARACTERS and len(_UNKNOWN.findall(text)) > _MAX_UNKNOWN_SHARE * length


_ACCENTS: Final = {
    "`": "\u0300",
    "\xa8": "\u0308",
    "\xaf": "\u0304",
    "\xb4": "\u0301",
    "\xb8": "\u0327",
    "\u02c6": "\u0302",
    "\u02c7": "\u030c",
    "\u02d8": "\u0306",
    "\u02d9": "\u0307",
    "\u02da": "\u030a",
    "\u02db": "\u0328",
    "\u02dc": "\u0303",
    "\u02dd": "\u030b",
}
"""Accents that are characters of their own, and those that combine with a letter."""

_ACCENT: Final = re.compile(f"[{''.join(_ACCENTS)}]")
_ACCENT_AND_LETTER: Final = re.compile(f"([{''.join(_ACCENTS)}]) ?([^\\W\\d_])")
_DOTTED: Final = {"\u0131": "i", "\u0237": "j"}  # letters without the dot, which have an accent

REMOVED: Final = "\ufdd2"
"""Noncharacter in place of a removed character: places in the text stay those on the page."""

_BESIDE_ACCENTS: Final = (" ", REMOVED)

_MAX_COMPARISONS: Final = 20_000_000  # of accents with letters of a page, a tenth of a second
_HEIGHT_OF_LETTER: Final = 0.4  # height within any letter, as a fraction of the font's
_MAX_GAP_IN_WORD: Final = 0.1  # distance of letters of a word, as a fraction of the font's height


def with_accents(letters: Any, text: str) -> str:
    """Return the text of a page with each accent joined to the letter that it stands on.

    LaTeX draws accents by themselves, before or after the letter, and PDFium may move them to the
    end of the line. An accent used as a quote stands on no letter. The text keeps its length, with
    `REMOVED` in place of the accents.
    """
    accents = [*_ACCENT.finditer(text)]
    if not accents or len(text) != letters.count_chars():
        return text
    if len(accents) * len(text) > _MAX_COMPARISONS:
        return text
    joined = [*text]
    removed = []
    for accent in accents:
        for place in _places_at_accent(letters, accent.start()):
            if whole := _whole(accent[0], joined[place]):
                joined[place], joined[accent.start()] = whole, REMOVED
                removed.append(accent.start())
                break
    done = 0
    for place in sorted(removed):
        if place >= done:
            done = _close_gap(letters, joined, place)
    return "".join(joined)


def join_accents(text: str, plain: str) -> str:
    """Join accents to the letters after them if the page's text `plain` has no accent by itself."""
    if _ACCENT.search(plain):
        return text
    return _ACCENT_AND_LETTER.sub(lambda pair: _whole(*pair.groups()) or pair[0], text)


def _whole(accent: str, letter: str) -> str:
    """Return the letter with an accent; an empty text if there is no such letter."""
    whole = unicodedata.normalize("NFC", _DOTTED.get(letter, letter) + _ACCENTS[accent])
    return whole if letter.isalpha() and len(whole) == 1 else ""


def _places_at_accent(letters: Any, place: int) -> Iterator[int]:
    """Yield the places of letters that an accent may stand on, the likeliest first."""
    from pypdfium2 import raw

    left, _, right, _ = letters.get_charbox(place)
    middle = (left + right) / 2
    _, bottom, _, top = letters.get_charbox(place, loose=True)
    height = bottom + _HEIGHT_OF_LETTER * (top - bottom)
    found = raw.FPDFText_GetCharIndexAtPos(letters, middle, height, 1, 1)
    if found >= 0:
        yield found
    if place + 1 < letters.count_chars():
        left, _, right, _ = letters.get_charbox(place + 1)
        if left < middle < right + 1:
            yield place + 1


def _close_gap(letters: Any, joined: list[str], place: int) -> int:
    """Remove the spaces that PDFium adds around accents, unless words end there.

    Return the place of what follows them.
    """
    from pypdfium2 import raw

    begin, end = place, place + 1
    while begin and joined[begin - 1] in _BESIDE_ACCENTS:
        begin -= 1
    while end < len(joined) and joined[end] in _BESIDE_ACCENTS:
        end += 1
    gaps = [each for each in range(begin, end) if joined[each] == " "]
    is_within = begin and end < len(joined) and joined[begin - 1] != "\n" and joined[end] != "\r"
    if not is_within or any(raw.FPDFText_IsGenerated(letters, each) != 1 for each in gaps):
        return end
    before = letters.get_charbox(begin - 1, loose=True)
    after = letters.get_charbox(end, loose=True)
    if after[0] - before[2] < _MAX_GAP_IN_WORD * (before[3] - before[1]):
        joined[begin:end] = [REMOVED] * (end - begin)
    return end


_ALEF_AND_LAM: Final = re.compile("[\u0627\u0622\u0623\u0625]\u0644")


def with_ligatures(letters: Any, text: str) -> str:
    """Return the text of a page with the letters of the Arabic ligature lam-alef in their order.

    PDFium reverses a line from right to left together with the two letters of this one glyph, which
    have the same box.
    """
    if not _ALEF_AND_LAM.search(text) or len(text) != letters.count_chars():
        return text
    return _ALEF_AND_LAM.sub(lambda pair: _in_order(letters, pair), text)


def _in_order(letters: Any, pair: re.Match[str]) -> str:
    one, other = (letters.get_charbox(place) for place in (pair.start(), pair.start() + 1))
    return pair[0][::-1] if one == other else pair[0]
