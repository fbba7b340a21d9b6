"""Plain Lucene through PyLucene."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final

from benchmarks.engines.texts import rows
from benchmarks.engines.worker import Search
from benchmarks.plain_lucene import PlainSearcher, PlainWriter

BATCH: Final = 1_000


def start() -> None:
    """Start the virtual machine."""
    from shared.java import vm

    vm.start("batch")


def write(texts: Path, index: Path) -> None:
    """Add the texts in batches."""
    writer = PlainWriter(index)
    remaining = rows(texts)
    while batch := list(islice(remaining, BATCH)):
        writer.add(batch)
    writer.close()


@contextmanager
def searching(index: Path) -> Iterator[Search]:
    """Search by Lucene's classic parser."""
    searcher = PlainSearcher(index)
    yield lambda query: len(searcher.search(query))
