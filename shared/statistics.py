"""The state of an index in figures."""

from pathlib import Path
from typing import Any

from org.apache.lucene.document import IntPoint
from org.apache.lucene.index import DirectoryReader, MultiTerms, Term
from org.apache.lucene.search import BooleanClause, BooleanQuery, TermQuery
from org.apache.lucene.util import BytesRefIterator

from shared import metadata, schema
from shared.commit import indexed_folders, user_data
from shared.indexed_folder import decodable
from shared.results import IndexStatistics


def statistics(searcher: Any, path: Path) -> IndexStatistics:
    """The figures of the commit that a Lucene searcher shows; `path` is its folder."""
    reader = DirectoryReader.cast_(searcher.getIndexReader())
    commit = reader.getIndexCommit()
    data = user_data(reader)
    files = [path / name for name in commit.getFileNames()]
    folders = indexed_folders(reader, path)
    return IndexStatistics(
        path=str(path),
        documents=searcher.count(IntPoint.newExactQuery(schema.CHUNK_INDEX, 1)),
        chunks=reader.numDocs(),
        deleted_chunks=reader.numDeletedDocs(),
        segments=commit.getSegmentCount(),
        size_bytes=sum(map(_size, files)),
        languages=_languages(searcher, reader),
        folders={decodable(str(folder.path)): folder.prefix for folder in folders},
        schema_version=int(data[schema.COMMIT_SCHEMA]),
        software_version=data[schema.COMMIT_SOFTWARE],
        lucene_version=data[schema.COMMIT_LUCENE],
    )


def _languages(searcher: Any, reader: Any) -> dict[str, int]:
    """Documents of each language, the most frequent first."""
    field = schema.metadata_field(metadata.LANGUAGE)
    terms = MultiTerms.getTerms(reader, field)
    found = {}
    for term in BytesRefIterator.cast_(terms.iterator()) if terms is not None else ():
        language = term.utf8ToString()
        documents = (
            BooleanQuery.Builder()
            .add(TermQuery(Term(field, term)), BooleanClause.Occur.FILTER)
            .add(IntPoint.newExactQuery(schema.CHUNK_INDEX, 1), BooleanClause.Occur.FILTER)
            .build()
        )
        found[language] = int(searcher.count(documents))
    return dict(sorted(found.items(), key=lambda entry: (-entry[1], entry[0])))


def _size(file: Path) -> int:
    """Bytes of a file; 0 for one that a newer commit has made superfluous meanwhile."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
