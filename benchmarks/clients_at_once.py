"""How many requests a server answers, and how fast, while many clients ask and idx writes.

A real server on an index of made-up texts; the SDK's clients, all in this process, each of which
asks as fast as it is answered; and a process that commits new versions of some documents all the
time. By stdio a server has one client, of which so many tasks ask at once. Every fourth request
looks for mistakes: errors, stale results, torn documents. It writes the table of
docs/measured/load.md; the machine should be idle.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, nullcontext
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Final

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from benchmarks.load import Load, put_load
from benchmarks.made_up_texts import chunks
from benchmarks.page import machine, write_figures
from benchmarks.search import KINDS
from benchmarks.versions import writing
from shared import Document, Index, create

SERVER: Final = Path(sys.executable).parent / "mcp-lucene"
CLIENTS: Final = (1, 8, 64)
QUESTIONS: Final = 200


def main() -> None:
    """Measure, print the table, and write it into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each measurement")
    parser.add_argument("--print", action="store_true", help="leave the page as it is")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        create(index)
        fill(index, arguments.chunks)
        rows = list(measurements(index, arguments.seconds, questions()))
    lines = [
        "| clients | requests/s | p50 ms | p95 ms | p99 ms | checked | mistakes | commits |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
        *rows,
        "",
        (
            f"{arguments.chunks:,} chunks of 250 words, {arguments.seconds:g} s each, on "
            f"{machine()}, "
            f"PyLucene {version('pylucene')}, MCP SDK {version('mcp')}, uvicorn "
            f"{version('uvicorn')}; load {os.getloadavg()[0]:.1f} at the end."
        ),
    ]
    print("\n".join(lines))
    if not arguments.print:
        write_figures("load.md", lines)


def fill(index: Path, count: int) -> None:
    """Write made-up texts."""
    with Index(index) as writer:
        texts = enumerate(chunks(count))
        for _ in writer.add_all(
            Document(f"text-{number}", f"Text {number}", text.content) for number, text in texts
        ):
            pass


def questions() -> list[str]:
    """Questions of two words of the texts, no two alike."""
    different = dict.fromkeys(islice(KINDS["two words"](), 2 * QUESTIONS))
    return list(islice(different, QUESTIONS))


def measurements(index: Path, seconds: float, questions: list[str]) -> Iterator[str]:
    """A row of the table for each number of clients, by stdio and by HTTP."""

    async def by_stdio(clients: int) -> Load:
        program = StdioServerParameters(
            command=str(SERVER), args=[str(index)], env=dict(os.environ)
        )
        async with Client(stdio_client(program)) as client:
            return await put_load(
                lambda: nullcontext(client), clients, seconds, questions, committed
            )

    async def by_http(clients: int) -> Load:
        return await put_load(lambda: Client(url), clients, seconds, questions, committed)

    def measured(name: str, load: Coroutine[None, None, Load]) -> str:
        first = committed()
        done = asyncio.run(load)
        for mistake in done.mistakes[:5]:
            print(mistake, file=sys.stderr)
        return row(name, done, committed() - first)

    with writing(index) as committed, served(index) as url:
        for clients in CLIENTS:
            yield measured(f"{clients} by stdio", by_stdio(clients))
        for clients in CLIENTS:
            yield measured(f"{clients} by HTTP", by_http(clients))


def row(name: str, load: Load, commits: int) -> str:
    """A row of the table."""
    cuts = statistics.quantiles(load.seconds, n=100, method="inclusive")
    times = " | ".join(f"{1_000 * cuts[percent - 1]:.1f}" for percent in (50, 95, 99))
    return (
        f"| {name} | {load.rate:,.0f} | {times} | {load.checked:,} | {len(load.mistakes)} | "
        f"{commits:,} |"
    )


@contextmanager
def served(index: Path) -> Iterator[str]:
    """Run the server by HTTP within a block; yields its URL.

    Raises:
        RuntimeError: it does not start.
    """
    with subprocess.Popen(
        [SERVER, index, "--http", "--port", "0", "--log-level", "error"],
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None  # noqa: S101 - it was asked for
            first = process.stderr.readline()
            if not first.startswith("Listening on "):
                raise RuntimeError(first)
            yield first.split()[-1]
        finally:
            process.terminate()


if __name__ == "__main__":
    main()
