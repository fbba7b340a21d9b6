"""The engines that are measured side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.engines import worker
from benchmarks.engines.data import KINDS, Data, Queries, apart
from benchmarks.engines.java import PlainLucene
from benchmarks.engines.worker import Answers, Writing

JAVA: Final = "lucene-java"
JAVA_FIELDS: Final = "lucene-java-fields"
PLAIN: Final = "lucene-python"
THIS_PROJECT: Final = "this-project"

Write = Callable[[Data, Path, int], Writing]
"""Writes an index of the data into a folder that does not exist, on up to so many threads."""

Search = Callable[[Path, Queries], Answers]  # asks an index queries


@dataclass(frozen=True)
class Engine:
    """One of those that are compared."""

    key: str
    name: str
    write: Write
    search: Search | None = None
    kinds: Sequence[str] = KINDS
    uses_all_cores: bool = True
    bytes_per_chunk: int = 0


def engines(java: PlainLucene) -> tuple[Engine, ...]:
    """All of them."""
    return (
        Engine(
            JAVA,
            "plain Lucene, Java",
            lambda data, index, threads: java.write_content(data.texts, index, threads),
            lambda index, queries: java.search(
                index, queries.for_warming_up(), queries.for_measuring()
            ),
        ),
        Engine(PLAIN, "plain Lucene, PyLucene", *_python("lucene_from_python")),
        Engine(
            JAVA_FIELDS,
            "Lucene, Java, the fields of this project",
            lambda data, index, threads: java.write_fields(
                data.fields, data.analyzers, index, threads
            ),
        ),
        Engine(THIS_PROJECT, "this project", *_python("this_project")),
    )


def _python(module: str) -> tuple[Write, Search]:
    return partial(_write, module), partial(_search, module)


def _write(module: str, data: Data, index: Path, threads: int) -> Writing:
    return apart(worker.write, f"{__package__}.{module}", data.texts, index, threads)


def _search(module: str, index: Path, queries: Queries) -> Answers:
    name = f"{__package__}.{module}"
    return apart(worker.search, name, index, queries.for_warming_up(), queries.for_measuring())
