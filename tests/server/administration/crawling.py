"""A server in the middle of a crawl, as a process that can be sent signals."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.programs import PROGRAMS, Started
from tests.waiting import wait_for


@contextmanager
def crawling(index: Path, folder: Path) -> Iterator[tuple[Started, int]]:
    """Start a server and a crawl; yields the server and the process that crawls."""
    with Started(PROGRAMS / "mcp-lucene", index, "--admin", "--root", folder) as server:
        try:
            parameters = {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "raw", "version": "1"},
            }
            request(server, "initialize", parameters)
            send(server, {"jsonrpc": "2.0", "method": "notifications/initialized"})
            call(server, "start_crawl", directories=[str(folder)])
            yield server, _process_that_adds(server)
        finally:
            server.kill()


def send(server: Started, message: dict[str, Any]) -> None:
    server.stdin.write(json.dumps(message) + "\n")
    server.stdin.flush()


def request(server: Started, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
    send(server, {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters})
    answer: dict[str, Any] = json.loads(server.stdout.readline())["result"]
    return answer


def call(server: Started, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = request(server, "tools/call", {"name": tool, "arguments": arguments})
    assert "structuredContent" in answer, answer
    content: dict[str, Any] = answer["structuredContent"]
    return content


def _process_that_adds(server: Started) -> int:
    wait_for(lambda: call(server, "crawl_status")["progress"]["added"], every=0.05)
    locked_by = call(server, "admin_status")["locked_by"]
    found = re.match(r"process (\d+) ", locked_by or "")
    assert found, locked_by
    return int(found[1])
