"""Details of a PDF: outline, properties, and fields of forms."""

import ctypes
import re
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

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
    r"D:(\d{4})(\d\d)?(\d\d)?(\d\d(?:\d\d){0,2})?(?:([Z+-])(?:(\d\d)'?(\d\d)?'?)?)?"
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
    *date, time, sign, hours, minutes = found.groups(default="")
    day = "-".join(filter(None, date))
    zone = f"{sign}{hours}{minutes}" if hours and sign != "Z" else sign and "Z"
    return f"{day}T{time}{zone}" if time else day


_PASSWORD_FLAG: Final = 1 << 13
"""Flag of a text field whose value is a password (ISO 32000-1, 12.7.4.3)."""


def read_fields(page: Any, form: Any) -> Iterator[str]:
    """Yield the values of the text and choice fields of a page.

    Each stands after the display name of its field; passwords and empty fields are omitted. The
    page was loaded after its document's forms.
    """
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
