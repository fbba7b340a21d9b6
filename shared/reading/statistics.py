"""Statistics: the state of an index in figures."""

import time
from pathlib import Path
from typing import Any

from org.apache.lucene.index import DirectoryReader, MultiTerms, Term
from org.apache.lucene.search import TermQuery
from org.apache.lucene.util import BytesRefIterator

from shared.files.index_folder import size_bytes
from shared.messages import decodable, utc_time
from shared.model import metadata, schema
from shared.model.index_results import IndexStatistics
from shared.storage.chunk_queries import document_count, first_chunks
from shared.storage.commits import Snapshot, is_limited, user_data


def statistics(snapshot: Snapshot) -> IndexStatistics:
    """Return the statistics of a commit; those of a part say nothing of the rest."""
    searcher, path = snapshot.searcher, snapshot.path
    reader = DirectoryReader.cast_(snapshot.reader)
    is_part = is_limited(reader)
    size = size_bytes(path / str(name) for name in reader.getIndexCommit().getFileNames())
    share = reader.numDocs() / max(1, reader.maxDoc()) if is_part else 1.0
    commit = reader.getIndexCommit()
    data = user_data(reader)
    return IndexStatistics(
        path=str(path),
        documents=document_count(searcher),
        chunks=reader.numDocs(),
        deleted_chunks=0 if is_part else reader.numDeletedDocs(),
        segments=commit.getSegmentCount(),
        size_bytes=round(size * share),
        languages=_documents_by(metadata.LANGUAGE, searcher),
        formats=_documents_by(metadata.FILE_EXTENSION, searcher),
        changed=_time_of_change(path / str(commit.getSegmentsFileName())),
        folders={decodable(str(folder.path)): folder.prefix for folder in snapshot.folders},
        schema_version=int(data[schema.COMMIT_SCHEMA]),
        software_version=data[schema.COMMIT_SOFTWARE],
        lucene_version=data[schema.COMMIT_LUCENE],
    )


def _documents_by(key: str, searcher: Any) -> dict[str, int]:
    """Return the number of documents by value of a metadata key, the most frequent first."""
    field = schema.metadata_field(key)
    terms = MultiTerms.getTerms(searcher.getIndexReader(), field)
    found = {}
    for term in BytesRefIterator.cast_(terms.iterator()) if terms is not None else ():
        count = int(searcher.count(first_chunks(TermQuery(Term(field, term)))))
        # Values of deleted documents stay until segments merge.
        if count:
            found[term.utf8ToString()] = count
    return dict(sorted(found.items(), key=lambda entry: (-entry[1], entry[0])))


def _time_of_change(commit: Path) -> str:
    """Return the time of a commit from its file; now if a newer commit has just replaced it."""
    try:
        changed = commit.stat().st_mtime
    except FileNotFoundError:
        changed = time.time()
    return utc_time(changed)
