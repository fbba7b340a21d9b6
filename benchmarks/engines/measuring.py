"""Measurement of this project and of Lucene on the same chunks."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean, median
from typing import Final, ParamSpec, TypeVar

from benchmarks.engines import worker
from benchmarks.engines.java import PlainLucene
from benchmarks.engines.texts import write_fields, write_texts
from benchmarks.engines.worker import Answers, Writing
from benchmarks.search import KINDS as ALL_KINDS

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

PLAIN: Final = "benchmarks.engines.lucene_from_python"
THIS_PROJECT: Final = "benchmarks.engines.this_project"


def apart(
    work: Callable[Parameters, Result], *arguments: Parameters.args, **named: Parameters.kwargs
) -> Result:
    """Have a function work in a new process, which knows nothing of this one."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *arguments, **named).result()


KINDS: Final = ("two words", "six words", "a phrase", "a prefix")


@dataclass(frozen=True)
class Queries:
    """What an engine is asked: the kinds take turns."""

    measured: int
    warm_up: int

    def for_measuring(self) -> list[str]:
        """Those whose answers count."""
        return list(self._between(0, self.measured))

    def for_warming_up(self) -> list[str]:
        """Those that are asked before."""
        return list(self._between(self.measured, self.measured + self.warm_up))

    def _between(self, begin: int, end: int) -> Iterator[str]:
        return chain.from_iterable(
            zip(*(islice(ALL_KINDS[kind](), begin, end) for kind in KINDS), strict=True)
        )


@dataclass(frozen=True)
class Data:
    """What engines read, and where they write."""

    folder: Path

    @classmethod
    def made(cls, folder: Path, chunks: int) -> "Data":
        """Make so many chunks in a new folder."""
        data = cls(folder)
        folder.mkdir()
        apart(write_texts, data.texts, chunks)
        apart(write_fields, data.texts, data.fields, data.analyzers)
        return data

    @property
    def texts(self) -> Path:
        """The texts, in lines."""
        return self.folder / "texts.tsv"

    @property
    def fields(self) -> Path:
        """The texts with what this project makes of each."""
        return self.folder / "fields.tsv"

    @property
    def analyzers(self) -> Path:
        """The steps of the fields."""
        return self.folder / "analyzers.tsv"


@dataclass(frozen=True)
class Times:
    """The times of one kind of queries."""

    p50: float
    hits: float


@dataclass(frozen=True)
class Figures:
    """The figures of an engine that is called from Python."""

    writing: Writing
    index_bytes: int
    times: dict[str, Times]


@dataclass(frozen=True)
class Run:
    """All engines on the same chunks; what Java has written is not searched."""

    plain: Figures
    java: Writing
    ours: Figures


def measured(data: Data, java: PlainLucene, queries: Queries) -> Run:
    """Measure all engines, one after the other."""
    plain = _figures(PLAIN, data, queries)
    with _new_index(data, "Java") as index:
        writing = java.write(data.fields, data.analyzers, index)
    return Run(plain, writing, _figures(THIS_PROJECT, data, queries))


def _figures(module: str, data: Data, queries: Queries) -> Figures:
    with _new_index(data, module.rpartition(".")[2]) as index:
        writing = apart(worker.write, module, data.texts, index)
    size = sum(file.stat().st_size for file in index.rglob("*") if file.is_file())
    asked = queries.for_warming_up(), queries.for_measuring()
    answers = apart(worker.search, module, index, *asked)
    times = {kind: _times(answers[number :: len(KINDS)]) for number, kind in enumerate(KINDS)}
    return Figures(writing, size, times)


@contextmanager
def _new_index(data: Data, name: str) -> Iterator[Path]:
    """Name a folder for an index, and have what writes it within a block run on one core."""
    print(f"Measuring {name}", file=sys.stderr, flush=True)
    index = data.folder / name
    shutil.rmtree(index, ignore_errors=True)
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        yield index
    finally:
        os.sched_setaffinity(0, allowed)


def _times(answers: Answers) -> Times:
    return Times(median(seconds for seconds, _ in answers), fmean(hits for _, hits in answers))
