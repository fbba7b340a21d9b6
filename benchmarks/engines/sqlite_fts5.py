"""SQLite's full-text index, set up as its documentation has it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from benchmarks.engines.texts import rows
from benchmarks.engines.worker import Search

FILE: Final = "chunks.db"


def start() -> None:
    """Nothing is to be started."""


def write(texts: Path, index: Path, threads: int) -> None:  # noqa: ARG001 - it has one writer
    """Insert the texts in one transaction."""
    index.mkdir()
    with closing(sqlite3.connect(index / FILE)) as database:
        database.execute("CREATE VIRTUAL TABLE chunks USING fts5(id UNINDEXED, content)")
        insertions = ((row.id, row.content) for row in rows(texts))
        with database:
            database.executemany("INSERT INTO chunks VALUES (?, ?)", insertions)


@contextmanager
def searching(index: Path) -> Iterator[Search]:
    """Search by its BM25; the words of a query are joined by OR."""

    def parsed(query: str) -> str:
        if query.startswith('"'):
            return query
        if query.endswith("*"):
            return f'"{query[:-1]}"*'
        return " OR ".join(f'"{word}"' for word in query.split())

    with closing(sqlite3.connect(index / FILE)) as database:

        def search(query: str) -> int:
            found = database.execute(
                "SELECT content FROM chunks WHERE chunks MATCH ? ORDER BY rank LIMIT 10",
                (parsed(query),),
            )
            return len(found.fetchall())

        yield search
