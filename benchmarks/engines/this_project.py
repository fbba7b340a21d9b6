"""This project: all of its fields, and the whole way of a query, tolerance included."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.engines.texts import documents
from benchmarks.engines.worker import Search


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


@contextmanager
def searching(index: Path) -> Iterator[Search]:
    """Search as the server does; all hits are counted exactly."""
    from shared import Searcher

    with Searcher(index, program="server") as searcher:
        yield lambda query: len(searcher.search(query).results)
