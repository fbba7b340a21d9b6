"""How soon a search sees a commit.

A process commits one document after the other; a real server is asked for each as soon as its
commit has returned. It writes a table of docs/measured/freshness.md; the machine should be idle.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Final

from benchmarks.page import machine, write_figures
from shared import Document, Index, create
from tests.tools.stdio_server import stdio_server

SERVER: Final = Path(sys.executable).parent / "mcp-lucene"

_WRITER: Final = """
import sys, time
from shared import Document, Index
with Index(sys.argv[1]) as index:
    for number in sys.stdin:
        index.add(Document(f"new{number.strip()}", "Title", f"unique{number.strip()} common"))
        index.commit()
        print(time.monotonic(), flush=True)
"""


def main() -> None:
    """Measure, print the table, and write it into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commits", type=int, default=100)
    parser.add_argument("--print", action="store_true", help="leave the page as it is")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        create(index)
        with Index(index) as writer:
            for number in range(100):
                writer.add(Document(str(number), f"Title {number}", f"some words {number}"))
        lines = [
            *freshness(index, arguments.commits),
            (
                f"{arguments.commits} commits, on {machine()}, PyLucene "
                f"{version('pylucene')}, MCP SDK {version('mcp')}; load {os.getloadavg()[0]:.1f} "
                "at the end."
            ),
        ]
    print("\n".join(lines))
    if not arguments.print:
        write_figures("freshness.md", lines)


def freshness(index: Path, commits: int) -> Iterator[str]:
    """The table of times from the end of a commit to the answer that has it."""
    seen, again, missed = [], [], 0
    with stdio_server([SERVER, index]) as server, writing(index) as commit:
        server.initialize()
        # The first answers wait for Java.
        server.search("some words")
        for number in range(commits):
            committed = commit(number)
            found = server.search(f"unique{number}")["results"]
            answered = time.monotonic()
            # Others have parts of the word.
            missed += not found or found[0]["source_document"] != f"new{number}"
            seen.append(answered - committed)
            server.search(f"unique{number}")
            again.append(time.monotonic() - answered)
    yield "| from the end of a commit | p50 ms | p95 ms |"
    yield "|---|---:|---:|"
    yield f"| to the answer of the first search after it | {quantiles(seen)} |"
    yield f"| the same search again | {quantiles(again)} |"
    yield ""
    yield f"First searches that missed the commit before them: {missed} of {commits}."
    yield ""


@contextmanager
def writing(index: Path) -> Iterator[Callable[[int], float]]:
    """Run a writer in a process of its own, and lend what has it commit one more document.

    It returns when the commit had returned, as `time.monotonic` has it in all processes.
    """
    with subprocess.Popen(
        [sys.executable, "-c", _WRITER, index],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None  # noqa: S101 - it was asked for
        assert process.stdout is not None  # noqa: S101 - it was asked for
        numbers, times = process.stdin, process.stdout

        def commit(number: int) -> float:
            print(number, file=numbers, flush=True)
            return float(times.readline())

        yield commit


def quantiles(seconds: Sequence[float]) -> str:
    """Median and 95th percentile as cells of a table."""
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    return " | ".join(f"{1e3 * cuts[percent - 1]:.1f}" for percent in (50, 95))


if __name__ == "__main__":
    main()
