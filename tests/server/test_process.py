"""The server as a process: its stdout, its end, and what hostile input does to it."""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared import Document, Index
from tests.conftest import add_documents
from tests.programs import PROGRAMS, run
from tests.server.raw_client import MODERN, RawClient, tool_call
from tests.systems import gives_sockets_as_files, is_in_time, limits_processes, uses_a_unix_shell

if sys.platform != "win32":
    import resource


@pytest.fixture
def client(empty_index: Path) -> Iterator[RawClient]:
    add_documents(empty_index, Document("a", "A", "some text"))
    with RawClient(empty_index) as client:
        yield client
        client.process.kill()


def test_stdout_carries_the_protocol_only_and_stderr_nothing_to_the_end(client: RawClient) -> None:
    assert client.initialize()["result"]["serverInfo"]["name"] == "mcp-lucene"
    assert client.search("text")["structuredContent"]["totalHits"] == 1
    assert client.search("title:(text AND")["isError"]
    assert client.request("resources/subscribe", uri="document://a")["result"] == {}
    out, err = client.end()
    assert (out, err) == (b"", b"")
    # A closed stdin ends the process in order.
    assert client.process.returncode == 0


def test_a_stdin_closed_before_anything_was_said_ends_it_too(client: RawClient) -> None:
    assert client.end() == (b"", b"")
    assert client.process.returncode == 0


@pytest.mark.parametrize(
    "stop",
    []
    if sys.platform == "win32"
    else [signal.SIGTERM, signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.soak)],
)
def test_a_signal_ends_the_server_at_once_and_leaves_the_index_free(
    client: RawClient, empty_index: Path, stop: signal.Signals
) -> None:
    client.initialize()
    client.search("text")
    client.process.send_signal(stop)
    # stdin is still open.
    assert client.process.wait(timeout=5) == -stop
    _, err = client.end()
    assert err == b""
    with Index(empty_index, wait=0) as index:
        index.add(Document("b", "B", "text"))


HOSTILE = [
    b"null",
    b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": 900, "method": "no/such/method"}',
    b'{"jsonrpc": "2.0", "id": 901, "method": "tools/call"}',
    b'{"jsonrpc": "2.0", "id": 902, "method": "tools/call", "params": {"name": 5}}',
    b'{"jsonrpc": "2.0", "id": 903, "method": "tools/call", "params": []}',
    b'{"jsonrpc": "2.0", "id": 904, "result": {}}',
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
        result = client.search(query)
        text = result["content"][0]["text"]
        assert result.get("structuredContent") or not text.startswith("Error executing"), text
    assert client.search("text")["structuredContent"]["totalHits"] == 1
    _, err = client.end()
    assert b"Traceback" not in err


def test_a_closed_stdout_is_the_end_of_the_session(client: RawClient) -> None:
    client.initialize()
    client.process.stdout.close()
    client.send({"jsonrpc": "2.0", "id": 7, "method": "ping"})
    client.process.stdin.close()
    client.process.wait(timeout=10)
    assert b"Traceback" not in client.process.stderr.read()


@pytest.mark.soak
@limits_processes
def test_without_room_for_java_each_call_says_so(empty_index: Path) -> None:
    limit = 1_200_000_000

    def little_memory() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    with RawClient(empty_index, before=little_memory) as client:
        client.initialize()
        for _ in range(2):
            result = client.search("text")
            assert result["isError"]
            assert "the Java virtual machine could not be started" in result["content"][0]["text"]
        assert client.end() == (b"", b"")


# Hundreds of patterns, each near the limit, take many seconds.
SLOW_SEARCH = tool_call(7, query=" ".join(f"/[ab]*a[ab]{{9}}{number}/" for number in range(800)))


@pytest.mark.soak
def test_a_call_that_takes_long_does_not_keep_the_process(client: RawClient) -> None:
    client.initialize()
    client.send(SLOW_SEARCH)
    time.sleep(0.3)
    client.end()
    assert client.process.returncode == 0


@pytest.mark.soak
@is_in_time
def test_a_call_that_takes_long_does_not_keep_it_when_stdout_is_closed(client: RawClient) -> None:
    client.initialize()
    client.send(SLOW_SEARCH)
    time.sleep(0.3)
    client.process.stdout.close()
    client.send({"jsonrpc": "2.0", "id": 8, "method": "ping"})
    # The answer to the ping finds that nobody reads.
    time.sleep(0.5)
    client.process.stdin.close()
    assert client.process.wait(timeout=5) == 0


@pytest.mark.soak
@gives_sockets_as_files
def test_a_connection_that_breaks_during_a_call_is_told_of(empty_index: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        sending = socket.create_connection(listening.getsockname())
        received, _ = listening.accept()
    # A connection that lingers for no time is not ended but reset.
    sending.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client = RawClient(empty_index, stdin=received.fileno())
    with received, sending, client.process:
        client.process.stdin = sending.makefile("wb")
        client.initialize()
        client.send(SLOW_SEARCH)
        time.sleep(0.5)
        sending.close()
        _, err = client.end()
    assert (client.process.returncode, b"ConnectionResetError" in err) == (1, True)


@pytest.mark.soak
@uses_a_unix_shell
@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_a_stream_that_is_closed_from_the_start_is_told_of(empty_index: Path, closed: str) -> None:
    command = f'exec "{PROGRAMS / "mcp-lucene"}" "{empty_index}" {closed}'
    ended = subprocess.run(
        ["/bin/sh", "-c", command], input=b"", capture_output=True, timeout=60, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith(b"Error: stdin or stdout is closed")


@pytest.mark.soak
def test_a_client_that_listens_and_leaves_ends_the_process_in_order(client: RawClient) -> None:
    client.send(
        {
            "jsonrpc": "2.0",
            "id": "listen",
            "method": "subscriptions/listen",
            "params": {"notifications": {"resourcesListChanged": True}, "_meta": MODERN},
        }
    )
    acknowledged = json.loads(client.process.stdout.readline())
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    _, err = client.end()
    assert (client.process.returncode, err) == (0, b"")


TOO_LARGE = (
    "the 16 MiB of memory that Java may use are too small for work on the index at {}; ask "
    "for less at once, or ask the user to allow more with IDX_JAVA_HEAP or the setting java_heap"
)


@pytest.mark.soak
def test_calls_that_need_more_fail_by_themselves(
    empty_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Index(empty_index) as index:
        index.add(Document("large", "Large", "lease " + "x" * 9_000_000))
        index.add(Document("little", "Little", "little text"))
    monkeypatch.setenv("IDX_JAVA_HEAP", "16")
    with RawClient(empty_index) as client:
        client.initialize()
        asked = range(12)
        for number in asked:
            client.send(tool_call(number, query="lease"))
        answers = [client.receive() for _ in asked]
        assert {answer["id"] for answer in answers} == set(asked)
        for answer in answers:
            (content,) = answer["result"]["content"]
            assert content["text"] == TOO_LARGE.format(empty_index)
        assert client.search("little")["structuredContent"]["totalHits"] == 1
        assert client.end() == (b"", b"")
    assert client.process.returncode == 0


def test_a_wrong_size_ends_the_server_before_a_client_waits(empty_index: Path) -> None:
    done = run(
        PROGRAMS / "mcp-lucene",
        empty_index,
        env=os.environ | {"IDX_JAVA_HEAP": "much"},
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: the environment: IDX_JAVA_HEAP: the value should be a ")
