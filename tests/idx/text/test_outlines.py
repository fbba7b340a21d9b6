"""Plain text, texts with headings of their own, subtitles, calendars and cards."""

import tracemalloc
from pathlib import Path

import pytest

from idx.extraction.types import ExtractionOptions
from tests.idx.conftest import Read, extract

LATEX = r"""\documentclass{article}
\title{Wells \& \emph{pumps}}
\author{Ana Ruiz \and Bo Li}
% \section{Not this one}
\begin{document}
\section[Short]{The \textbf{deep} well}
Water.
\subsection*{Pumps}
\end{document}
"""
ORG = """#+TITLE: Garden
#+AUTHOR: Ana
#+FILETAGS: :water:soil:
* TODO [#A] Dig a well :work:
Text with *bold* words.
** Pumps
"""
RST = """======
Manual
======

Wells
=====

Water.

Pumps
-----

===  ===
A    B
===  ===

A paragraph
that has two lines
------------------

Soil
====
"""
ASCIIDOC = "= Manual\n\n== Wells\n\n----\ncode\n----\n\n=== Pumps\n"


@pytest.mark.parametrize(
    ("name", "text", "title", "headings"),
    [
        ("a.tex", LATEX, "Wells & pumps", [(3, "The deep well"), (4, "Pumps")]),
        ("a.org", ORG, "Garden", [(1, "Dig a well"), (2, "Pumps")]),
        ("a.rst", RST, "Manual", [(1, "Manual"), (2, "Wells"), (3, "Pumps"), (2, "Soil")]),
        ("a.adoc", ASCIIDOC, "Manual", [(1, "Manual"), (2, "Wells"), (3, "Pumps")]),
    ],
)
def test_headings_are_found_and_the_text_stays(
    read: Read, name: str, text: str, title: str, headings: list[tuple[int, str]]
) -> None:
    extracted = read(name, text)
    assert (extracted.text, extracted.is_own_text, extracted.title) == (text, True, title)
    assert [(heading.level, heading.text) for heading in extracted.headings] == headings
    for heading in extracted.headings:
        assert heading.text.split()[-1] in extracted.text[heading.start :].split("\n")[0]


def test_they_say_who_wrote_them(read: Read) -> None:
    assert read("a.tex", LATEX).metadata == {"author": "Ana Ruiz, Bo Li"}
    assert read("a.org", ORG).metadata == {"author": "Ana", "keywords": ["water", "soil"]}


ODD = "a\u00adb ﬁ  c\t\r\nd\u200b-\r\ne \u202e"


@pytest.mark.parametrize(
    "name", ["a.txt", "a.py", "a.csv", "a.json", "a.xml", "a.md", "a.yaml", "a.log", "a"]
)
def test_own_text_stays_as_it_stands_in_the_file(read: Read, name: str) -> None:
    extracted = read(name, "\ufeff" + ODD)
    assert extracted.text == ODD
    assert extracted.is_own_text
    assert extracted.title is None
    assert extracted.metadata == {}


def test_text_is_read_in_its_encoding(read: Read) -> None:
    assert read("a.txt", "Grüße".encode("utf-16")).text == "Grüße"
    assert read("a.csv", "Grüße;1".encode("cp1252"), encoding="cp1252").text == "Grüße | 1"


def test_a_large_text_takes_no_more_than_its_bytes_and_its_characters(tmp_path: Path) -> None:
    file = tmp_path / "large.txt"
    megabytes = 20
    file.write_bytes(b"words in a line of text\n" * (megabytes * 1_000_000 // 24))
    tracemalloc.start()
    try:
        extract(file, ExtractionOptions())
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 3.2 * megabytes * 1_000_000


SRT = """1
00:00:59,000 --> 00:01:02,500 X1:40
<i>The rent</i> is

2
00:01:03,000 --> 00:01:05,000
{\\an8}due on the 3rd.

3
01:00:00,000 --> 01:00:01,000
In 1984
"""
VTT = """WEBVTT
Kind: captions

NOTE not said

00:00.000 --> 00:02.000 align:start
<v Ana>We dig<00:00:01.000><c> a well</c>

00:02.000 --> 00:04.000
We dig a well
&amp; drink
"""


def test_cues_are_joined_and_minutes_are_sections(read: Read) -> None:
    srt = read("a.srt", SRT)
    assert srt.text == "The rent is\ndue on the 3rd.\nIn 1984"
    assert [(heading.text, heading.start) for heading in srt.headings] == [
        ("00:00", 0),
        ("00:01", 12),
        ("01:00", 28),
    ]


def test_repeated_captions_are_read_once(read: Read) -> None:
    assert read("a.vtt", VTT).text == "We dig a well\n& drink"


def test_a_text_without_times_is_read_as_it_is(read: Read) -> None:
    assert read("a.srt", "no times\n").text == "no times\n"


ICS = """BEGIN:VCALENDAR\r
X-WR-CALNAME:Team\r
BEGIN:VTIMEZONE\r
TZID:Europe/Berlin\r
END:VTIMEZONE\r
BEGIN:VEVENT\r
SUMMARY:Boiler inspection\\, cellar\r
DTSTART;TZID=Europe/Berlin:20250301T100000\r
DTEND:20250301T110000Z\r
LOCATION:Harbour St\r
 reet 5\r
ORGANIZER;CN="Ruiz, Ana":mailto:ana@a.example\r
DESCRIPTION:Bring the\\nkey.\r
BEGIN:VALARM\r
DESCRIPTION:not this\r
END:VALARM\r
END:VEVENT\r
this is not a line\r
END:VCALENDAR\r
"""
VCF = """BEGIN:VCARD
VERSION:2.1
FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:J=C3=BCrgen =
M=C3=BCller
ORG:Otterline;Pumps
TEL;HOME;VOICE:+49 30 1234
item1.EMAIL:jm@a.example
ADR;HOME:;;Hauptstr. 1;Berlin;;10115;
PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQSkZJRg
END:VCARD
"""


@pytest.mark.parametrize(
    ("time", "shown"),
    [
        ("20250301T235960Z", "2025-03-01 23:59 UTC"),
        ("20250301T240000", "2025-03-01 24:00"),
        ("2025-03-01 10:00", "2025-03-01 10:00"),
        ("20250301,20250302", "20250301,20250302"),
    ],
)
def test_a_time_of_an_event_loses_nothing(read: Read, time: str, shown: str) -> None:
    event = f"BEGIN:VEVENT\nSUMMARY:Walk\nDTSTART:{time}\nDESCRIPTION:no BEGIN:VCARD\nEND:VEVENT\n"
    calendar = read("a.ics", f"BEGIN:VCALENDAR\n{event}END:VCALENDAR\n")
    assert f"Begins: {shown}\n" in calendar.text
    # One event is not what a calendar is called, as a contact is a card.
    assert calendar.title is None


def test_events_are_sections(read: Read) -> None:
    calendar = read("a.ics", ICS)
    assert calendar.text == (
        "Boiler inspection, cellar\n"
        "Begins: 2025-03-01 10:00 Europe/Berlin\n"
        "Ends: 2025-03-01 11:00 UTC\n"
        "Location: Harbour Street 5\n"
        "Organizer: Ruiz, Ana <ana@a.example>\n"
        "Bring the\nkey."
    )
    assert calendar.title == "Team"
    assert [heading.text for heading in calendar.headings] == ["Boiler inspection, cellar"]


@pytest.mark.parametrize(
    ("times", "shown"),
    [
        (
            "DTSTART;VALUE=DATE:20260101\nDTEND;VALUE=DATE:20260112",
            "Begins: 2026-01-01\nEnds: 2026-01-11",
        ),
        ("DTEND;VALUE=DATE:20260301\nDTSTART;VALUE=DATE:20260228", "Begins: 2026-02-28"),
        # Some programs write the last day itself.
        ("DTSTART;VALUE=DATE:20260101\nDTEND;VALUE=DATE:20260101", "Begins: 2026-01-01"),
        ("DTSTART:20260101T090000\nDTEND:20260102", "Begins: 2026-01-01 09:00"),
        ("DTEND;VALUE=DATE:20240301", "Ends: 2024-02-29"),
        ("DTSTART:20260101\nDTEND:20261301", "Begins: 2026-01-01\nEnds: 20261301"),
        ("DTEND:00010101", "Ends: 0001-01-01"),
    ],
)
def test_an_event_of_whole_days_ends_on_its_last_day(read: Read, times: str, shown: str) -> None:
    event = f"BEGIN:VCALENDAR\nBEGIN:VEVENT\n{times}\nSUMMARY:Fair\nEND:VEVENT\nEND:VCALENDAR\n"
    assert read("a.ics", event).text == f"Fair\n{shown}"


def test_a_card_is_read_without_its_picture(read: Read) -> None:
    card = read("a.vcf", VCF)
    assert card.text == (
        "Jürgen Müller\nOrganization: Otterline, Pumps\nTelephone: +49 30 1234\n"
        "E-mail: jm@a.example\nAddress: Hauptstr. 1, Berlin, 10115"
    )
    assert card.title == "Jürgen Müller"


def test_genetic_variants_have_the_same_extension(read: Read) -> None:
    variants = "##fileformat=VCFv4.3\n#CHROM\tPOS\n20\t14370\n"
    assert read("a.vcf", variants).text == variants
