"""Which queries of tests/relevance do not find what they should when weights are changed."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from idx.cli.bulk_file import document_of, read_bulk
from idx.evaluation.experiment import Configuration
from shared import Filter, Index, Searcher, create
from shared.model.weights import Weights
from tests.relevance.queries import Query, read

_DOCUMENTS: Final = Path(__file__).parents[1] / "tests" / "relevance" / "documents"


@contextmanager
def library() -> Iterator[Path]:
    """Yield the folder of a temporary index of all documents in tests/relevance."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        create(path)
        with Index(path) as index:
            for file in sorted(_DOCUMENTS.glob("*.jsonl")):
                for number, entry in read_bulk(str(file)):
                    document = document_of(str(file), number, entry)
                    if document is not None:
                        index.add(document)
        yield path


def failures(configurations: Sequence[Configuration]) -> Mapping[str, int]:
    """Return how many queries of the suite fail with each configuration, by its name."""
    queries = read()
    with library() as path:
        return {one.name: _failures(path, queries, one.weights) for one in configurations}


def _failures(path: Path, queries: Sequence[Query], weights: Weights) -> int:
    with Searcher(path, program="batch", weights=weights) as searcher:
        return sum(_fails(searcher, query) for query in queries)


def _fails(searcher: Searcher, query: Query) -> bool:
    arguments: dict[str, Any] = query.arguments()
    filters = [Filter(**one) for one in arguments.pop("filters", ())]
    answer = searcher.search(arguments.pop("query"), filters=filters, **arguments)
    hits = [hit.source_document for hit in answer.results]
    surprised = query.expects_low_confidence() not in {None, answer.low_confidence}
    return surprised or bool(query.disappointments(hits))
