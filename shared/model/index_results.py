"""What is told of an index beside hits: its terms, its fields, one document. Plain data, no Java.

The names are those of the tools' answers and of ``--json``, which are public.
"""

from dataclasses import dataclass
from typing import Literal

from shared.model.document import Metadata
from shared.model.failures import Kind

FieldKind = Literal["text", "keyword", "number", "language form"]
"""What a field holds: words, whole values, numbers, or words in the base forms of a language."""


@dataclass(frozen=True)
class TermCount:
    """A term of a field, and the number of chunks that have it."""

    term: str
    chunks: int


@dataclass(frozen=True)
class TermList:
    """Terms of a field, those of most chunks first.

    Attributes:
        field: the field as it was named.
        prefix: what all of them begin with, spelled as in the index; else empty.
        terms: at most ``limit`` of them.
        complete: whether all terms of the field were looked at that could be among these.
        notice: what was not looked at or cut from the answer, and how to get it; else None.
    """

    field: str
    prefix: str
    terms: list[TermCount]
    complete: bool
    notice: str | None = None


@dataclass(frozen=True)
class Names:
    """Names that begin in a certain way, in the order of the alphabet.

    Attributes:
        total: how many there are in all.
        values: the first of them.
    """

    total: int
    values: list[str]


@dataclass(frozen=True)
class FieldDescription:
    """A field of the chunks, and what can be done with it.

    Attributes:
        name: as filters, orders, facets and the tools on terms take it.
        kind: what it holds.
        meaning: in words; None for a key of the metadata.
        chunks: the number of chunks that have it.
        searchable: whether a query finds its terms.
        query_name: what stands before the colon in a query on this field alone; else None.
        filterable: whether a filter may name it.
        sortable: whether hits can be sorted by it.
        facet: whether its values can be counted among the hits of a search.
        examples: some of its values, if it holds whole values.
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
    """The fields of an index: those of every chunk, then the keys of the metadata, then forms.

    Attributes:
        total_chunks: chunks of the index.
        fields: what there is.
        notice: what was cut from the answer to keep it short, and how to get it; else None.
    """

    total_chunks: int
    fields: list[FieldDescription]
    notice: str | None = None


@dataclass(frozen=True)
class DocumentDetails:
    r"""All that is known of a document beside its text.

    Attributes:
        source_document: its id.
        title: its title.
        chunk_count: its chunks, which are numbered from 1.
        language: the code of its main language; None if that is not known.
        words: words of its text, as chunks are cut by them.
        characters: characters of its text up to the last word; None if that is not known.
        preview: the beginning of its text.
        metadata: what came with it, including what hits leave out.
        file_path: the file, absolute; bytes of its name that are no UTF-8 as ``\xNN``.
        notice: what was cut from the answer to keep it short, and how to get it; else None.
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
class FailedFile:
    """A file that is not in the index, or only in an older version.

    Attributes:
        source_document: the id that its document has, or would have.
        file_path: the file, as in a `Citation`.
        kind: ``failed`` where something is wrong with it, ``unsupported`` where it is of a kind
            that is not read, ``empty`` where it has no text, ``partial`` where only a part of it
            could be read and is in the index, ``secret`` where it is a secret or seems to hold one.
        reason: in words.
        tried: when it was tried, ISO 8601 in UTC.
    """

    source_document: str
    file_path: str
    kind: Kind
    reason: str
    tried: str


@dataclass(frozen=True)
class FailureList:
    """Files that are not in the index, in the order of their ids.

    Attributes:
        total: how many there are, however many are given here.
        failures: the files from ``offset`` on, at most ``limit`` of them.
        notice: what was cut from the answer to keep it short, and how to get it; else None.
    """

    total: int
    failures: list[FailedFile]
    notice: str | None = None


@dataclass(frozen=True)
class IndexStatistics:
    """The state of an index.

    Attributes:
        path: the index folder, absolute.
        documents: documents that can be found.
        chunks: chunks that can be found.
        deleted_chunks: chunks replaced or deleted that still take space until segments merge.
        segments: groups of files that a search visits.
        size_bytes: bytes of the files that the newest commit needs.
        languages: documents by the code of their main language, where it is known; the most
            frequent first.
        formats: documents by the extension of their file, such as pdf; the most frequent first.
        changed: when the newest commit was made, ISO 8601 in UTC.
        folders: the folders that documents come from, with the prefix of their ids.
        schema_version: version of the fields' layout.
        software_version: version of mcp-lucene that wrote the newest commit.
        lucene_version: version of Lucene that wrote the newest commit.
        notice: what was cut from the answer to keep it short, and how to get it; else None.
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
