"""What a search, a walk through a document and a listing answer: plain data, no Java.

The names are those of the tools' answers and of ``--json``, which are public.
"""

from dataclasses import dataclass
from typing import Final, Literal

from shared.document import Metadata

Content = Literal["full", "passages", "none"]
"""How much text a hit carries: all of it, the parts around the matches, or none."""

Operator = Literal["or", "and"]
"""Whether one word of a query is enough or all are needed."""


MARKS: Final = ("<mark>", "</mark>")
"""What stands before and after a match in a passage, as in HTML."""


@dataclass(frozen=True)
class ChunkText:
    """A chunk as it is stored. ``chunk_index`` counts from 1."""

    id: str
    title: str
    content: str
    source_document: str
    chunk_index: int
    metadata: Metadata


@dataclass(frozen=True)
class Hit:
    """A chunk that a search found.

    Attributes:
        content: the whole text, or None where only passages or no text were asked for.
        passages: up to three parts of the text around the matches, each match between
            ``<mark>`` and ``</mark>``; None where they were not asked for.
        score: Lucene's relevance score, above 0; comparable within one answer only.
    """

    id: str
    title: str
    content: str | None
    source_document: str
    chunk_index: int
    score: float
    passages: list[str] | None
    metadata: Metadata


@dataclass(frozen=True)
class SearchAnswer:
    """The hits of a search, best first.

    Attributes:
        query: the query as it was asked.
        totalHits: the exact number of chunks that match, however many are given here.
        results: the hits from ``offset`` on, at most ``limit`` of them.
        notice: what was cut from the answer to keep it short, and how to get it; else None.
    """

    query: str
    totalHits: int  # noqa: N815 - the name is public and older than this code
    results: list[Hit]
    notice: str | None = None


@dataclass(frozen=True)
class DocumentSummary:
    """A document of the index; its chunks are numbered 1 to ``max_chunk_index``."""

    source_document: str
    title: str
    chunk_count: int
    max_chunk_index: int
    metadata: Metadata


@dataclass(frozen=True)
class DocumentList:
    """Documents in the order of their ids, with the totals of what was asked for.

    Attributes:
        total_documents: documents whose id has the prefix, however many are given here.
        total_chunks: chunks of these documents.
        documents: the documents from ``offset`` on, at most ``limit`` of them.
        notice: what was cut from the answer to keep it short, and how to get it; else None.
    """

    total_documents: int
    total_chunks: int
    documents: list[DocumentSummary]
    notice: str | None = None


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
class IndexStatistics:
    """The state of an index.

    Attributes:
        path: the index folder, absolute.
        documents: documents that can be found.
        chunks: chunks that can be found.
        deleted_chunks: chunks replaced or deleted that still take space until segments merge.
        segments: files groups that a search visits.
        size_bytes: bytes of the files that the newest commit needs.
        schema_version: version of the fields' layout.
        software_version: version of mcp-lucene that wrote the newest commit.
        lucene_version: version of Lucene that wrote the newest commit.
    """

    path: str
    documents: int
    chunks: int
    deleted_chunks: int
    segments: int
    size_bytes: int
    schema_version: int
    software_version: str
    lucene_version: str
