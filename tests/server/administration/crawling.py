"""A server in the middle of a crawl, as a process that can be sent signals."""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.programs import PROGRAMS
from tests.waiting import wait_for


@contextmanager
def crawling(index: Path, folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Start a server and a crawl; yields the server and the process that crawls."""
    with subprocess.Popen(
        [PROGRAMS / "mcp-lucene", index, "--admin", "--root", folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as server:
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


def send(server: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert server.stdin is not None
    server.stdin.write(json.dumps(message).encode() + b"\n")
    server.stdin.flush()


def request(
    server: subprocess.Popen[bytes], method: str, parameters: dict[str, Any]
) -> dict[str, Any]:
    send(server, {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters})
    assert server.stdout is not None
    answer: dict[str, Any] = json.loads(server.stdout.readline())["result"]
    return answer


def call(server: subprocess.Popen[bytes], tool: str, **arguments: Any) -> dict[str, Any]:
    answer = request(server, "tools/call", {"name": tool, "arguments": arguments})
    assert "structuredContent" in answer, answer
    content: dict[str, Any] = answer["structuredContent"]
    return content


def _process_that_adds(server: subprocess.Popen[bytes]) -> int:
    wait_for(lambda: call(server, "crawl_status")["progress"]["added"], every=0.05)
    locked_by = call(server, "admin_status")["locked_by"]
    found = re.match(r"process (\d+) ", locked_by or "")
    assert found, locked_by
    return int(found[1])
