"""What engines read and are asked, where they write, and the processes that they run in."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing import get_context
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from benchmarks.engines.texts import write_fields, write_texts
from benchmarks.search import KINDS as ALL_KINDS

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def apart(
    work: Callable[Parameters, Result], *arguments: Parameters.args, **named: Parameters.kwargs
) -> Result:
    """Have a function work in a new process, which knows nothing of this one."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *arguments, **named).result()


@contextmanager
def cores(count: int) -> Iterator[None]:
    """Have processes that are started within a block run on so many cores of this one's."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def all_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


WORDS: Final = ("two words", "six words")
KINDS: Final = (*WORDS, "a phrase", "a prefix")


@dataclass(frozen=True)
class Queries:
    """What an engine is asked: the kinds take turns."""

    kinds: Sequence[str] = KINDS
    measured: int = 200
    warm_up: int = 500

    def for_measuring(self) -> list[str]:
        """Those whose answers count."""
        return list(self._between(0, self.measured))

    def for_warming_up(self) -> list[str]:
        """Those that are asked before."""
        return list(self._between(self.measured, self.measured + self.warm_up))

    def by_kind(self, answers: Sequence[tuple[float, int]]) -> dict[str, list[tuple[float, int]]]:
        """The answers of each kind, to all of its queries that there was time for."""
        return {
            kind: list(answers[number :: len(self.kinds)]) for number, kind in enumerate(self.kinds)
        }

    def _between(self, begin: int, end: int) -> Iterator[str]:
        return chain.from_iterable(
            zip(*(islice(ALL_KINDS[kind](), begin, end) for kind in self.kinds), strict=True)
        )


@dataclass(frozen=True)
class Data:
    """What engines read, and where they write."""

    folder: Path
    chunks: int

    @classmethod
    def made(cls, folder: Path, chunks: int) -> "Data":
        """Make what is not there yet."""
        data = cls(folder, chunks)
        folder.mkdir(parents=True, exist_ok=True)
        if not data.texts.exists():
            _whole(data.texts, lambda file: apart(write_texts, file, chunks))
        if not data.fields.exists():
            _whole(
                data.fields,
                lambda file: apart(write_fields, data.texts, file, data.analyzers),
            )
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


def _whole(file: Path, make: Callable[[Path], object]) -> None:
    """Make a file under another name first: what was broken off is made anew the next time."""
    unfinished = file.with_name(f"{file.name}.unfinished")
    make(unfinished)
    unfinished.rename(file)
