"""Time of a search by the JSON API and of the search page, beside the tool Search over HTTP.

One real server, one client, and the three requests in turn, so that whatever else the machine does
meets all of them. Run it as ``python -m benchmarks.web``; the machine should be idle.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx2
from mcp.types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    PROTOCOL_VERSION_META_KEY,
)

from benchmarks.page import machine
from shared import Document, Index, create
from tests.tools.made_up_texts import chunks

_SERVER: Final = Path(sys.executable).parent / "mcp-lucene"
_WARM_UP: Final = 30
_VERSION: Final = "2026-07-28"

MAX_API_MILLISECONDS: Final = 1.0
"""Maximum of the time by which the API may be slower than the tool, in milliseconds."""

MAX_PAGE_MILLISECONDS: Final = 15.0
"""Maximum of the time by which the page may be slower than its search, in milliseconds."""


def main() -> None:
    """Measure, print the medians, and fail if a difference exceeds its maximum."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--turns", type=int, default=300)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        create(index)
        _fill(index, arguments.chunks)
        with _served(index) as base, httpx2.Client(base_url=base, timeout=60) as client:
            medians = _medians(_requests(client), arguments.turns)
    for name, median in medians.items():
        print(f"{name:40} {median:7.2f} ms")
    api = medians["GET /api/search"] - medians["Search over HTTP"]
    page = medians["GET /"] - medians["GET /api/search as the page searches"]
    print(f"API beside the tool: {api:+.2f} ms, page beside its search: {page:+.2f} ms")
    print(f"{arguments.chunks:,} chunks, {machine()}, load {os.getloadavg()[0]:.1f} at the end")
    if api > MAX_API_MILLISECONDS or page > MAX_PAGE_MILLISECONDS:
        sys.exit(1)


def _fill(index: Path, count: int) -> None:
    with Index(index) as writer:
        for number, text in enumerate(chunks(count)):
            metadata = {"author": f"author {number % 7}", "language": "en"}
            writer.add(
                Document(f"folder-{number % 5}/{number}", "A text", text.content, {**metadata})
            )


@contextmanager
def _served(index: Path) -> Iterator[str]:
    """Run the server, and return its address."""
    command = [str(_SERVER), str(index), "--http", "--port", "0", "--log-level", "error"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None  # noqa: S101 - it is a pipe
        yield process.stderr.readline().removeprefix("Listening on ").strip().removesuffix("/mcp")
        process.terminate()


def _requests(client: httpx2.Client) -> dict[str, Callable[[str], httpx2.Response]]:
    def tool(query: str) -> httpx2.Response:
        meta = {
            PROTOCOL_VERSION_META_KEY: _VERSION,
            CLIENT_CAPABILITIES_META_KEY: {},
            CLIENT_INFO_META_KEY: {"name": "benchmark", "version": "1"},
        }
        arguments = {"query": query, "limit": 10, "content": "passages"}
        params = {"name": "Search", "arguments": arguments, "_meta": meta}
        return client.post(
            "/mcp",
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
            headers={
                "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": _VERSION,
                "Mcp-Method": "tools/call",
                "Mcp-Name": "Search",
            },
        )

    def api(query: str) -> httpx2.Response:
        return client.get("/api/search", params={"query": query, "content": "passages"})

    def api_with_facets(query: str) -> httpx2.Response:
        facets = ["language", "author"]
        return client.get(
            "/api/search", params={"query": query, "content": "passages", "facets": facets}
        )

    def page(query: str) -> httpx2.Response:
        return client.get("/", params={"q": query}, headers={"Accept": "text/html"})

    return {
        "Search over HTTP": tool,
        "GET /api/search": api,
        "GET /api/search as the page searches": api_with_facets,
        "GET /": page,
    }


def _medians(requests: dict[str, Callable[[str], httpx2.Response]], turns: int) -> dict[str, float]:
    words = next(iter(chunks(1))).content.split()
    times: dict[str, list[float]] = {name: [] for name in requests}
    for turn in range(_WARM_UP + turns):
        query = f"{words[turn % len(words)]} {words[turn * 7 % len(words)]}"
        # The first request of a query finds nothing in any cache, so each is first in its turn.
        names = [*requests][turn % len(requests) :] + [*requests][: turn % len(requests)]
        for name in names:
            began = time.perf_counter()
            requests[name](query).raise_for_status()
            if turn >= _WARM_UP:
                times[name].append(time.perf_counter() - began)
    return {name: statistics.median(spent) * 1_000 for name, spent in times.items()}


if __name__ == "__main__":
    main()
