"""How long the programs take from their start to their first answer, and what shortens it.

``make bench`` runs this; the machine should be idle. Everything is measured side by side in one
run: the rounds take turns, and each figure is a median. It writes the table of docs/start-up.md.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from shared import Document, Index, create

ROUNDS = 9
PROGRAMS = Path(sys.executable).parent
PAGE = Path(__file__).parents[1] / "docs" / "start-up.md"
TABLE_BEGINS = "<!-- written by make bench -->"

WITHOUT_CACHE = "from shared import aot_cache; aot_cache.options = lambda: ()"
FULL_COMPILER = "from shared import jvm; jvm._OPTIONS['command'] = ()"
DEFAULT_COLLECTOR = (
    "from shared import jvm; jvm._COMMON = tuple(o for o in jvm._COMMON if 'SerialGC' not in o)"
)
ONE_AFTER_THE_OTHER = "import server.application"

CLIENT = {"name": "benchmark", "version": "1"}
SEARCH = 2
"""The number of the request that is waited for."""

Command = Sequence[str | Path]


def main() -> None:
    """Measure, print the table, and write it into the page."""
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        create(index)
        with Index(index) as writer:
            for number in range(100):
                writer.add(Document(str(number), f"Title {number}", f"some words {number} " * 300))
        rows = measure(str(index))
    lines = ["| from the start of the process to its answer | ms |", "|---|---:|"]
    lines += [f"| {name} | {1000 * seconds:.0f} |" for name, seconds in rows.items()]
    lines += [
        "",
        (
            f"Medians of {ROUNDS} processes each, on {os.cpu_count()} cores, "
            f"{platform.machine()}, CPython {platform.python_version()}."
        ),
    ]
    print("\n".join(lines))
    explanation = PAGE.read_text().partition(TABLE_BEGINS)[0]
    PAGE.write_text("\n".join([f"{explanation}{TABLE_BEGINS}", "", *lines, ""]))


def measure(index: str) -> dict[str, float]:
    """Median seconds of each thing to compare."""
    idx, mcp_lucene = PROGRAMS / "idx", PROGRAMS / "mcp-lucene"
    search = ["search", "words", "--json", "-i", index]
    commands: dict[str, Command] = {
        "`python -c pass`": [sys.executable, "-c", "pass"],
        "`idx --version`": [idx, "--version"],
        "`idx --help`": [idx, "--help"],
        "`idx search`": [idx, *search],
        "`idx search` without the start-up cache": changed("idx", WITHOUT_CACHE, search),
        "`idx search` with the optimizing compiler": changed("idx", FULL_COMPILER, search),
        "`idx search` with Java's default collector": changed("idx", DEFAULT_COLLECTOR, search),
        "`idx add` of one text": [idx, "add", "-d", "a", "-t", "A", "-c", "text", "-i", index],
        "import of the MCP SDK": [sys.executable, "-c", "import mcp.server"],
    }
    servers: dict[str, Command] = {
        "`mcp-lucene`": [mcp_lucene, index],
        "`mcp-lucene` without the start-up cache": changed("server", WITHOUT_CACHE, [index]),
        "`mcp-lucene` with Java started after the import": changed(
            "server", ONE_AFTER_THE_OTHER, [index]
        ),
    }
    times: dict[str, list[float]] = {name: [] for name in (*commands, *servers)}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            times[name].append(seconds_to_end(command))
        for name, command in servers.items():
            times[name].append(seconds_to_answer(command))
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def changed(package: str, change: str, arguments: Sequence[str]) -> Command:
    """The command that runs a program after one thing about it was changed."""
    script = f"import sys; {change}\nfrom {package}.__main__ import main; main()"
    return [sys.executable, "-c", script, *arguments]


def seconds_to_end(command: Command) -> float:
    """How long a process takes from start to end."""
    begin = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def seconds_to_answer(command: Command) -> float:
    """How long a server takes from its start to the answer of its first search."""
    messages = (
        request(1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=CLIENT),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        request(SEARCH, "tools/call", name="Search", arguments={"query": "words"}),
    )
    begin = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        if server.stdin is None or server.stdout is None:
            sys.exit("the server has no pipes")
        server.stdin.write("\n".join((*messages, "")))
        server.stdin.flush()
        while json.loads(server.stdout.readline()).get("id") != SEARCH:
            pass
        seconds = time.perf_counter() - begin
        server.stdin.close()
    return seconds


def request(number: int, method: str, **parameters: object) -> str:
    """A JSON-RPC request on one line."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters})


if __name__ == "__main__":
    main()
