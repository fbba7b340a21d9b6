"""Purge: removal of all documents of an index."""

from dataclasses import dataclass
from pathlib import Path

from org.apache.lucene.search import IndexSearcher

from shared.files import index_folder
from shared.model.failures import delete_failures
from shared.model.folders import IndexedFolders
from shared.ocr.cache import ReadingCache
from shared.settings.defaults import DEFAULT_WAIT
from shared.storage.chunk_queries import document_count
from shared.storage.commits import commit_data, sentence_model
from shared.writing.writer import exclusive_writer


@dataclass(frozen=True, slots=True)
class Purged:
    """Result of a purge.

    Attributes:
        deleted_documents: the number of documents that were in the index.
        deleted_chunks: the number of their chunks.
    """

    deleted_documents: int
    deleted_chunks: int


def purge(path: Path | str, *, wait: float = DEFAULT_WAIT) -> Purged:
    """Remove everything from an index: documents, folders, failures, and pages read by OCR.

    One commit makes it like an index newly created by `shared.create`.

    Args:
        path: the index folder.
        wait: seconds to wait for another writer to end.

    Raises:
        IndexMissingError: there is no index at the path.
        IndexLockedError: another writer held the lock for the whole time.
        IndexWriteError: the file system refused to write; nothing was removed.
        IndexFolderError: the index cannot be used; the class says why.
    """
    path = index_folder.absolute(path)
    with exclusive_writer(path, wait) as (writer, reader):
        documents = document_count(IndexSearcher(reader))
        chunks = int(reader.numDocs())
        writer.deleteAll()
        writer.setLiveCommitData(commit_data(IndexedFolders(), path, sentence_model(reader, path)))
        # It writes everything that needs space, and can still be rolled back if the list of
        # failures cannot be deleted.
        writer.prepareCommit()
        delete_failures(path)
        ReadingCache(path).clear()
        writer.commit()
    return Purged(documents, chunks)
