"""Check of an answer: its statements, and whether each citation was offered and its quote holds.

A quote is compared with the passage that it is said to be from word for word. Case, white space,
the shape of quotation marks and hyphens, and Markdown's emphasis may differ, since extraction and
models change them. A quote may leave out words where it has an ellipsis.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

from shared.answers.prompt import Reply, parts_of
from shared.chunking import SCRIPTS_WITHOUT_BLANKS
from shared.model.answers import (
    CheckedCitation,
    CitationProblem,
    Passage,
    Statement,
    StatementState,
)
from shared.model.search_results import Citation

# Statements: the sentences of an answer and the items of its lists

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


def cited_numbers(text: str) -> list[int]:
    """Return the distinct numbers that a text cites, in order."""
    return list(dict.fromkeys(number for cited in CITED.finditer(text) for number in _in(cited)))


def sentences(text: str) -> list[tuple[int, int, list[int]]]:
    """Return the begin and the end of each statement of an answer, and the numbers that it cites.

    Headings, the lines that introduce a list, and citations alone are none; the latter belong to
    the statement before them. A single word, such as ``Yes.``, belongs to the next one.
    """
    found: list[tuple[int, int, list[int]]] = []
    pending: int | None = None
    for start, end in _spans(text):
        first = pending if pending is not None else start
        pending = None
        bare = CITED.sub("", text[start:end])
        numbers = cited_numbers(text[first:end])
        if not any(map(str.isalnum, bare)):
            if found and numbers:
                begin, _, before = found[-1]
                found[-1] = (begin, end, [*dict.fromkeys((*before, *numbers))])
            continue
        if not numbers and (bare.rstrip(" *_").endswith(":") or bare.startswith("#")):
            continue
        if not numbers and len(bare.split()) == 1 and _goes_on(text, end):
            pending = first
            continue
        found.append((first, end, numbers))
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


# Citations

_OF_PASSAGE: Final = {of.name for of in fields(Citation)} | {
    *("id", "title", "source_document", "confidence")
}
"""Fields that a citation has of its passage."""


def checked_citations(reply: Reply, passages: Sequence[Passage]) -> list[CheckedCitation]:
    """Check the citations of a reply.

    Returns the citations in the order of the text, one for each quote of a number.
    """
    offered = {passage.number: passage for passage in passages}
    return [
        citation
        for number in cited_numbers(reply.text)
        for citation in _of_number(number, reply, offered)
    ]


def checked_statements(text: str, citations: Sequence[CheckedCitation]) -> list[Statement]:
    """Return the statements of an answer, with the state of each."""
    holding = {citation.number for citation in citations if citation.holds}
    return [
        Statement(start, end, numbers, _state(numbers, holding))
        for start, end, numbers in sentences(text)
    ]


def answer_confidence(citations: Sequence[CheckedCitation]) -> float:
    """Return the confidence of an answer, from 0 to 1.

    It is the highest one of the cited hits whose citations hold. Each is the probability that the
    hit answers the question; that at least one does is no less probable than that the best one
    does. A product of doubts would claim more, but hits are not independent of each other, and a
    mean would punish an answer for every further citation.
    """
    return max((citation.confidence for citation in citations if citation.holds), default=0.0)


def _state(numbers: Sequence[int], holding: set[int]) -> StatementState:
    if not numbers:
        return "not_cited"
    return "cited" if holding.intersection(numbers) else "not_proven"


def _of_number(
    number: int, reply: Reply, offered: Mapping[int, Passage]
) -> Iterator[CheckedCitation]:
    passage = offered.get(number)
    quotes = [quote for of, quote in reply.quotes if of == number]
    if passage is None:
        yield _citation(number, None, parts_of(quotes[0])[0] if quotes else None, "not_offered")
    elif not quotes:
        yield _citation(number, passage, None, "no_quote")
    else:
        for quote in quotes:
            # Several quotes on a line, unless they are one with quotation marks in it.
            whole = quote.strip()
            parts = [whole] if _problem(whole, passage) is None else parts_of(whole)
            for part in parts:
                yield _citation(number, passage, _shown(part), _problem(part, passage))


def _problem(quote: str, passage: Passage) -> CitationProblem | None:
    if not stands_in(quote, passage.content):
        return "not_in_passage"
    if not is_long_enough(quote):
        return "short_quote"
    return None


def _shown(quote: str) -> str:
    """Return a quote without the marks around it."""
    parts = parts_of(quote)
    return parts[0] if len(parts) == 1 else quote


def _citation(
    number: int, passage: Passage | None, quote: str | None, problem: CitationProblem | None
) -> CheckedCitation:
    known: dict[str, Any] = {name: getattr(passage, name, None) for name in _OF_PASSAGE}
    if passage is None:
        known["confidence"] = 0.0
    return CheckedCitation(
        **known, number=number, quote=quote, holds=problem is None, problem=problem
    )


# Quotes

MIN_QUOTE_CHARACTERS: Final = 10
"""Minimum number of letters and digits of a quote, and of each part of one with an ellipsis: fewer
are in a passage by chance. Those of scripts without blanks between words count twice."""

_ELLIPSIS: Final = re.compile(r"[\[(]?(?:…|\.{3,})[\])]?")

_SHAPES: Final = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»\u2039\u203a「」『』″", '"'),
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'"),
        **dict.fromkeys("\u2010\u2011\u2012\u2013—―\u2212", "-"),
        "*": None,
        "|": " ",
    }
)
"""Signs that are written differently, and those of Markdown's emphasis and tables."""

_EDGES: Final = " .,;:!?-\"'()[]"
"""Signs around a quote, which models add and leave out."""

_SPACELESS: Final = re.compile(f"[{SCRIPTS_WITHOUT_BLANKS}\u3000-\u303f\uac00-\ud7af]")
"""Letters of scripts without blanks between words, and of Korean, whose words are short."""


def is_long_enough(quote: str) -> bool:
    """Check whether a quote, and each of its parts, has enough letters to prove something."""
    parts = _parts(quote)
    return bool(parts) and all(_weight(part) >= MIN_QUOTE_CHARACTERS for part in parts)


def stands_in(quote: str, passage: str) -> bool:
    """Check whether a quote is in a passage: all its parts, in order, as whole words."""
    text, position = folded(passage), 0
    parts = _parts(quote)
    for part in parts:
        found = _find(part, text, position)
        if found < 0:
            return False
        position = found + len(part)
    return bool(parts)


def folded(text: str) -> str:
    """Return a text in the form in which quotes and passages are compared."""
    composed = unicodedata.normalize("NFKC", text.translate(_SHAPES))
    # Soft hyphens, zero-width spaces and marks of the direction of writing.
    visible = "".join(sign for sign in composed if unicodedata.category(sign) != "Cf")
    return " ".join(unicodedata.normalize("NFKC", visible.casefold()).translate(_SHAPES).split())


def _parts(quote: str) -> list[str]:
    # Before the text is folded, which turns an ellipsis into three dots.
    parts = (folded(part).strip(_EDGES) for part in _ELLIPSIS.split(quote))
    return [part for part in parts if part]


def _weight(part: str) -> int:
    return sum(map(str.isalnum, part)) + len(_SPACELESS.findall(part))


def _find(part: str, text: str, position: int) -> int:
    """Return the offset of a part in a text from a position on, or -1."""
    while (position := text.find(part, position)) >= 0:
        end = position + len(part)
        if not _continues(text, position) and not _continues(text, end):
            return position
        position += 1
    return -1


def _continues(text: str, offset: int) -> bool:
    """Check whether a word or a number goes on over an offset of a text."""
    before, after = text[max(0, offset - 2) : offset], text[offset : offset + 2]
    if not before or not after:
        return False
    if _SPACELESS.match(before[-1]) or _SPACELESS.match(after[0]):
        return False
    if before[-1].isalnum() and after[0].isalnum():
        return True
    # A number with a sign in it, such as 1,640 or 2.3.1.
    return (before[-1].isdigit() and after[0] in ".,:" and after[1:].isdigit()) or (
        before[-1] in ".,:" and before[:-1].isdigit() and after[0].isdigit()
    )
