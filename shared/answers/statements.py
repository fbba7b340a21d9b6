"""Division of an answer into statements: its sentences and the items of its lists."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

CITED: Final = re.compile(r"[\[【]\s*\^?(\d{1,3}(?:\s*[,;\u2013-]\s*\^?\d{1,3})*)\s*[\]】]")
"""Citations such as ``[1]``, ``[1, 2]`` and ``[1-3]``."""

_MAX_RANGE: Final = 20
"""Maximum length of a range of citations; a longer one is no range."""

_END: Final = re.compile(
    # The end of a sentence, with the marks and the citations that follow it.
    rf"(?P<dot>[.!?…]+)[\"'”\u2019»)*_]*(?P<cited>(?:\s*{CITED.pattern})*)(?=\s|$)"
    rf"|[。\uff01\uff1f]+[”\u2019」』)]*(?:\s*{CITED.pattern})*"
    # The end of a paragraph or of an item, but not a line break within a sentence.
    r"|\n+(?![ \t]*[a-zß-öø-ÿ])"
)

_ABBREVIATION: Final = re.compile(
    r"(?<![\w.])(?:[^\W\d_]|\d{1,2}|(?:[^\W\d_]\.)+[^\W\d_]|abs|art|bzw|ca|cf|dr|etc|evtl|fig|ggf|inkl|"
    r"max|min|mr|mrs|ms|nr|no|op|p|pp|prof|sec|st|str|usw|vgl|vs|zzgl)$",
    re.IGNORECASE,
)
"""Words whose dot does not end a sentence: letters, German ordinals, and common abbreviations."""

_BULLET: Final = re.compile(r"\s*(?:[-*•+]\s+|\d{1,2}[.)]\s+)?")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A statement of a text."""

    start: int
    end: int
    citations: tuple[int, ...]


def cited_numbers(text: str) -> list[int]:
    """Return the distinct numbers that a text cites, in order."""
    return list(dict.fromkeys(number for cited in CITED.finditer(text) for number in _in(cited)))


def sentences(text: str) -> list[Sentence]:
    """Return the statements of an answer.

    Headings, the lines that introduce a list, and citations alone are none; the latter belong to
    the statement before them. A single word, such as ``Yes.``, belongs to the next one.
    """
    found: list[Sentence] = []
    pending: int | None = None
    for start, end in _spans(text):
        first = pending if pending is not None else start
        pending = None
        bare = CITED.sub("", text[start:end])
        numbers = tuple(cited_numbers(text[first:end]))
        if not any(map(str.isalnum, bare)):
            if found and numbers:
                last = found[-1]
                merged = dict.fromkeys((*last.citations, *numbers))
                found[-1] = Sentence(last.start, end, tuple(merged))
            continue
        if not numbers and (bare.rstrip(" *_").endswith(":") or bare.startswith("#")):
            continue
        if not numbers and len(bare.split()) == 1 and _goes_on(text, end):
            pending = first
            continue
        found.append(Sentence(first, end, numbers))
    return found


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the offsets of all pieces between ends of sentences, without blanks and bullets."""
    start = 0
    for end in _END.finditer(text):
        is_bare_dot = end["dot"] == "." and not end["cited"] and _goes_on(text, end.end())
        if is_bare_dot and _ABBREVIATION.search(text[max(0, end.start() - 12) : end.start()]):
            continue
        yield from _trimmed(text, start, end.end())
        start = end.end()
    yield from _trimmed(text, start, len(text))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    bullet = _BULLET.match(text, start, end)
    start = bullet.end() if bullet else start
    end = start + len(text[start:end].rstrip())
    if start < end:
        yield start, end


def _goes_on(text: str, offset: int) -> bool:
    """Check whether the line of an offset has text after it."""
    return bool(text[offset:].partition("\n")[0].strip())


def _in(cited: re.Match[str]) -> Iterator[int]:
    for part in re.split(r"[,;]", cited[1]):
        first, *rest = [int(number) for number in re.findall(r"\d+", part)]
        last = rest[-1] if rest else first
        yield from range(first, last + 1) if 0 <= last - first <= _MAX_RANGE else (first, last)
