"""Results of queries about the index itself: statistics, fields, terms, documents. Plain data.

The names are those of the tools' answers and of ``--json``, which are public. A `notice` names what
was cut to keep the answer short, and how to get it; it is None if nothing was.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from shared.model.document import Metadata
from shared.model.failures import Kind

FieldKind = Literal["text", "keyword", "number"]
"""Kind of a field: words, whole values, or numbers."""


@dataclass(frozen=True)
class TermCount:
    """A term of a field and the number of chunks that contain it."""

    term: str
    chunks: int


@dataclass(frozen=True)
class TermList:
    """Terms of a field, as it was named in the request, the most frequent first.

    Attributes:
        prefix: the prefix of all terms, spelled as in the index; empty if there is none.
        complete: true if all candidate terms of the field were compared; else the notice names
            those that were not.
    """

    field: str
    prefix: str
    terms: list[TermCount]
    complete: bool
    notice: str | None = None


@dataclass(frozen=True)
class Names:
    """Names with a common prefix, in alphabetical order."""

    total: int
    values: list[str]


@dataclass(frozen=True)
class FieldDescription:
    """A field of the chunks and its uses.

    Attributes:
        name: its name in filters, sort orders, facets and the tools on terms.
        meaning: its meaning in words; None for a metadata key.
        chunks: the number of chunks that have it.
        searchable: true if a query finds its terms.
        query_name: its name before the colon in a query on this field alone; None if it has none.
        filterable: true if a filter may name it.
        sortable: true if hits can be sorted by it.
        facet: true if its values can be counted among the hits of a search.
        examples: some of its values, if it contains whole values.
    """

    name: str
    kind: FieldKind
    meaning: str | None
    chunks: int
    searchable: bool
    query_name: str | None
    filterable: bool
    sortable: bool
    facet: bool
    examples: list[str]


@dataclass(frozen=True)
class FieldList:
    """The fields of an index: those of every chunk, then the metadata keys."""

    total_chunks: int
    fields: list[FieldDescription]
    notice: str | None = None


@dataclass(frozen=True)
class DocumentDetails:
    r"""Details of a document, without its text.

    Attributes:
        chunk_count: the number of its chunks, which are numbered from 1.
        language: the code of its main language; None if unknown.
        words: the number of words of its text, as used to cut chunks.
        characters: the length of its text up to the last word, in characters; None if unknown.
        preview: the beginning of its text.
        metadata: its metadata, including what hits leave out.
        file_path: the file, absolute; bytes of its name that are not UTF-8 as ``\xNN``.
    """

    source_document: str
    title: str
    chunk_count: int
    language: str | None
    words: int
    characters: int | None
    preview: str
    metadata: Metadata
    file_path: str | None = None
    notice: str | None = None


@dataclass(frozen=True)
class DocumentFile:
    """The file that a document was made from, as it was when it was indexed.

    If the document was made of something within the file, such as an attachment, it has a
    container, the id of the file's own document; its type and hash are its own.
    """

    source_document: str
    title: str
    file_path: str  # as in `DocumentDetails`
    folder: Path | None  # the indexed one, as it is now; None for a file that was named by itself
    path: str  # within the folder, with slashes; absolute without one
    media_type: str  # by its content
    content_hash: str
    size: int | None = None  # in bytes
    modified_ns: int | None = None  # since 1970
    container: str | None = None
    file_hash: str | None = None  # of the whole file
    left_out: int | None = None  # secrets that lie within the file; None if nothing does


@dataclass(frozen=True)
class DocumentSummary:
    """A document of the index; its chunks are numbered 1 to ``max_chunk_index``.

    ``file_path`` is as in a `Citation`.
    """

    source_document: str
    title: str
    chunk_count: int
    max_chunk_index: int
    metadata: Metadata
    file_path: str | None = None


@dataclass(frozen=True)
class DocumentList:
    """A page of the documents whose id has a prefix, with the totals of all pages."""

    total_documents: int
    total_chunks: int
    documents: list[DocumentSummary]
    notice: str | None = None


@dataclass(frozen=True)
class FailedFile:
    """A file that is not in the index, or only in an older version or in part.

    Attributes:
        source_document: the id that its document has, or would have.
        file_path: the file, as in a `Citation`.
        kind: the kind of the reason; see `shared.model.failures.Kind`.
        tried: when it was tried, ISO 8601 in UTC.
    """

    source_document: str
    file_path: str
    kind: Kind
    reason: str
    tried: str


@dataclass(frozen=True)
class FailureList:
    """A page of the files that are not in the index, by their ids, with the total of all pages."""

    total: int
    failures: list[FailedFile]
    notice: str | None = None


@dataclass(frozen=True)
class IndexStatistics:
    """The state of an index in figures.

    Attributes:
        path: the index folder, absolute.
        deleted_chunks: the number of replaced or deleted chunks that take space until segments
            merge.
        segments: the number of segments that a search visits.
        size_bytes: the size of the files of the newest commit, in bytes; of a part of the
            index, as much of it as the part has of the chunks.
        languages: the number of documents by the code of their main language, if known; the most
            frequent first.
        formats: the number of documents by the extension of their file, such as pdf; the most
            frequent first.
        changed: when the newest commit was made, ISO 8601 in UTC.
        folders: the folders that documents come from, with the prefix of their ids.
        software_version: the version of mcp-lucene that wrote the newest commit.
        lucene_version: the version of Lucene that wrote the newest commit.
    """

    path: str
    documents: int
    chunks: int
    deleted_chunks: int
    segments: int
    size_bytes: int
    languages: dict[str, int]
    formats: dict[str, int]
    changed: str
    folders: dict[str, str]
    schema_version: int
    software_version: str
    lucene_version: str
    notice: str | None = None
