"""Measurement of this project and of Lucene on the same chunks."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean, median
from typing import Final, ParamSpec, TypeVar

from benchmarks.engines import worker
from benchmarks.engines.this_project import lucene_seconds
from benchmarks.engines.worker import Answers, Writing, write_texts
from benchmarks.search import KINDS as ALL_KINDS

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

PLAIN: Final = "benchmarks.plain_lucene"
THIS_PROJECT: Final = "benchmarks.engines.this_project"

KINDS: Final = ("two words", "six words", "a phrase", "a prefix")


def apart(
    work: Callable[Parameters, Result], *arguments: Parameters.args, **named: Parameters.kwargs
) -> Result:
    """Have a function work in a new process, which knows nothing of this one."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *arguments, **named).result()


@dataclass(frozen=True)
class Times:
    """The median time of one kind of queries, and the mean number of their hits."""

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
    """Both engines on the same chunks, and the processor time of Lucene alone for our fields."""

    plain: Figures
    ours: Figures
    lucene_seconds: float


def measured(folder: Path, chunks: int, queries: int, warm_up: int) -> Run:
    """Measure in a folder how both engines write so many chunks, and answer queries of each kind.

    As many other queries as `warm_up` says are asked before.
    """
    texts = folder / "texts.tsv"
    apart(write_texts, texts, chunks)
    asked = _queries(queries, queries + warm_up), _queries(0, queries)
    plain, ours = (_figures(module, texts, *asked) for module in (PLAIN, THIS_PROJECT))
    with _new_index(folder, "Lucene's part") as index:
        return Run(plain, ours, apart(lucene_seconds, texts, index))


def _queries(begin: int, end: int) -> list[str]:
    """Return queries of all kinds, which take turns."""
    of_kinds = (islice(ALL_KINDS[kind](), begin, end) for kind in KINDS)
    return [query for one_of_each in zip(*of_kinds, strict=True) for query in one_of_each]


def _figures(module: str, texts: Path, warm_up: list[str], queries: list[str]) -> Figures:
    with _new_index(texts.parent, module.rpartition(".")[2]) as index:
        writing = apart(worker.write, module, texts, index)
    size = sum(file.stat().st_size for file in index.rglob("*") if file.is_file())
    answers = apart(worker.search, module, index, warm_up, queries)
    times = {kind: _times(answers[number :: len(KINDS)]) for number, kind in enumerate(KINDS)}
    return Figures(writing, size, times)


@contextmanager
def _new_index(folder: Path, name: str) -> Iterator[Path]:
    """Name a folder for an index, and have what writes it within a block run on one core."""
    print(f"Measuring {name}", file=sys.stderr, flush=True)
    index = folder / name
    shutil.rmtree(index, ignore_errors=True)
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        yield index
    finally:
        os.sched_setaffinity(0, allowed)


def _times(answers: Answers) -> Times:
    return Times(median(seconds for seconds, _ in answers), fmean(hits for _, hits in answers))
