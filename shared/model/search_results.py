"""Results of searches and of reading documents. Plain data.

The names are those of the tools' answers and of ``--json``, which are public. A `notice` names what
was cut to keep the answer short, and how to get it; it is None if nothing was.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final, Literal, Self

from shared.model.document import Metadata

MARKS: Final = ("<mark>", "</mark>")
"""Tags before and after a match in a passage, as in HTML."""


@dataclass(frozen=True, kw_only=True)
class Citation:
    r"""Location of a chunk in its file; unknown parts are None and left out of answers."""

    file_path: str | None = None
    section: str | None = None
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


def place_in_file(chunk: Citation, dash: str = "-") -> str:
    """Return the place of a chunk in its file, such as ``pages 3-4``; empty if it is unknown."""
    for unit in ("page", "slide", "sheet", "line"):
        first, last = getattr(chunk, f"{unit}_start"), getattr(chunk, f"{unit}_end")
        if first is not None:
            return f"{unit} {first}" if first == last else f"{unit}s {first}{dash}{last}"
    return ""


LEFT_OUT: Final = frozenset(
    {
        *(part.name for part in fields(Citation)),
        *("rewritten", "diagnostics", "note", "matched", "others", "more", "total_documents"),
        "similar_documents",
    }
)
"""Fields that are left out of answers if they are None."""


def plain(answer: Any) -> Any:
    """Return an answer as dictionaries and lists, as JSON and the tools show it."""
    return without_unknown(asdict(answer))


def without_unknown(value: Any) -> Any:
    """Return a plain answer without the `LEFT_OUT` fields that are None, at any depth."""
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
    """A chunk as it is stored; ``chunk_index`` counts from 1."""

    id: str
    title: str
    content: str
    source_document: str
    chunk_index: int
    metadata: Metadata


@dataclass(frozen=True, kw_only=True)
class OtherHit(Citation):
    """Another chunk found in the document of a hit, without what both have in common.

    Its attributes are those of a `Hit`; its file is left out, and `passages` has the best one only.
    """

    id: str
    content: str | None
    chunk_index: int
    score: float
    confidence: float
    passages: list[str] | None
    matched: Literal["meaning"] | None = None


@dataclass(frozen=True)
class SimilarDocuments:
    """Other versions of the text of a result, which match as well and are not shown."""

    count: int
    ids: list[str]


@dataclass(frozen=True, kw_only=True)
class Hit(Citation):
    """A chunk found by a search.

    Attributes:
        content: the whole text; None if only passages or no text were requested.
        passages: up to three parts of the text around the matches, each match between ``<mark>``
            and ``</mark>``; None if they were not requested.
        score: Lucene's relevance score, from 0; comparable within one answer only.
        confidence: the likelihood that the chunk answers the query, from 0 to 1; comparable across
            queries.
        has_next: true if its document has a next chunk.
        has_previous: true if its document has a previous chunk.
        matched: ``meaning`` if it has none of the query's words; else None and left out of answers.
        others: the next best chunks of its document, at most two, if results are grouped by
            document; else None and left out of answers.
        more: the number of further chunks of its document that match, which are not shown, if
            results are grouped; else None and left out.
        similar_documents: the other versions of the same text, which are not shown, if this is the
            newest of several; else None and left out of answers.
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
    matched: Literal["meaning"] | None = None
    others: list[OtherHit] | None = None
    more: int | None = None
    similar_documents: SimilarDocuments | None = None


MAX_FACET_VALUES: Final = 10
"""Maximum number of values of a facet, the most frequent first."""


@dataclass(frozen=True)
class FacetValue:
    """A value of a field and the number of matching chunks, or documents, that have it."""

    value: str
    count: int


@dataclass(frozen=True)
class Facet:
    """The values of a field among the matches.

    Attributes:
        values: the most frequent values first, at most ten.
        distinct: the number of all distinct values.
    """

    field: str
    values: list[FacetValue]
    distinct: int

    @classmethod
    def of(cls, field: str, counts: Mapping[str, int]) -> Self:
        """Return the facet of a field, given the number of chunks or documents for each value."""
        found = [FacetValue(name, count) for name, count in counts.items() if count]
        most = sorted(found, key=lambda value: -value.count)
        return cls(field, most[:MAX_FACET_VALUES], len(found))


@dataclass(frozen=True)
class SearchAnswer:
    """The answer of a search.

    Attributes:
        totalHits: the exact number of chunks that match, on all pages.
        low_confidence: true if none of the three hits with the highest scores is likely to answer
            the query, whichever page this is.
        results: the hits from ``offset`` on, at most ``limit`` of them; if they are grouped, the
            best one of each document.
        facets: the most frequent values of each requested field.
        suggestion: a corrected query: words that no chunk contains, and in a poor answer those that
            hardly any contains, are replaced by similar ones; None if there is none.
        suggestion_applied: true if the suggestion was searched instead of the query.
        partial: true if the search was stopped early: the hits are the best of those found until
            then, ``totalHits`` counts only these, and facets are left out.
        note: the interpretation of the query if it may not be the intended one, such as plain text
            that looks like syntax; else None and left out of answers.
        rewritten: the query as rewritten by a language model, which was also searched; else None
            and left out of answers.
        diagnostics: the reasons why a requested rewritten query is missing; else None and left out.
        total_documents: the exact number of documents that have matching chunks, if results are
            grouped by document; else None and left out.
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
    total_documents: int | None = None


@dataclass(frozen=True)
class Neighbour:
    """The chunk before or after another one in the same document; None past either end."""

    chunk: ChunkText | None
    has_next: bool
    has_previous: bool
    notice: str | None = None


@dataclass(frozen=True)
class DocumentChunks:
    """Chunks of a document in order; empty if the start is past the last one.

    `more` has those of further parts that were asked for in the same call of the tool.
    """

    source_document: str
    total_chunks: int
    chunks: list[ChunkText]
    notice: str | None = None
    more: "list[DocumentChunks] | None" = None


@dataclass(frozen=True, kw_only=True)
class SimilarChunk(ChunkText):
    """A chunk that is like another one."""

    similarity: float


@dataclass(frozen=True)
class SimilarChunks:
    """Chunks that are like another one, the most similar first."""

    chunk_id: str
    compared_by: Literal["meaning", "words"]
    results: list[SimilarChunk]
    notice: str | None = None


@dataclass(frozen=True)
class ExplainedStep:
    """A step of query processing and the query after it, in a notation like Lucene's syntax."""

    step: str
    query: str


@dataclass(frozen=True)
class ExplainedTerm:
    """A term that is searched in a field, and the number of chunks that contain it there."""

    field: str
    term: str
    document_frequency: int


@dataclass(frozen=True)
class ScorePart:
    """Contribution of a matching term, phrase or pattern to a score."""

    match: str
    score: float


@dataclass(frozen=True)
class ExplainedHit:
    """The score of a chunk and its parts, which add up to it unless there are too many."""

    id: str
    score: float
    parts: list[ScorePart]


@dataclass(frozen=True)
class QueryExplanation:
    """Explanation of a query and its hits; parts that were not requested are empty.

    Attributes:
        languages: the languages in whose forms words are searched, with the share of their chunks.
        steps: the query after each step, in order.
        terms: the terms that occur in some chunk, by field, the rarest first.
        note: as in `SearchAnswer`; None and left out of answers if there is none.
        diagnostics: the reasons why a requested rewritten query is missing; else None and left out
            of answers.
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
