"""What a search, a walk through a document and a listing answer: plain data, no Java.

The names are those of the tools' answers and of ``--json``, which are public.
"""

from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final

from shared.model.document import Metadata

MARKS: Final = ("<mark>", "</mark>")
"""What stands before and after a match in a passage, as in HTML."""


@dataclass(frozen=True, kw_only=True)
class Citation:
    r"""Where the words of a chunk stand; None, and left out of answers, for what is not there.

    Attributes:
        file_path: the file, absolute; bytes of its name that are no UTF-8 as ``\xNN``.
        page_start: the page where the chunk begins, from 1.
        page_end: the page where it ends.
        slide_start: the slide where it begins, from 1.
        slide_end: the slide where it ends.
        sheet_start: the name of the sheet where it begins.
        sheet_end: the name of the sheet where it ends.
        line_start: the line of a text where it begins, from 1.
        line_end: the line where it ends.
        char_start: the first character in the extracted text, from 0.
        char_end: the character after its last one.
    """

    file_path: str | None = None
    page_start: int | None = None
    page_end: int | None = None
    slide_start: int | None = None
    slide_end: int | None = None
    sheet_start: str | None = None
    sheet_end: str | None = None
    line_start: int | None = None
    line_end: int | None = None
    char_start: int | None = None
    char_end: int | None = None


LEFT_OUT: Final = frozenset(
    {*(part.name for part in fields(Citation)), "rewritten", "diagnostics", "note"}
)
"""Fields that are left out of answers where they are None."""


def plain(answer: Any) -> Any:
    """An answer as dictionaries and lists: what JSON and the tools show of it."""
    return without_unknown(asdict(answer))


def without_unknown(value: Any) -> Any:
    """A plain answer without the fields that are left out where they are None, at any depth."""
    match value:
        case dict():
            return {
                key: without_unknown(part)
                for key, part in value.items()
                if part is not None or key not in LEFT_OUT
            }
        case list():
            return [without_unknown(part) for part in value]
    return value


@dataclass(frozen=True, kw_only=True)
class ChunkText(Citation):
    """A chunk as it is stored. ``chunk_index`` counts from 1."""

    id: str
    title: str
    content: str
    source_document: str
    chunk_index: int
    metadata: Metadata


@dataclass(frozen=True, kw_only=True)
class Hit(Citation):
    """A chunk that a search found.

    Attributes:
        content: the whole text, or None where only passages or no text were asked for.
        passages: up to three parts of the text around the matches, each match between
            ``<mark>`` and ``</mark>``; None where they were not asked for.
        score: Lucene's relevance score, from 0; comparable within one answer only.
        confidence: how likely the chunk answers, from 0 to 1; comparable across queries.
        has_next: whether its document goes on after it.
        has_previous: whether its document begins before it.
    """

    id: str
    title: str
    content: str | None
    source_document: str
    chunk_index: int
    score: float
    confidence: float
    has_next: bool
    has_previous: bool
    passages: list[str] | None
    metadata: Metadata


@dataclass(frozen=True)
class FacetValue:
    """A value of a field, and the number of matching chunks that have it."""

    value: str
    count: int


@dataclass(frozen=True)
class Facet:
    """The values of one field among the matches.

    Attributes:
        field: the key of the metadata.
        values: the most frequent values first, at most ten.
        distinct: how many values there are in all.
    """

    field: str
    values: list[FacetValue]
    distinct: int


@dataclass(frozen=True)
class SearchAnswer:
    """The hits of a search, best first.

    Attributes:
        query: the query as it was asked.
        totalHits: the exact number of chunks that match, however many are given here.
        low_confidence: whether none of the three hits with the highest scores is likely to answer,
            whichever hits are given here.
        results: the hits from ``offset`` on, at most ``limit`` of them.
        facets: the most frequent values of each field that was asked for.
        suggestion: the query as it may have been meant: with similar words in place of those that
            no chunk has, and in a poor answer of those that hardly any has; else None.
        suggestion_applied: whether the suggestion is what was looked for.
        partial: whether the search was stopped before it was done: the hits are the best of those
            found until then, ``totalHits`` counts only these, and facets are left out.
        notice: what was cut from the answer to keep it short, and how to get it; else None.
        note: how the query was understood where that may not be what was meant, such as plain text
            that looks like syntax; None, and left out of answers, if there is nothing to say.
        rewritten: the query as a language model has rewritten it, which was looked for, too;
            None, and left out of answers, if there is none.
        diagnostics: why there is none although one was wanted; else None, and left out.
    """

    query: str
    totalHits: int  # noqa: N815 - the name is public and older than this code
    low_confidence: bool
    results: list[Hit]
    facets: list[Facet] = field(default_factory=list)
    suggestion: str | None = None
    suggestion_applied: bool = False
    partial: bool = False
    notice: str | None = None
    note: str | None = None
    rewritten: str | None = None
    diagnostics: list[str] | None = None


@dataclass(frozen=True)
class Neighbour:
    """The chunk before or after another one of the same document; None past the end."""

    chunk: ChunkText | None
    has_next: bool
    has_previous: bool
    notice: str | None = None


@dataclass(frozen=True)
class DocumentChunks:
    """Chunks of one document in order; empty where the start lies past the last one."""

    source_document: str
    total_chunks: int
    chunks: list[ChunkText]
    notice: str | None = None


@dataclass(frozen=True)
class ExplainedStep:
    """A step, and the query as it is after it, in the manner of Lucene's syntax."""

    step: str
    query: str


@dataclass(frozen=True)
class ExplainedTerm:
    """A term that is looked for in a field, and the number of chunks that have it there."""

    field: str
    term: str
    document_frequency: int


@dataclass(frozen=True)
class ScorePart:
    """What the match of one term, phrase or pattern adds to a score."""

    match: str
    score: float


@dataclass(frozen=True)
class ExplainedHit:
    """How the score of a chunk came about: the parts add up to it, unless there are too many."""

    id: str
    score: float
    parts: list[ScorePart]


@dataclass(frozen=True)
class QueryExplanation:
    """Why a query finds what it finds; what was not asked for is empty.

    Attributes:
        query: what was typed.
        parsed: what was understood.
        total_hits: the number of chunks that match.
        languages: the languages whose base forms are looked for, with the weight of each.
        steps: the query after each step, in their order.
        terms: the terms that some chunk has, by field, the rarest first.
        hits: the best hits.
        notice: what was left out, else None.
        note: the same as of a search; None, and left out of answers, if there is nothing to say.
        diagnostics: why the query was not rewritten although that was wanted; else None, and left
            out of answers.
    """

    query: str
    parsed: str
    total_hits: int
    languages: dict[str, float]
    steps: list[ExplainedStep] = field(default_factory=list)
    terms: list[ExplainedTerm] = field(default_factory=list)
    hits: list[ExplainedHit] = field(default_factory=list)
    notice: str | None = None
    note: str | None = None
    diagnostics: list[str] | None = None
