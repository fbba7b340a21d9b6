"""What an engine does in a process of its own, and what is measured there.

Nothing heavy is imported here, for the memory of the process is measured.
"""

import resource
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final, Protocol, cast

WARM_UP_SECONDS: Final = 30.0
ASKING_SECONDS: Final = 480.0
"""Queries are asked until there are no more, or for so long: a slow engine is asked fewer."""


@dataclass(frozen=True)
class Writing:
    """What writing an index took, until it was on the disk and all merges were done."""

    seconds: float
    processor_seconds: float
    peak_bytes: int


@dataclass(frozen=True)
class Answers:
    """What asking queries took."""

    answers: list[tuple[float, int]]
    peak_bytes: int


Search = Callable[[str], int]
"""Asks a query in Lucene's classic syntax, reads the texts of up to ten hits and counts them."""


class Writer(Protocol):
    """What a module has that writes."""

    def start(self) -> None:
        """Do what is not counted: import libraries, start virtual machines."""

    def write(self, texts: Path, index: Path, threads: int) -> None:
        """Write an index of the texts of a file, on up to so many threads."""


class Searcher(Protocol):
    """What a module has that searches."""

    def start(self) -> None:
        """Do what is not counted: import libraries, start virtual machines."""

    def searching(self, index: Path) -> AbstractContextManager[Search]:
        """Search an index within a block."""


def write(module: str, texts: Path, index: Path, threads: int) -> Writing:
    """Write an index with the engine of a module."""
    engine = cast("Writer", import_module(module))
    engine.start()
    processor, begin = _processor_seconds(), time.perf_counter()
    engine.write(texts, index, threads)
    seconds = time.perf_counter() - begin
    return Writing(seconds, _processor_seconds() - processor, _peak_bytes())


def search(module: str, index: Path, warm_up: list[str], queries: list[str]) -> Answers:
    """Ask queries with the engine of a module, after others that are not counted."""
    engine = cast("Searcher", import_module(module))
    engine.start()
    with engine.searching(index) as ask:
        _ask(ask, warm_up, WARM_UP_SECONDS)
        return Answers(_ask(ask, queries, ASKING_SECONDS), _peak_bytes())


def _ask(search: Search, queries: Iterable[str], seconds: float) -> list[tuple[float, int]]:
    answers = []
    end = time.perf_counter() + seconds
    for query in queries:
        begin = time.perf_counter()
        if begin > end:
            break
        hits = search(query)
        answers.append((time.perf_counter() - begin, hits))
    return answers


def _processor_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _peak_bytes() -> int:
    """VmHWM of Linux; ru_maxrss may be that of the process that started this one."""
    status = Path("/proc/self/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return 1024 * int(line.split()[1])
