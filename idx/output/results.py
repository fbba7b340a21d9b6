"""Search results for display, with matches in colour on a terminal or between ``**`` in a pipe."""

import re
from collections.abc import Sequence
from typing import Final

from rich.text import Text

from idx.output.printing import (
    console,
    line_for_stdout,
    print_table,
    prose_for_stdout,
    symbol,
)
from shared.messages import quantity, shortened
from shared.model.search_results import (
    MARKS,
    Citation,
    Facet,
    Hit,
    OtherHit,
    QueryExplanation,
    SimilarChunk,
    SimilarDocuments,
    place_in_file,
)


def cited(chunk: Citation) -> str:
    """Return the file and place, such as ``/docs/lease.pdf, pages 3-4, Terms > Rent``.

    It is empty without a file.
    """
    if not chunk.file_path:
        return ""
    return ", ".join(filter(None, (chunk.file_path, _place(chunk))))


def _place(chunk: Citation) -> str:
    """Return the place in the file, such as ``pages 3-4, Terms > Rent``; empty if unknown."""
    return ", ".join(filter(None, (place_in_file(chunk), chunk.section)))


def address(hit: Hit) -> str:
    """Return the file with its line or page: ``/docs/notes.txt:12``, ``/docs/lease.pdf#page=3``.

    The line is that of the first match if the chunk keeps its line breaks, otherwise the first line
    of the chunk. Without a file, the id of the document is returned.
    """
    if not hit.file_path:
        return hit.source_document
    if hit.line_start is not None:
        return f"{hit.file_path}:{hit.line_start + match_line(hit.passages, hit.content)}"
    return hit.file_path if hit.page_start is None else f"{hit.file_path}#page={hit.page_start}"


_MARK: Final = re.compile("|".join(map(re.escape, MARKS)))


def excerpts(passages: Sequence[str], content: str, ellipsis: str) -> list[str]:
    """Return passages with marks around matches in the order of the text, neighbours as one.

    An ellipsis stands where text is cut.
    """
    text = _MARK.sub("", content)
    placed = sorted((text.find(words := _MARK.sub("", each)), words, each) for each in passages)
    pieces: list[tuple[int, int, str]] = []
    for start, words, marked in placed:
        first, end, before = pieces[-1] if pieces else (start, start, "")
        between = text[end:start]
        if pieces and not between.strip() and start >= end:
            pieces[-1] = (first, start + len(words), before + between + marked)
        else:
            pieces.append((start, start + len(words), marked))
    return [
        f"{ellipsis} " * bool(text[:start].strip())
        + marked.strip()
        + f" {ellipsis}" * bool(text[end:].strip())
        for start, end, marked in pieces
    ]


def match_line(passages: Sequence[str] | None, content: str | None) -> int:
    """Return the line of the first match of the best passage, counted from 0.

    The line is 0 if the lines of the text were joined when it was cut into chunks.
    """
    if not passages or not content or MARKS[0] not in passages[0]:
        return 0
    text = _MARK.sub("", content)
    start = text.find(_MARK.sub("", passages[0]))
    before = text[: start + passages[0].index(MARKS[0])]
    return before.count("\n" if "\n" in text else "\r")


_MARKED_MATCH: Final = re.compile("({}.*?{})".format(*map(re.escape, MARKS)), re.DOTALL)

_LINE_INDENT: Final = 3  # of a hit's lines below the first, in columns
_CONTINUATION_INDENT: Final = 5  # of what goes on in a further line
_BEGINNING_CHARACTERS: Final = 200  # length of the beginning of a similar chunk, in characters


def print_hit(rank: int, hit: Hit) -> None:
    """Print a hit's rank, title, confidence, place and passages, and the others of its document."""
    by_meaning = "by meaning" if hit.matched else ""
    _print_heading(rank, hit.title, in_words(hit.confidence), by_meaning)
    print_whole(cited(hit) or hit.id)
    _print_excerpts(hit)
    for other in hit.others or ():
        print_whole(_place(other) or other.id)
        _print_excerpts(other)
    if hit.more:
        more = f"and {quantity(hit.more, 'more chunk')} of this document"
        _print_wrapped(Text(more, style="dim"), _LINE_INDENT)
    if hit.similar_documents:
        _print_similar_documents(hit.similar_documents)
    print()


def _print_heading(rank: int, title: str, *notes: str) -> None:
    heading = Text(f"{rank}. ")
    heading.append(line_for_stdout(prose_for_stdout(title)), style="bold")
    for note in filter(None, notes):
        heading.append(f"  {note}", style="dim")
    _print_wrapped(heading, 0)


def print_whole(text: str, indent: int = _LINE_INDENT, style: str = "dim") -> None:
    """Print what may have a path or an id in it, which a line break would split, on one line."""
    console().print(Text(" " * indent + line_for_stdout(text), style=style), soft_wrap=True)


def _print_similar_documents(similar: SimilarDocuments) -> None:
    heading = f"and {quantity(similar.count, 'similar document')}:"
    _print_wrapped(Text(heading, style="dim"), _LINE_INDENT)
    for id_ in similar.ids:
        print_whole(id_, _CONTINUATION_INDENT)
    if similar.count > len(similar.ids):
        rest = f"and {similar.count - len(similar.ids):,} more"
        _print_wrapped(Text(rest, style="dim"), _CONTINUATION_INDENT)


def _print_excerpts(hit: Hit | OtherHit) -> None:
    out = console()
    shows_styles = out.is_terminal and out.color_system is not None
    for part in excerpts(hit.passages or [], hit.content or "", symbol("…", "...")):
        text = " ".join(prose_for_stdout(part).split())
        _print_wrapped(highlighted(text, styled=shows_styles), _LINE_INDENT)


def print_similar(rank: int, chunk: SimilarChunk) -> None:
    """Print the rank, title, similarity, place and beginning of a chunk on stdout."""
    _print_heading(rank, chunk.title, f"{chunk.similarity:.2f}")
    print_whole(cited(chunk) or chunk.id)
    beginning = " ".join(prose_for_stdout(chunk.content).split())
    _print_wrapped(Text(shortened(beginning, _BEGINNING_CHARACTERS)), _LINE_INDENT)
    print()


def in_words(confidence: float) -> str:
    """Return the confidence in words, such as ``likely (0.83)``; empty without a query."""
    from shared.search.confidence import confidence_word

    # Certainty means that the hit was not rated, as when all chunks are listed.
    return "" if confidence == 1 else f"{confidence_word(confidence)} ({confidence:.2f})"


def highlighted(passage: str, *, styled: bool) -> Text:
    """Return a passage with its matches in colour, or between ``**``."""
    text = Text()
    for part in _MARKED_MATCH.split(passage):
        if not _MARKED_MATCH.fullmatch(part):
            text.append(part)
            continue
        match = part.removeprefix(MARKS[0]).removesuffix(MARKS[1])
        text.append(match if styled else f"**{match}**", style="bold yellow")
    return text


def _print_wrapped(text: Text, indent: int) -> None:
    """Print a text with an indent, and continuation lines with a deeper one."""
    out = console()
    lines = text.wrap(out, out.width - _CONTINUATION_INDENT, overflow="fold")
    for number, line in enumerate(lines):
        line.rstrip()
        out.print(
            Text(" " * (_CONTINUATION_INDENT if number else indent)).append_text(line),
            soft_wrap=True,
        )


def print_explanation(explanation: QueryExplanation) -> None:
    languages = ", ".join(f"{code} ({weight})" for code, weight in explanation.languages.items())
    summary = [
        ("understood", explanation.parsed),
        ("chunks that match", f"{explanation.total_hits:,}"),
        ("languages (share)", languages or "-"),
    ]
    if explanation.note:
        summary.append(("note", explanation.note))
    print_table(["", ""], summary, headings=False)
    if explanation.steps:
        print_table(["step", "query"], [(step.step, step.query) for step in explanation.steps])
    if explanation.terms:
        print_table(
            ["field", "term", "chunks"],
            [(term.field, term.term, f"{term.document_frequency:,}") for term in explanation.terms],
        )
    for hit in explanation.hits:
        parts = [(part.match, f"{part.score:.3f}") for part in hit.parts]
        print_table([hit.id, f"{hit.score:.3f}"], parts)


def print_facet(facet: Facet, counted: str) -> None:
    rows = [(entry.value, f"{entry.count:,}") for entry in facet.values]
    if facet.distinct > len(rows):
        rows.append((f"and {facet.distinct - len(rows):,} more", ""))
    print_table([facet.field, counted], rows)
