"""Subtitles: what is said, and when."""

from tests.idx.conftest import Read

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
