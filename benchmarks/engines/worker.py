"""What an engine does in a process of its own, the texts that it gets, and what is measured there.

Nothing heavy is imported here, for the memory of the process is measured.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple, Protocol, cast

from tests.tools.made_up_texts import chunks

YEARS: Final = 20


class Row(NamedTuple):
    """A text of one chunk, and what is known of it."""

    id: str
    title: str
    language: str
    year: str
    content: str


def write_texts(file: Path, count: int) -> None:
    """Write a number of made-up texts, always the same ones: columns with tabs between them."""
    with file.open("w", encoding="utf-8", newline="\n") as lines:
        for number, (language, content) in enumerate(chunks(count)):
            year = str(2000 + number % YEARS)
            print(number, f"Title {number}", language, year, content, sep="\t", file=lines)


def rows(file: Path) -> Iterator[Row]:
    """The texts of a file that `write_texts` wrote."""
    with file.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            yield Row(*line.rstrip("\n").split("\t"))


@dataclass(frozen=True)
class Writing:
    """What writing an index took, until it was on the disk and all merges were done."""

    processor_seconds: float
    peak_bytes: int


Answers = list[tuple[float, int]]
"""The seconds that each query took, and the number of hits whose texts were read."""

Search = Callable[[str], int]
"""Asks a query in Lucene's classic syntax, reads the texts of up to ten hits and counts them."""


class Engine(Protocol):
    """What a module has that writes and searches."""

    def start(self) -> None:
        """Do what is not counted: import libraries, start virtual machines."""

    def write(self, texts: Path, index: Path) -> None:
        """Write an index of the texts of a file."""

    def searching(self, index: Path) -> AbstractContextManager[Search]:
        """Search an index within a block."""


def write(module: str, texts: Path, index: Path) -> Writing:
    """Write an index with the engine of a module."""
    engine = cast("Engine", import_module(module))
    engine.start()
    begin = time.process_time()
    engine.write(texts, index)
    return Writing(time.process_time() - begin, _peak_bytes())


def search(module: str, index: Path, warm_up: list[str], queries: list[str]) -> Answers:
    """Ask queries with the engine of a module, after others that are not counted."""
    engine = cast("Engine", import_module(module))
    engine.start()
    with engine.searching(index) as ask:
        _ask(ask, warm_up)
        return _ask(ask, queries)


def _ask(search: Search, queries: Iterable[str]) -> Answers:
    answers = []
    for query in queries:
        begin = time.perf_counter()
        hits = search(query)
        answers.append((time.perf_counter() - begin, hits))
    return answers


def _peak_bytes() -> int:
    """VmHWM of Linux; ru_maxrss may be that of the process that started this one."""
    status = Path("/proc/self/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return 1024 * int(line.split()[1])
