"""Extraction of calendars (.ics) and cards of contacts (.vcf).

Both are lines of a name, parameters and a value (RFC 5545, RFC 6350). They are read here and not by
a library, because libraries refuse a whole file for one malformed line, and programs write many.
"""

import quopri
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Final

from idx.extraction.types import Extracted, Source
from idx.text.cleaning import join_sections, normalize
from idx.text.decoding import declared_codec, decode
from idx.text.plain_text import extract_plain_text
from idx.text.properties import one_line, properties

_FOLDED: Final = re.compile(r"\r?\n[ \t]")
_FOLDED_BYTES: Final = re.compile(rb"\r?\n[ \t]")
_LINE_BREAK: Final = re.compile(r"\r\n?|\n")
_LINE: Final = re.compile(
    r"(?:[\w-]+\.)?(?P<name>[\w-]+)(?P<parameters>(?:;(?:[^;:\"]|\"[^\"]*\")*+)*+):(?P<value>.*)"
)
_PARAMETER: Final = re.compile(r";([\w-]+)(?:=(\"[^\"]*\"|[^;]*))?")
_ESCAPE: Final = re.compile(r"\\(.)")

_TIME: Final = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})(?:T(\d{2}):?(\d{2})(?::?\d{2})?(Z)?)?")
_CARD: Final = re.compile(r"^BEGIN:VCARD\s*$", re.IGNORECASE | re.MULTILINE)

_ENTRIES: Final = frozenset({"VEVENT", "VTODO", "VJOURNAL", "VCARD"})

_LABELS: Final = {
    "SUMMARY": "",
    "FN": "",
    "DTSTART": "Begins",
    "DTEND": "Ends",
    "DUE": "Due",
    "RRULE": "Repeats",
    "LOCATION": "Location",
    "ORGANIZER": "Organizer",
    "ATTENDEE": "Attendee",
    "STATUS": "Status",
    "CATEGORIES": "Categories",
    "URL": "URL",
    "DESCRIPTION": "",
    "COMMENT": "Comment",
    "NICKNAME": "Nickname",
    "ORG": "Organization",
    "TITLE": "Title",
    "ROLE": "Role",
    "EMAIL": "E-mail",
    "TEL": "Telephone",
    "ADR": "Address",
    "BDAY": "Birthday",
    "NOTE": "",
}
"""Properties that are extracted, with the label before the value; all others have no text."""

_TIMES: Final = frozenset({"DTSTART", "DTEND", "DUE", "BDAY"})
_COMPONENTS: Final = frozenset({"ORG", "ADR"})


@dataclass(frozen=True, slots=True)
class _Property:
    """Line of a calendar or card: its name and those of parameters are in upper case."""

    name: str
    parameters: dict[str, str]
    value: str


@dataclass(slots=True)
class _Entry:
    """Event, task, note of a calendar, or card: its title, the parts of a name, and its lines."""

    title: str = ""
    name: str = ""
    begins: date | None = None
    last_day: date | None = None
    lines: list[str] = field(default_factory=list)


def extract_calendar(source: Source) -> Extracted:
    """Extract events, tasks and contacts, each as a section under its title.

    Photographs, alarms, time zones and numbers of programs are left out. Another text is extracted
    as it is.
    """
    text = decode(unfolded(source.data), source.file, source.options.encoding)
    # The extension of cards is also that of lists of genetic variants.
    return read_calendar(text) or extract_plain_text(source)


def read_calendar(text: str) -> Extracted | None:
    """Read events, tasks and contacts; None for another text."""
    if "BEGIN:V" not in text.upper():
        return None
    entries, calendar = _entries(text)
    joined, headings = join_sections(
        (1 if entry.title else 0, entry.title, "\n".join((entry.title, *entry.lines)))
        for entry in entries
    )
    single = entries[0].title if len(entries) == 1 and _CARD.search(text) else None
    return Extracted(
        text=joined,
        title=one_line(calendar.get("X-WR-CALNAME") or single),
        metadata=properties(creator=calendar.get("PRODID")),
        headings=headings,
    )


def unfolded(data: bytes) -> bytes:
    """Join lines that were broken, possibly within a letter; those of UTF-16 stay as they are."""
    return _FOLDED_BYTES.sub(b"", data)


def _entries(text: str) -> tuple[list[_Entry], dict[str, str]]:
    """Return the entries of a file, and the properties of the calendar around them."""
    entries: list[_Entry] = []
    calendar: dict[str, str] = {}
    inside: list[str] = []
    for each in _properties(text):
        if each.name == "BEGIN":
            inside.append(each.value.strip().upper())
            if inside[-1] in _ENTRIES:
                entries.append(_Entry())
        elif each.name == "END":
            inside = inside[:-1]
        elif each.name == "N" and inside == ["VCARD"]:
            entries[-1].name = _name(each.value)
        elif inside and inside[-1] in _ENTRIES:
            _add(entries[-1], each)
        elif inside == ["VCALENDAR"]:
            calendar.setdefault(each.name, _unescaped(each.value))
    for entry in entries:
        entry.title = entry.title or entry.name
        if entry.begins and entry.last_day and entry.last_day <= entry.begins:
            entry.lines.remove(f"Ends: {entry.last_day}")
    return entries, calendar


def _properties(text: str) -> Iterator[_Property]:
    """Yield the properties in the lines of a file; lines that are none are skipped."""
    continued = ""
    for line in _LINE_BREAK.split(_FOLDED.sub("", text)):
        whole = continued + line
        continued = ""
        match = _LINE.fullmatch(whole)
        if match is None:
            continue
        parameters = {
            # Version 2.1 of cards has values without names.
            (name.upper() if value else "TYPE"): (value or name).strip('"')
            for name, value in _PARAMETER.findall(match["parameters"])
        }
        value = match["value"]
        if "QUOTED-PRINTABLE" in match["parameters"].upper():
            if value.endswith("="):
                continued = whole[:-1]
                continue
            codec = declared_codec(parameters.get("CHARSET", "utf-8")) or "utf-8"
            data = value.encode(codec, errors="replace")
            value = quopri.decodestring(data).decode(codec, errors="replace")
        yield _Property(match["name"].upper(), parameters, value)


def _name(value: str) -> str:
    """Return a name of family, given, further names, titles before and after it, as it is said."""
    family, given, further, before, after, *_ = [*_components(value), *[""] * 5]
    said = " ".join((before, given, further, family, after))
    return " ".join(normalize(said).split())


def _components(value: str) -> list[str]:
    return [_unescaped(part) for part in re.split(r"(?<!\\);", value)]


def _add(entry: _Entry, each: _Property) -> None:
    label = _LABELS.get(each.name)
    if label is None:
        return
    value = _shown(each)
    if not value.strip():
        return
    if each.name == "DTSTART":
        entry.begins = _day(each.value.partition("T")[0])
    elif each.name == "DTEND" and entry.last_day is None and (end := _day(each.value)):
        # A date, unlike a time, is that of the day after the last one (RFC 5545, 3.6.1).
        entry.last_day = end - timedelta(days=1)
        value = str(entry.last_day)
    if each.name in {"SUMMARY", "FN"} and not entry.title:
        entry.title = " ".join(normalize(value).split())
    else:
        entry.lines.append(f"{label}: {value}" if label else value)


def _shown(each: _Property) -> str:
    """Return the value of a property as people read it."""
    if each.name in _TIMES:
        zone = each.parameters.get("TZID", "")
        return f"{_time(each.value.strip())} {zone}".rstrip()
    if each.name in _COMPONENTS:
        return ", ".join(filter(str.strip, _components(each.value)))
    if each.name in {"ORGANIZER", "ATTENDEE"}:
        address = re.sub("^mailto:", "", each.value.strip(), flags=re.IGNORECASE)
        name = each.parameters.get("CN", "")
        return f"{name} <{address}>" if name else address
    return _unescaped(each.value)


def _unescaped(value: str) -> str:
    return _ESCAPE.sub(lambda match: "\n" if match[1] in "nN" else match[1], value)


def _time(value: str) -> str:
    """Return a time as ``2025-03-01 10:00``, with UTC if it says so; other texts unchanged."""
    match = _TIME.fullmatch(value)
    if match is None:
        return value
    year, month, day, hour, minute, utc = match.groups()
    try:
        datetime(int(year), int(month), int(day))
    except ValueError:
        return value
    shown = f"{year}-{month}-{day}" + (f" {hour}:{minute}" if hour else "")
    return f"{shown} UTC" if utc else shown


def _day(value: str) -> date | None:
    """Return a date; None for a time, an invalid date and the first one that there is."""
    try:
        day = date.fromisoformat(value.strip())
    except ValueError:
        return None
    return day if day > date.min else None
