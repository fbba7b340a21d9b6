"""Building the index of a test collection, and asking it all queries."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

from idx.evaluation.collection.documents import read_documents
from idx.evaluation.collection.queries import Query
from idx.evaluation.run import RankedDocument, Run, ranking
from idx.evaluation.search_settings import Configuration
from idx.output.progress import counted
from shared.errors import QueryError
from shared.model.request import Operator, Syntax
from shared.model.search_results import SearchAnswer
from shared.reading.searcher import Searcher

CHUNKS_PER_DOCUMENT: Final = 3
"""Chunks that are looked at for each document that is wanted: many may be of the same one."""

WARM_UP: Final = 20
"""Queries that are asked once before the clock runs, while Java still compiles."""


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How the queries are asked.

    Attributes:
        limit: documents for each query.
        operator: whether one word is enough or all are needed.
        syntax: which characters count as syntax.
    """

    limit: int
    operator: Operator
    syntax: Syntax


@contextmanager
def temporary_index(documents: Path) -> Iterator[tuple[Path, set[str]]]:
    """An index of the documents of a file, which is deleted at the end of the block.

    Args:
        documents: see `idx.evaluation.collection.documents.read_documents`.

    Yields:
        The index folder, and the ids of the documents.

    Raises:
        SourceFileError: the file cannot be read.
    """
    from shared.java.vm import start
    from shared.writing.index import Index, create

    # Creating an index would start the virtual machine for a short command.
    start("batch")
    with TemporaryDirectory(prefix="idx-eval-") as folder:
        path = Path(folder) / "index"
        ids = set()
        create(path)
        with Index(path) as index:
            for document in counted(read_documents(documents), "documents"):
                index.add(document)
                ids.add(document.id)
        yield path, ids


def document_ids(index_path: Path) -> set[str]:
    """The ids of the documents of an index."""
    with Searcher(index_path, program="batch") as searcher:
        return {document.source_document for document in searcher.documents().documents}


def ask_all(
    index_path: Path,
    queries: Sequence[Query],
    configurations: Sequence[Configuration],
    settings: SearchSettings,
) -> list[Run]:
    """Ask an index all queries, in each configuration.

    The configurations take turns at being the first with a query, so that none gains by what
    the other brought into memory.

    Args:
        index_path: the index folder.
        queries: what is asked.
        configurations: with which weights.
        settings: how it is asked.

    Returns:
        A run of each configuration.

    Raises:
        QueryError: a query is not valid in the syntax; the message names it.
    """
    runs = [Run() for _ in configurations]
    with ExitStack() as stack:
        searchers = [
            stack.enter_context(
                Searcher(index_path, program="batch", weights=configuration.weights)
            )
            for configuration in configurations
        ]
        for query in queries[:WARM_UP]:
            for searcher in searchers:
                _ask(searcher, query, settings)
        turns = list(zip(searchers, runs, strict=True))
        for query in counted(queries, "queries"):
            for searcher, run in turns:
                documents, seconds = _ask(searcher, query, settings)
                run.rankings[query.id] = documents
                run.seconds.append(seconds)
            turns.reverse()
    return runs


def _ask(
    searcher: Searcher, query: Query, settings: SearchSettings
) -> tuple[list[RankedDocument], float]:
    """The documents found, and how long the search took."""
    try:
        begin = perf_counter()
        answer = _search(searcher, query, settings, settings.limit)
        seconds = perf_counter() - begin
        documents = ranking(answer.results, settings.limit)
        if len(documents) < min(settings.limit, answer.totalHits):
            # What is missing to the limit were further chunks of the same documents.
            more = _search(searcher, query, settings, CHUNKS_PER_DOCUMENT * settings.limit)
            documents = ranking(more.results, settings.limit)
    except QueryError as error:
        raise QueryError(f"query {query.id}: {error}") from error
    return documents, seconds


def _search(
    searcher: Searcher, query: Query, settings: SearchSettings, chunks: int
) -> SearchAnswer:
    return searcher.search(
        query.text,
        limit=chunks,
        operator=settings.operator,
        syntax=settings.syntax,
        content="none",
    )
