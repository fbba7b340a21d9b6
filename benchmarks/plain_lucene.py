"""Lucene without anything of this project, through PyLucene: the content alone, BM25.

It is an engine as `benchmarks.engines.worker` asks for.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final

from benchmarks.engines.worker import Row, Search, rows
from shared.model.document import Document
from shared.writing.writer import BUFFER_MEGABYTES

BATCH: Final = 1_000


class PlainWriter:
    """The content alone, stored and analyzed by StandardAnalyzer.

    The writer keeps as much in memory as this project does.
    """

    def __init__(self, path: Path) -> None:
        from java.nio.file import Paths
        from org.apache.lucene.analysis.standard import StandardAnalyzer
        from org.apache.lucene.index import IndexWriter, IndexWriterConfig
        from org.apache.lucene.store import FSDirectory

        config = IndexWriterConfig(StandardAnalyzer())
        config.setRAMBufferSizeMB(BUFFER_MEGABYTES)
        self._writer = IndexWriter(FSDirectory.open(Paths.get(str(path))), config)

    def add(self, texts: Iterable[Document | Row]) -> None:
        """Add texts, all of them at once: the fastest way there is from Python."""
        from java.util import ArrayList, Arrays
        from org.apache.lucene.document import Field, StringField, TextField

        batch = []
        for text in texts:
            fields = ArrayList()
            fields.add(StringField("id", text.id, Field.Store.YES))
            fields.add(TextField("content", text.content, Field.Store.YES))
            batch.append(fields)
        self._writer.addDocuments(Arrays.asList(batch))

    def close(self) -> None:
        """Commit and wait for merges."""
        self._writer.commit()
        self._writer.close()


class PlainSearcher:
    """Its classic parser on the content, and ten hits with their text."""

    def __init__(self, path: Path) -> None:
        from java.nio.file import Paths
        from org.apache.lucene.analysis.standard import StandardAnalyzer
        from org.apache.lucene.index import DirectoryReader
        from org.apache.lucene.search import IndexSearcher
        from org.apache.lucene.store import FSDirectory

        self._searcher = IndexSearcher(DirectoryReader.open(FSDirectory.open(Paths.get(str(path)))))
        self._analyzer = StandardAnalyzer()

    def search(self, query: str) -> list[str]:
        from org.apache.lucene.queryparser.classic import QueryParser, QueryParserBase

        parser = QueryParser("content", self._analyzer)
        parser.setAllowLeadingWildcard(True)
        found = self._searcher.search(QueryParserBase.parse(parser, query), 10)
        stored = self._searcher.storedFields()
        return [stored.document(hit.doc).get("content") for hit in found.scoreDocs]


def start() -> None:
    from shared.java import vm

    vm.start("batch")


def write(texts: Path, index: Path) -> None:
    writer = PlainWriter(index)
    remaining = rows(texts)
    while batch := list(islice(remaining, BATCH)):
        writer.add(batch)
    writer.close()


@contextmanager
def searching(index: Path) -> Iterator[Search]:
    searcher = PlainSearcher(index)
    yield lambda query: len(searcher.search(query))
