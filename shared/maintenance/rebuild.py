"""Rebuild: a new index in the schema of this version, from the text stored in the old one."""

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from org.apache.lucene.index import DirectoryReader, IndexWriterConfig, LeafReader, Term
from org.apache.lucene.search import DocIdSetIterator, IndexSearcher, Sort, SortField, TermQuery

from shared.backends import chosen
from shared.errors import IndexDamagedError
from shared.files import index_folder
from shared.messages import quantity
from shared.model import schema
from shared.model.document import STEP, Chunk, Document, FileState, Place, SourceFile, chunk_id
from shared.query.lucene import Compiler
from shared.query.tree import Between, all_of
from shared.reading.backend import chunks_of
from shared.settings.defaults import DEFAULT_WAIT
from shared.storage.commits import (
    commit_data,
    indexed_folders,
    open_last_commit,
    rebuilt_schema,
    sentence_model,
)
from shared.storage.mapping import file_state, placed_to_lucene
from shared.storage.passages import KnownVectors
from shared.storage.stored_chunks import CHUNK_FIELDS, details_of, stored_fields
from shared.writing.writer import DocumentWriter, only_writer, opened, results

Progress = Callable[[Iterator[int]], Iterator[int]]
"""Function that passes on the number of chunks of each document as it is written."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """Result of a rebuild: what is in the index, and its schema version, now and before."""

    documents: int
    chunks: int
    schema_version: int
    previous_schema_version: int


StoredDocument = tuple[Document, Iterator[tuple[Chunk, Place]]]
"""A document of an index, whose text is that of its first chunk only, and its chunks in order, each
with its place, read on demand."""


def rebuild(path: Path | str, *, wait: float = DEFAULT_WAIT, progress: Progress = iter) -> Rebuilt:
    """Rebuild an index from the text that is stored in it.

    One commit replaces the old index by the new one. Until then every reader sees the old one,
    other writers are locked out, and a run that ends early leaves the old one unchanged.

    Args:
        path: the index folder.
        wait: seconds to wait for another writer to end.
        progress: a function that passes on the number of chunks, document by document.

    Raises:
        IndexMissingError: there is no index at the path.
        IndexLockedError: another writer held the lock for the whole time.
        IndexSchemaError: its schema cannot be rebuilt.
        IndexFolderError: the index cannot be used; the class says why.
    """
    if other := chosen(path, "rebuild"):
        rebuilt: Rebuilt = other(path, wait=wait, progress=progress)
        return rebuilt
    path = index_folder.absolute(path)
    with opened(path) as directory:
        # Checked before waiting for another writer, which would be in vain.
        open_last_commit(directory, path, rebuilt_schema).close()
        # Lucene writes the new segments next to those of the last commit, under other names. The
        # next commit replaces that one, and Lucene deletes the files that no commit needs.
        mode = IndexWriterConfig.OpenMode.CREATE
        with only_writer(directory, path, wait, mode, keep_order=True) as writer:
            with closing(open_last_commit(directory, path, rebuilt_schema)) as reader:
                version = rebuilt_schema(reader, path)
                documents, chunks = _rebuild(path, writer, reader, progress)
            # This merges, then makes the only commit.
            writer.close()
    return Rebuilt(documents, chunks, schema.SCHEMA_VERSION, version)


def _rebuild(path: Path, writer: Any, reader: Any, progress: Progress) -> tuple[int, int]:
    """Write what a reader shows, and return the numbers of documents and chunks."""
    with closing(_write(writer, path, reader)) as written:
        counts = [*progress(written)]
    if (chunks := sum(counts)) != reader.numDocs():
        found = quantity(reader.numDocs(), "chunk")
        reason = f"it has {found}, but its documents have {chunks:,}"
        raise IndexDamagedError(path, reason)
    model = sentence_model(reader, path)
    writer.setLiveCommitData(commit_data(indexed_folders(reader, path), path, model))
    return len(counts), chunks


def _write(writer: Any, path: Path, reader: Any) -> Generator[int, None, None]:
    """Write each document of a reader, and yield the number of its chunks."""
    known = KnownVectors(reader).value_of if sentence_model(reader, path) else None

    def submitted(documents: DocumentWriter) -> Iterator[Future[int]]:
        for document, chunks in stored_documents(reader):
            yield documents.submit(document.id, placed_to_lucene(document, chunks, known))

    with closing(DocumentWriter(writer, path)) as documents:
        yield from results(submitted(documents))


def stored_documents(reader: Any) -> Iterator[StoredDocument]:
    """Yield the documents of a reader in the order in which they were added to the index.

    Each segment is verified as a whole, so Lucene reports damage before the first document of the
    segment, even in parts that are not read.
    """
    searcher = IndexSearcher(reader)
    for context in DirectoryReader.cast_(reader).leaves():
        leaf = LeafReader.cast_(context.reader())
        leaf.checkIntegrity()
        indexes: Any = leaf.getNumericDocValues(schema.CHUNK_INDEX)
        live: Any = leaf.getLiveDocs()
        while indexes and (number := indexes.nextDoc()) != DocIdSetIterator.NO_MORE_DOCS:
            if indexes.longValue() == 1 and (not live or live.get(number)):
                yield _stored_document(searcher, context.docBase + number)


def _stored_document(searcher: Any, number: int) -> StoredDocument:
    """Return the document with a first chunk, by Lucene's number."""
    stored = searcher.storedFields().document(number, stored_fields(*CHUNK_FIELDS))
    first, place = chunk_in(stored)
    if first.words is None:
        first = replace(first, words=_word_count(searcher, first))
    state = file_state(searcher.getIndexReader(), number)
    return document_of(stored, state), _chunks(searcher, first, place)


def _word_count(searcher: Any, first: Chunk) -> int:
    """Return the number of words of a document of an older index, from its first chunk.

    All of its chunks but the last have the same number of words.
    """
    last = Term(schema.ID, schema.keyword(chunk_id(first.source_document, first.count)))
    (hit,) = searcher.search(TermQuery(last), 1).scoreDocs
    content = searcher.storedFields().document(hit.doc, stored_fields(schema.CONTENT))
    return STEP * (first.count - 1) + len(content.get(schema.CONTENT).split())


def _chunks(searcher: Any, first: Chunk, place: Place) -> Iterator[tuple[Chunk, Place]]:
    yield first, place
    if first.count == 1:
        return
    # The chunks of a long document may be in several segments, in any order.
    rest = all_of(chunks_of(first.source_document), Between(schema.CHUNK_INDEX, 2, first.count))
    order = Sort([SortField(schema.CHUNK_INDEX, SortField.Type.INT)])
    stored = searcher.storedFields()
    fields = stored_fields(*CHUNK_FIELDS)
    for hit in searcher.search(Compiler().query(rest), first.count, order).scoreDocs:
        yield chunk_in(stored.document(hit.doc, fields))


def document_of(first: Any, state: FileState | None) -> Document:
    """Return a document by the stored fields of its first chunk, whose text alone it has."""
    details = details_of(first)
    return Document(
        id=first.get(schema.SOURCE_DOCUMENT),
        title=details.title,
        content=first.get(schema.CONTENT),
        metadata=details.metadata,
        file=SourceFile(details.file_path, state) if state and details.file_path else None,
    )


def chunk_in(stored: Any) -> tuple[Chunk, Place]:
    """Return a chunk by its stored fields, and its place."""
    details = details_of(stored)
    place = details.place
    chunk = Chunk(
        id=stored.get(schema.ID),
        title=stored.get(schema.TITLE),
        content=stored.get(schema.CONTENT),
        source_document=stored.get(schema.SOURCE_DOCUMENT),
        index=int(stored.get(schema.CHUNK_INDEX)),
        start=int(place["char_start"]),
        end=int(place["char_end"]),
        count=details.chunk_count,
        words=details.words,
    )
    return chunk, place
