"""The library bm25s, which keeps an index in memory; it knows words only."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bm25s

from benchmarks.engines.texts import rows
from benchmarks.engines.worker import Search


def start() -> None:
    """Nothing is to be started."""


def write(texts: Path, index: Path, threads: int) -> None:  # noqa: ARG001 - one thread writes
    """Index all texts at once, and save them with the index."""
    contents = [row.content for row in rows(texts)]
    model = bm25s.BM25()
    model.index(_tokens(contents), show_progress=False)
    model.save(index, corpus=contents, show_progress=False)


@contextmanager
def searching(index: Path) -> Iterator[Search]:
    """Search with index and texts in memory."""
    model = bm25s.BM25.load(index, load_corpus=True)

    def search(query: str) -> int:
        _, scores = model.retrieve(_tokens([query]), k=10, show_progress=False)
        # It fills up with texts that have none of the words.
        return int((scores[0] > 0).sum())

    yield search


def _tokens(texts: list[str]) -> Any:
    return bm25s.tokenize(texts, stopwords=None, show_progress=False)
