"""Extraction of subtitles: SubRip (.srt) and WebVTT (.vtt)."""

import html
import re
from collections.abc import Iterator
from typing import Final

from idx.extraction.text.cleaning import normalize
from idx.extraction.text.decoding import decode
from idx.extraction.text.headings import headings
from idx.extraction.text.plain_text import extract_plain_text
from idx.extraction.types import Extracted, Source

_TIMES: Final = re.compile(
    r"(?P<start>(?:\d{1,3}:)?\d{1,2}:\d{2})[.,]\d{1,3}\s*-->\s*(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d.*"
)
_TAG: Final = re.compile(r"<[^<>\n]{0,200}>|\{\\[^{}\n]{0,200}\}")
"""Styles, voices and times within a cue; positions of SubRip stand in braces."""


def extract_subtitles(source: Source) -> Extracted:
    """Extract what is said, without numbers, times and styles.

    A heading stands for each minute, so that a result says when: ``00:12``, hours and minutes. A
    text without times is extracted as it is.
    """
    written = decode(source.data, source.file, source.options.encoding)
    lines: list[str] = []
    found: list[tuple[int, str | None, int]] = []
    length = 0
    for minute, said in _cues(written):
        text = normalize(html.unescape(_TAG.sub("", said)))
        # Automatic captions repeat the line above.
        new = [line for line in text.split("\n") if line and line not in lines[-2:]]
        if not new:
            continue
        if not found or found[-1][1] != minute:
            found.append((1, minute, length))
        lines += new
        length += sum(len(line) + 1 for line in new)
    if not lines:
        return extract_plain_text(source)
    return Extracted("\n".join(lines), source.media_type, headings=headings(found))


def _cues(text: str) -> Iterator[tuple[str, str]]:
    """Yield the beginning of each cue, in hours and minutes, and its text."""
    minute, said = "", list[str]()
    for line in [*text.splitlines(), ""]:
        if times := _TIMES.match(line.strip()):
            if minute and said and said[-1].strip().isdecimal():
                # The number of this cue, with no blank line before it.
                said.pop()
            if minute:
                yield minute, "\n".join(said)
            minute, said = _minute(times["start"]), []
        elif minute and line.strip():
            said.append(line)
        elif minute:
            yield minute, "\n".join(said)
            minute = ""
    if minute:
        yield minute, "\n".join(said)


def _minute(time: str) -> str:
    *hours, minutes, _ = time.split(":")
    return f"{int(hours[0]) if hours else 0:02}:{int(minutes):02}"
