"""Experiments: the index of a test collection, and the runs of its queries."""

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
from shared.model.request import Operator, Search, Syntax
from shared.model.search_results import SearchAnswer
from shared.reading.searcher import Searcher
from shared.settings.current import sentence_model
from shared.settings.defaults import DEFAULT_SENTENCE_MODEL

CHUNKS_PER_DOCUMENT: Final = 3
"""Number of chunks retrieved for each document, since several may belong to the same one."""

WARM_UP: Final = 20
"""Number of queries run once before the measurement of latency, while Java compiles its code."""


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Settings of the queries.

    Attributes:
        limit: number of documents for each query.
        operator: whether one word is enough or all are needed.
        syntax: the syntax of the queries.
    """

    limit: int
    operator: Operator
    syntax: Syntax


@contextmanager
def temporary_index(documents: Path) -> Iterator[tuple[Path, set[str]]]:
    """Index the documents of a file in a temporary folder, deleted at the end of the block.

    Args:
        documents: see `idx.evaluation.collection.documents.read_documents`.

    Yields:
        The index folder, and the ids of the documents.

    Raises:
        SourceFileError: the file cannot be read.
    """
    from shared.java.vm import start
    from shared.writing.index import Index, create

    # Creating an index would start the virtual machine with the settings of a short command.
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


def embed_texts(index_path: Path) -> None:
    """Embed an index with the sentence model that is set, or the default one.

    Raises:
        SemanticModelError: the model cannot be used.
        ExtraMissingError: its libraries are not installed.
    """
    from idx.output.progress import shown
    from shared.maintenance.embedding import embed, switch_on

    switch_on(index_path, sentence_model() or DEFAULT_SENTENCE_MODEL)
    embed(index_path, progress=shown)


def document_ids(index_path: Path) -> set[str]:
    """Return the ids of the documents of an index."""
    with Searcher(index_path, program="batch") as searcher:
        return {document.source_document for document in searcher.documents().documents}


def ask_all(
    index_path: Path,
    queries: Sequence[Query],
    configurations: Sequence[Configuration],
    settings: SearchSettings,
) -> list[Run]:
    """Run all queries on an index in each configuration.

    The configurations take turns in running a query first, so that neither benefits from data that
    the other brought into memory.

    Args:
        index_path: the index folder.
        queries: the queries.
        configurations: the configurations, each with its weights.
        settings: the settings of the queries.

    Returns:
        A run of each configuration.

    Raises:
        QueryError: a query is not valid in the syntax; the message gives its id.
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
            for searcher, configuration in zip(searchers, configurations, strict=True):
                _ask(searcher, query, settings, configuration.search)
        turns = list(zip(searchers, configurations, runs, strict=True))
        for query in counted(queries, "queries"):
            for searcher, configuration, run in turns:
                documents, seconds = _ask(searcher, query, settings, configuration.search)
                run.rankings[query.id] = documents
                run.seconds.append(seconds)
            turns.reverse()
    return runs


def _ask(
    searcher: Searcher, query: Query, settings: SearchSettings, search: Search
) -> tuple[list[RankedDocument], float]:
    """Return the documents found, and the duration of the search in seconds."""
    try:
        begin = perf_counter()
        answer = _search(searcher, query, settings, search, settings.limit)
        seconds = perf_counter() - begin
        documents = ranking(answer.results, settings.limit)
        if len(documents) < min(settings.limit, answer.totalHits):
            # The missing documents were displaced by further chunks of the same documents.
            more = _search(searcher, query, settings, search, CHUNKS_PER_DOCUMENT * settings.limit)
            documents = ranking(more.results, settings.limit)
    except QueryError as error:
        raise QueryError(f"query {query.id}: {error}") from error
    return documents, seconds


def _search(
    searcher: Searcher, query: Query, settings: SearchSettings, search: Search, chunks: int
) -> SearchAnswer:
    return searcher.search(
        query.text,
        limit=chunks,
        operator=settings.operator,
        syntax=settings.syntax,
        content="none",
        search=search,
    )
