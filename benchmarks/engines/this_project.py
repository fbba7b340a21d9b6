"""This project: all of its fields, and the whole way of a query, tolerance included."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.engines.worker import Search, rows
from shared.model.document import Document, Metadata


def documents(file: Path) -> Iterator[Document]:
    for row in rows(file):
        metadata: Metadata = {"language": row.language, "year": int(row.year)}
        yield Document(row.id, row.title, row.content, metadata)


def start() -> None:
    """Start the virtual machine, and load the classes of Python that it needs."""
    from shared import Index, Searcher  # noqa: F401 - loaded
    from shared.java import vm

    vm.start("batch")


def write(texts: Path, index: Path) -> None:
    """Add the texts, as `idx` does."""
    from shared import Index, create

    create(index)
    with Index(index) as writer:
        for _ in writer.add_all(documents(texts)):
            pass


def lucene_seconds(texts: Path, index: Path) -> float:
    """Return Lucene's part of the processor time: the fields of all texts are made beforehand."""
    start()
    from java.util import Arrays
    from org.apache.lucene.index import IndexWriterConfig

    from shared.analysis.analyzers import writing
    from shared.storage.mapping import to_lucene
    from shared.storage.stored_chunks import document_term
    from shared.writing.writer import only_writer, opened

    index.mkdir()
    made = [(document_term(document.id), [*to_lucene(document)]) for document in documents(texts)]
    begin = time.process_time()
    mode = IndexWriterConfig.OpenMode.CREATE
    with opened(index) as directory, only_writer(directory, index, 0, mode) as writer:
        for term, ((language, chunk),) in made:
            with writing(language):
                writer.updateDocuments(term, Arrays.asList(chunk))
        writer.commit()
        # It waits for merges.
        writer.close()
        return time.process_time() - begin


@contextmanager
def searching(index: Path) -> Iterator[Search]:
    """Search as the server does; all hits are counted exactly."""
    from shared import Searcher

    with Searcher(index, program="server") as searcher:
        yield lambda query: len(searcher.search(query).results)
