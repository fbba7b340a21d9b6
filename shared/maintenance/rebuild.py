"""Rebuild: a new index in the schema of this version, from the text stored in the old one."""

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from org.apache.lucene.index import DirectoryReader, IndexWriterConfig

from shared.backends import chosen
from shared.errors import IndexDamagedError
from shared.files import index_folder
from shared.java import vm
from shared.messages import quantity
from shared.model import schema
from shared.reading.stored_documents import StoredDocument, stored_documents
from shared.settings.defaults import DEFAULT_WAIT
from shared.storage import lucene_errors
from shared.storage.commits import (
    commit_data,
    indexed_folders,
    rebuilt_schema,
    sentence_model,
)
from shared.storage.integrity import open_directory
from shared.storage.mapping import placed_to_lucene, with_language
from shared.writing.document_queue import DocumentWriter, results
from shared.writing.known_vectors import KnownVectors
from shared.writing.writer import clean, open_writer

Progress = Callable[[Iterator[int]], Iterator[int]]
"""Function that passes on the number of chunks of each document as it is written."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """Result of a rebuild.

    Attributes:
        documents: the number of documents in the index.
        chunks: the number of chunks in the index.
        schema_version: its present schema version.
        previous_schema_version: its previous schema version.
    """

    documents: int
    chunks: int
    schema_version: int
    previous_schema_version: int


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
    index_folder.identify(path)
    with vm.attached("batch"), lucene_errors.writing(path):
        directory = open_directory(path)
        try:
            # Checked before waiting for another writer, which would be in vain.
            _open(directory, path)[0].close()
            # Lucene writes the new segments next to those of the last commit, under other names.
            # The next commit replaces that one, and Lucene deletes the files that no commit needs.
            writer = open_writer(
                directory, path, wait, IndexWriterConfig.OpenMode.CREATE, keep_order=True
            )
            try:
                return _rebuild(directory, path, writer, progress)
            except BaseException:
                writer.rollback()
                clean(directory, path)
                raise
        finally:
            directory.close()


def _rebuild(directory: Any, path: Path, writer: Any, progress: Progress) -> Rebuilt:
    reader, version = _open(directory, path)
    try:
        documents = chunks = 0
        had_languages = version >= schema.VERSION_WITH_LANGUAGES
        with closing(_write(writer, path, reader, had_languages=had_languages)) as written:
            for count in progress(written):
                documents += 1
                chunks += count
        if chunks != reader.numDocs():
            found = quantity(reader.numDocs(), "chunk")
            reason = f"it has {found}, but its documents have {chunks:,}"
            raise IndexDamagedError(path, reason)
        model = sentence_model(reader, path)
        writer.setLiveCommitData(commit_data(indexed_folders(reader, path), path, model))
    finally:
        reader.close()
    # This merges, then makes the only commit.
    writer.close()
    return Rebuilt(documents, chunks, schema.SCHEMA_VERSION, version)


def _open(directory: Any, path: Path) -> tuple[Any, int]:
    """Return a reader of the last commit, and its schema version."""
    with lucene_errors.reading(path):
        reader = DirectoryReader.open(directory)
        try:
            return reader, rebuilt_schema(reader, path)
        except BaseException:
            reader.close()
            raise


def _write(
    writer: Any, path: Path, reader: Any, *, had_languages: bool
) -> Generator[int, None, None]:
    """Write each document of a reader, and yield the number of its chunks."""
    known = KnownVectors(reader).value_of if sentence_model(reader, path) else None

    def submitted(documents: DocumentWriter) -> Iterator[Future[int]]:
        for stored in stored_documents(reader):
            kept = stored if had_languages else _with_language(stored)
            batches = placed_to_lucene(kept.document, kept.chunks, known)
            yield documents.submit(kept.document.id, batches)

    with closing(DocumentWriter(writer, path)) as documents:
        yield from results(submitted(documents))


def _with_language(stored: StoredDocument) -> StoredDocument:
    """Return a document with its language, detected from the text of all its chunks."""
    placed = list(stored.chunks)
    text = " ".join(chunk.content for chunk, _ in placed)
    return StoredDocument(with_language(replace(stored.document, content=text)), iter(placed))
