"""How long the programs take from their start to their first answer, and what shortens it.

``make bench`` runs this; the machine should be idle. Everything is measured side by side in one
run: the rounds take turns, and each figure is a median. It writes the tables of
docs/measured/start-up.md.
"""

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import psutil

from benchmarks.page import machine, write_figures
from shared import Document, Index, create, daemons
from tests.tools.stdio_server import Command, stdio_server

PROGRAMS = Path(sys.executable).parent

WITHOUT_CACHE = "from shared.java import startup_cache; startup_cache.options = lambda: ()"
ONE_AFTER_THE_OTHER = "import server.search_server"

PYTHON: Final = "`python -c pass`"
HELP: Final = "`idx --help`"
IDX_SEARCH: Final = "`idx search`"
SERVER: Final = "`mcp-lucene`"


def main() -> None:
    """Measure, print the tables, and write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="processes of each kind")
    parser.add_argument("--print", action="store_true", help="leave the page as it is")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        create(index)
        with Index(index) as writer:
            for number in range(100):
                writer.add(Document(str(number), f"Title {number}", f"some words {number} " * 300))
        lines = list(page(str(index), arguments.rounds))
    print("\n".join(lines))
    if not arguments.print:
        write_figures("start-up.md", lines)


def page(index: str, rounds: int) -> Iterator[str]:
    """The lines of all tables."""
    times, memory = measure(index, rounds)
    yield "| from the start of the process to its answer | ms |"
    yield "|---|---:|"
    yield from (f"| {name} | {1000 * seconds:.0f} |" for name, seconds in times.items())
    yield ""
    yield "| goal | at most | is | met |"
    yield "|---|---:|---:|---|"
    for name, most, found, unit in (
        (f"{HELP}, times {PYTHON}", 3.0, times[HELP] / times[PYTHON], ""),
        (IDX_SEARCH, 0.35, times[IDX_SEARCH], " s"),
        (SERVER, 1.0, times[SERVER], " s"),
        ("memory of the server after its first answer", 200.0, memory, " MB"),
    ):
        met = "yes" if found <= most else "no"
        yield f"| {name} | {most:g}{unit} | {found:.3g}{unit} | {met} |"
    yield ""
    yield "| assistants | each with a server: last to start, s | memory, MB | one process, s | MB |"
    yield "|---:|---:|---:|---:|---:|"
    for count in (1, 4, 8):
        figures = (f"{value:.2f} | {taken:.0f}" for value, taken in several(index, count))
        yield f"| {count} | {' | '.join(figures)} |"
    yield ""
    yield (
        f"Medians of {rounds} processes each, on {machine()}; "
        f"load {os.getloadavg()[0]:.1f} at the end."
    )


def commands(index: str) -> dict[str, Command]:
    """The runs of `idx` and of Python to compare; each ends by itself."""
    idx = PROGRAMS / "idx"
    search = ["search", "words", "--json", "-i", index]
    return {
        PYTHON: [sys.executable, "-c", "pass"],
        "`idx --version`": [idx, "--version"],
        "import of typer": [sys.executable, "-c", "import typer"],
        "import of what typer prints its help with": [
            sys.executable,
            "-c",
            "import typer.rich_utils",
        ],
        HELP: [idx, "--help"],
        IDX_SEARCH: [idx, *search],
        "`idx search` without the start-up cache": changed("idx", WITHOUT_CACHE, search),
        "`idx add` of one text": [idx, "add", "-d", "a", "-t", "A", "-c", "text", "-i", index],
        "import of the MCP SDK": [sys.executable, "-c", "import mcp.server"],
    }


def servers(index: str) -> dict[str, Command]:
    """The servers to compare."""
    return {
        SERVER: [PROGRAMS / "mcp-lucene", index],
        "`mcp-lucene` without the start-up cache": changed("server", WITHOUT_CACHE, [index]),
        "`mcp-lucene` with Java started after the import": changed(
            "server", ONE_AFTER_THE_OTHER, [index]
        ),
    }


def measure(index: str, rounds: int) -> tuple[dict[str, float], float]:
    """Median seconds of each thing to compare, and the memory of the server in 10⁶ bytes."""
    runs, waits = commands(index), servers(index)
    times: dict[str, list[float]] = {name: [] for name in (*runs, *waits)}
    memory = []
    for _ in range(rounds):
        for name, command in runs.items():
            times[name].append(seconds_to_end(command))
        for name, command in waits.items():
            seconds, taken = seconds_to_answer(command)
            times[name].append(seconds)
            if name == SERVER:
                memory.append(taken)
    medians = {name: statistics.median(seconds) for name, seconds in times.items()}
    return medians, statistics.median(memory)


def several(index: str, count: int) -> Iterator[tuple[float, float]]:
    """The time of the last of some servers to its answer to `initialize`, and the memory of all.

    First of servers by themselves, then of those that share a process. What processes share is
    counted once (PSS), in units of 10⁶ bytes.
    """
    for share in (False, True):
        with tempfile.TemporaryDirectory(prefix="run-") as folder, ExitStack() as running:
            os.environ["XDG_RUNTIME_DIR"] = folder
            processes = []
            for _ in range(count):
                begin = time.perf_counter()
                starting = stdio_server([PROGRAMS / "mcp-lucene", index], share=share)
                server = running.enter_context(starting)
                server.initialize()
                seconds = time.perf_counter() - begin
                server.search("words")
                processes.append(server.process.pid)
            shared = [daemon["pid"] for daemon in daemons.running()]
            taken = sum(
                psutil.Process(number).memory_full_info().pss for number in (*processes, *shared)
            )
            for number in shared:
                running.callback(os.kill, number, signal.SIGKILL)
            yield seconds, taken / 1e6


def changed(package: str, change: str, arguments: Sequence[str]) -> Command:
    """The command that runs a program after one thing about it was changed."""
    script = f"import sys; {change}\nfrom {package}.__main__ import main; main()"
    return [sys.executable, "-c", script, *arguments]


def seconds_to_end(command: Command) -> float:
    """How long a process takes from start to end."""
    begin = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def seconds_to_answer(command: Command) -> tuple[float, float]:
    """How long a server takes from its start to the answer of its first search."""
    begin = time.perf_counter()
    with stdio_server(command) as server:
        server.initialize()
        server.search("words")
        return time.perf_counter() - begin, server.memory()


if __name__ == "__main__":
    main()
