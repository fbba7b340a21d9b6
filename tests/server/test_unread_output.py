"""A client over stdio that never reads: the server waits, stays small, and ends with stdin."""

import json
import os
import re
import select
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from server.pipes.flow_control import MAX_OPEN_REQUESTS
from shared import Document, Index
from tests.server.raw_client import RawClient

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
LISTEN = {
    "method": "subscriptions/listen",
    "params": {"notifications": {"resourcesListChanged": True}, "_meta": META},
}
SEARCH = {
    "jsonrpc": "2.0",
    "id": "search",
    "method": "tools/call",
    "params": {"name": "Search", "arguments": {"query": "text"}, "_meta": META},
}
LIST = {"jsonrpc": "2.0", "id": "list", "method": "tools/list", "params": {"_meta": META}}

FLOODS: dict[str, dict[str, Any]] = {
    "pings": {"method": "ping"},
    "lists of tools": {"method": "tools/list"},
    "searches": {
        "method": "tools/call",
        "params": {"name": "Search", "arguments": {"query": "text", "content": "full"}},
    },
    "unknown methods": {"method": "no/such/method"},
    "lines that are no messages": {"method": 5},
}

MEGABYTES_MORE = 60
"""What a server may take beyond an idle one: for 64 answers, and what Java compiles meanwhile."""


@pytest.fixture
def client(empty_index: Path) -> Iterator[RawClient]:
    with Index(empty_index) as index:
        for number in range(20):
            index.add(Document(f"d{number}", "A", "some text " * 100))
    client = RawClient(empty_index)
    with client.process:
        yield client
        client.process.kill()


@pytest.fixture
def session(client: RawClient) -> RawClient:
    """A client that has begun a session, in which it has searched."""
    client.initialize()
    client.search("text")
    return client


def megabytes(client: RawClient) -> float:
    """The most memory that the server has had."""
    status = Path(f"/proc/{client.process.pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found
    return int(found[1]) / 1024


def flood(client: RawClient, message: dict[str, Any], seconds: float = 1.0) -> int:
    """Send a request again and again, until the server takes none for a while; how many."""
    assert client.process.stdin is not None
    pipe = client.process.stdin.fileno()
    os.set_blocking(pipe, False)
    sent = 0
    rest = b""
    while select.select([], [pipe], [], seconds)[1]:
        if not rest:
            rest = json.dumps({"jsonrpc": "2.0", "id": sent, **message}).encode() + b"\n"
            sent += 1
            assert sent < 6_000, "the server takes everything"
        rest = rest[os.write(pipe, rest) :]
    return sent


def check_flood(client: RawClient, message: dict[str, Any]) -> None:
    """Send a request without end, then end stdin, and see what the server makes of both."""
    before = megabytes(client)
    assert flood(client, message) > MAX_OPEN_REQUESTS
    assert megabytes(client) - before < MEGABYTES_MORE
    assert client.process.poll() is None
    began = time.monotonic()
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert client.process.wait(timeout=120) == 0
    assert time.monotonic() - began < 10
    assert client.process.stderr is not None
    assert b"Traceback" not in client.process.stderr.read()


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=() if kind in {"pings", "searches"} else pytest.mark.soak)
        for kind in FLOODS
    ],
)
def test_a_client_that_never_reads_is_not_served_without_end(session: RawClient, kind: str) -> None:
    check_flood(session, FLOODS[kind])


def test_a_client_that_never_reads_opens_no_streams_without_end(client: RawClient) -> None:
    # Java, which takes as much memory as all else, has started then.
    client.send(SEARCH)
    assert client.receive()["id"] == "search"
    check_flood(client, LISTEN)


@pytest.mark.soak
def test_a_client_that_reads_late_gets_every_answer(session: RawClient) -> None:
    sent = flood(session, FLOODS["searches"])
    answers = [session.receive() for _ in range(sent - MAX_OPEN_REQUESTS)]
    assert all("result" in answer for answer in answers)
    assert session.process.stdin is not None
    os.set_blocking(session.process.stdin.fileno(), True)
    # The end of a line that was begun, and whatever is left to be read.
    session.send_line(b"")
    assert session.request("ping")["result"] == {}


def test_calls_that_were_cancelled_leave_room_for_others(session: RawClient) -> None:
    for number in range(MAX_OPEN_REQUESTS * 4):
        session.send({"jsonrpc": "2.0", "id": number, **FLOODS["searches"]})
        cancelled = {"requestId": number}
        session.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled})
    assert session.request("ping")["result"] == {}


def test_streams_that_are_open_leave_room_for_others(client: RawClient) -> None:
    client.send(LIST)
    client.receive()
    for number in range(MAX_OPEN_REQUESTS * 2):
        client.send({"jsonrpc": "2.0", "id": number, **LISTEN})
        assert client.receive()["method"] == "notifications/subscriptions/acknowledged"
    client.send(LIST)
    assert client.receive()["id"] == "list"
