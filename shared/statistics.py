"""The state of an index in figures."""

from pathlib import Path
from typing import Any

from org.apache.lucene.document import IntPoint
from org.apache.lucene.index import DirectoryReader

from shared import schema
from shared.commit import user_data
from shared.results import IndexStatistics


def statistics(searcher: Any, path: Path) -> IndexStatistics:
    """The figures of the commit that a Lucene searcher shows; `path` is its folder."""
    reader = DirectoryReader.cast_(searcher.getIndexReader())
    commit = reader.getIndexCommit()
    data = user_data(reader)
    files = [path / name for name in commit.getFileNames()]
    return IndexStatistics(
        path=str(path),
        documents=searcher.count(IntPoint.newExactQuery(schema.CHUNK_INDEX, 1)),
        chunks=reader.numDocs(),
        deleted_chunks=reader.numDeletedDocs(),
        segments=commit.getSegmentCount(),
        size_bytes=sum(map(_size, files)),
        schema_version=int(data[schema.COMMIT_SCHEMA]),
        software_version=data[schema.COMMIT_SOFTWARE],
        lucene_version=data[schema.COMMIT_LUCENE],
    )


def _size(file: Path) -> int:
    """Bytes of a file; 0 for one that a newer commit has made superfluous meanwhile."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
