"""The server as a process: its stdout, its end, and what hostile input does to it."""

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shared import Document, Index
from tests.conftest import PROGRAMS


class RawClient:
    """Speaks the protocol line by line, so that nothing of an SDK hides what is sent."""

    def __init__(self, index_path: Path) -> None:
        self.process = subprocess.Popen(
            [PROGRAMS / "mcp-lucene", index_path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._id = 0

    def send(self, message: Any) -> None:
        self.send_line(json.dumps(message).encode())

    def send_line(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def request(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._id += 1
        self.send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": parameters})
        assert self.process.stdout is not None
        while True:
            message: dict[str, Any] = json.loads(self.process.stdout.readline())
            if message.get("id") == self._id:
                return message

    def initialize(self) -> dict[str, Any]:
        answer = self.request(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "raw", "version": "1"},
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def search(self, query: str) -> dict[str, Any]:
        answer = self.request("tools/call", name="Search", arguments={"query": query})
        result: dict[str, Any] = answer["result"]
        return result

    def end(self) -> tuple[bytes, bytes]:
        return self.process.communicate(timeout=10)


@pytest.fixture
def client(empty_index: Path) -> Iterator[RawClient]:
    with Index(empty_index) as index:
        index.add(Document("a", "A", "some text"))
    client = RawClient(empty_index)
    with client.process:
        yield client
        client.process.kill()


def test_stdout_carries_the_protocol_only_and_stderr_nothing(client: RawClient) -> None:
    assert client.initialize()["result"]["serverInfo"]["name"] == "mcp-lucene"
    assert client.search("text")["structuredContent"]["totalHits"] == 1
    assert client.search("text AND")["isError"]
    out, err = client.end()
    assert (out, err) == (b"", b"")


def test_a_closed_stdin_ends_the_process_in_order(client: RawClient) -> None:
    client.initialize()
    client.search("text")
    client.end()
    assert client.process.returncode == 0


def test_a_stdin_closed_before_anything_was_said_ends_it_too(client: RawClient) -> None:
    client.end()
    assert client.process.returncode == 0


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_stopped_server_leaves_the_index_free(
    client: RawClient, empty_index: Path, stop: signal.Signals
) -> None:
    client.initialize()
    client.search("text")
    client.process.send_signal(stop)
    _, err = client.end()
    assert b"Traceback" not in err
    with Index(empty_index, wait=0) as index:
        index.add(Document("b", "B", "text"))


HOSTILE = [
    b"",
    b"{",
    b"not json",
    b"[]",
    b"null",
    b"42",
    b"{}",
    b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": 900, "method": "no/such/method"}',
    b'{"jsonrpc": "2.0", "id": 901, "method": "tools/call"}',
    b'{"jsonrpc": "2.0", "id": 902, "method": "tools/call", "params": {"name": 5}}',
    b'{"jsonrpc": "2.0", "id": 903, "method": "tools/call", "params": []}',
    b'{"jsonrpc": "2.0", "id": 904, "result": {}}',
    b"\xff\xfe\xfd",
    b"[" * 50_000,
    b'{"jsonrpc": "2.0", "id": 905, "method": "tools/call", "params": {"name": "\\ud800"}}',
    b'"' + b"x" * 1_000_000 + b'"',
]

HOSTILE_QUERIES = [
    "(" * 19_000,
    "*" * 5_000,
    "\0",
    "~" * 100,
    "/(((a+)+)+)+$/",
    "a*b*c*d*e*f*g*h*" * 100,
    "[* TO *]",
    "id:*",
    "\\" * 999,
    "🦦" * 9_000,
    '"' + "a " * 9_000 + '"~1000',
]


def test_nothing_that_is_sent_ends_the_process(client: RawClient) -> None:
    client.initialize()
    for line in HOSTILE:
        client.send_line(line)
    for query in HOSTILE_QUERIES:
        assert client.search(query)["content"][0]["text"]
    assert client.search("text")["structuredContent"]["totalHits"] == 1
