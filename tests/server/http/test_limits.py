"""No client takes more than its share, and the end of a server: what runs is answered."""

import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest

from shared import Document
from tests.conftest import add_documents
from tests.server.http.served import (
    ACCEPT,
    SECONDS,
    VERSION,
    Served,
    begin_call,
    initialize,
    message,
    served,
    status_of_answer,
    wait_for,
)

pytestmark = pytest.mark.soak


def test_a_body_may_be_so_long_and_no_longer(documents: Path) -> None:
    with served(documents, "--max-body", "0.01") as server:
        body, headers = message(query="text")
        for length, status in [(10_000, 200), (10_001, 413), (5_000_000, 413)]:
            padded = body + b" " * (length - len(body))
            answered = httpx2.post(server.url, content=padded, headers=headers, timeout=SECONDS)
            assert answered.status_code == status
            # Without a length that is told beforehand.
            parts = (padded[start : start + 1_000] for start in range(0, 11_000, 1_000))
            answered = httpx2.post(server.url, content=parts, headers=headers, timeout=SECONDS)
            assert answered.status_code == status
        old = httpx2.post(server.url, content=b" " * 10_001, headers=ACCEPT, timeout=SECONDS)
        assert old.status_code == 413


def test_headers_may_not_be_endless(server: Served) -> None:
    with server.raw() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 20_000)
        assert connection.recv(1_000).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("length", [16_300, 17_000, 30_000, 60_000])
@pytest.mark.parametrize("parts", [1, 4])
def test_long_headers_are_refused_in_one_packet_as_in_several(
    server: Served, length: int, parts: int
) -> None:
    request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * length + b"\r\n\r\n"
    step = -(-len(request) // parts)
    with server.raw() as connection:
        for start in range(0, len(request), step):
            with suppress(ConnectionError):
                connection.sendall(request[start : start + step])
            time.sleep(0.05)
        expected = b"HTTP/1.1 200 " if length < 16_384 else b"HTTP/1.1 400 "
        assert connection.recv(1_000).startswith(expected)


def test_a_call_beyond_those_that_may_run_is_refused(documents: Path) -> None:
    with (
        served(documents, "--max-requests", 2) as server,
        server.connection() as one,
        server.connection() as other,
    ):
        last = begin_call(one)
        begin_call(other)
        server.wait_for_calls(2)
        refused = server.call(query="text")
        assert refused.status_code == 429
        assert refused.headers["retry-after"] == "1"
        assert initialize(server).status_code == 429
        assert server.get("/healthz").status_code == 200
        one.send(last)
        assert status_of_answer(one) == 200
        assert server.call(query="text").status_code == 200
        # One that goes away makes room, too.
        other.close()
        server.wait_for_calls(0)


def test_streams_take_no_room_from_calls(documents: Path) -> None:
    options = ["--max-requests", 1, "--max-sessions", 2]
    with served(documents, *options) as server:
        session = {"Mcp-Session-Id": initialize(server).headers["mcp-session-id"]}
        listen, headers = listening()
        with (
            httpx2.stream(
                "GET", server.url, headers=ACCEPT | session, timeout=SECONDS
            ) as old_stream,
            httpx2.stream(
                "POST", server.url, content=listen, headers=headers, timeout=SECONDS
            ) as new_stream,
        ):
            assert (old_stream.status_code, new_stream.status_code) == (200, 200)
            assert server.metrics()["mcp_lucene_open_streams"] == 2
            assert server.call(query="text").status_code == 200
            more = httpx2.post(server.url, content=listen, headers=headers, timeout=SECONDS)
            assert more.status_code == 429
        wait_for(lambda: server.metrics()["mcp_lucene_open_streams"] == 0, "both have ended")


def test_a_call_cannot_pass_for_a_stream(documents: Path) -> None:
    with (
        served(documents, "--max-requests", 1) as server,
        server.connection() as running,
    ):
        last = begin_call(running)
        server.wait_for_calls(1)
        disguised = server.call(headers={"Mcp-Method": "subscriptions/listen"}, query="text")
        assert disguised.status_code == 400
        old = initialize(server, **{"Mcp-Method": "subscriptions/listen"})
        assert old.status_code == 429
        running.send(last)
        assert status_of_answer(running) == 200


def listening() -> tuple[bytes, dict[str, str]]:
    """A request of 2026-07-28 for a stream of news."""
    body, headers = message()
    listen = body.replace(b"tools/call", b"subscriptions/listen").replace(
        b'"name": "Search", "arguments": {}', b'"notifications": {"toolsListChanged": true}'
    )
    del headers["Mcp-Name"]
    return listen, headers | {"Mcp-Method": "subscriptions/listen"}


def test_there_are_so_many_sessions_and_idle_ones_end(documents: Path) -> None:
    options = ["--max-sessions", 3, "--idle-timeout", 3]
    with served(documents, *options) as server:
        opened = [initialize(server) for _ in range(3)]
        assert [answered.status_code for answered in opened] == [200] * 3
        assert server.metrics()["mcp_lucene_sessions"] == 3
        assert initialize(server).status_code == 503
        # Those without a session are not concerned.
        assert server.call(query="text").status_code == 200
        wait_for(lambda: server.metrics()["mcp_lucene_sessions"] == 0, "idle sessions end")
        session = {"Mcp-Session-Id": opened[0].headers["mcp-session-id"]}
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        gone = httpx2.post(server.url, json=ping, headers=ACCEPT | session, timeout=SECONDS)
        assert gone.status_code == 404
        assert initialize(server).status_code == 200


def test_slow_clients_keep_no_room_from_others(documents: Path) -> None:
    with served(documents, "--receive-timeout", 2) as server:
        head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
        body = b"Content-Length: 1000\r\n\r\n"
        typed = b"Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
        modern = f"MCP-Protocol-Version: {VERSION}\r\n".encode()
        slow = [
            (head + typed + body, b"HTTP/1.1 408 "),
            (head + typed + modern + body, b"HTTP/1.1 408 "),
            (b"POST /search HTTP/1.1\r\nHost: localhost\r\n" + body, b"HTTP/1.1 408 "),
            # Refused at once.
            (b"POST /nothing HTTP/1.1\r\nHost: localhost\r\n" + body, b"HTTP/1.1 404 "),
        ]
        with ThreadPoolExecutor(len(slow)) as threads:
            received = threads.map(lambda sent: trickle(server, sent[0]), slow)
            for answer, (_, expected) in zip(received, slow, strict=True):
                assert answer.startswith(expected)
        with server.connection() as patient:
            for _ in range(5):
                # Between two requests a client may take its time.
                time.sleep(0.5)
                patient.request("GET", "/healthz")
                assert status_of_answer(patient) == 200
        assert server.metrics()["mcp_lucene_running_requests"] == 0
        assert server.call(query="text").status_code == 200
        assert "error=" not in server.logged()


def trickle(server: Served, first: bytes) -> bytes:
    """Send a little every now and then until the server answers; returns what it sent."""
    until = time.monotonic() + 30
    with server.raw() as connection:
        connection.sendall(first)
        connection.settimeout(0.2)
        while time.monotonic() < until:
            try:
                return connection.recv(10_000)
            except TimeoutError:
                with suppress(OSError):
                    connection.sendall(b" ")
    raise AssertionError("the server still waits")


def test_a_client_that_does_not_read_keeps_no_room(empty_index: Path) -> None:
    add_documents(empty_index, Document("a", "A", "x" * 5_000_000))
    with served(empty_index, "--receive-timeout", 2) as server:
        body, headers = message(query="", max_characters=1_000_000)
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        request = (
            f"POST /mcp HTTP/1.1\r\nHost: localhost\r\n{head}Content-Length: {len(body)}\r\n\r\n"
        )
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            connection.connect(("127.0.0.1", server.port))
            for _ in range(8):
                connection.sendall(request.encode() + body)
            server.wait_for_calls(1)
            server.wait_for_calls(0)


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_call_that_runs_is_answered_and_others_are_refused(
    documents: Path, stop: signal.Signals
) -> None:
    with (
        served(documents) as server,
        server.connection() as running,
        server.connection() as open_before,
    ):
        open_before.request("GET", "/readyz")
        assert status_of_answer(open_before) == 200
        last = begin_call(running)
        server.wait_for_calls(1)
        server.process.send_signal(stop)
        wait_for(lambda: server.get("/readyz").status_code == 503, "it stops")
        open_before.request("GET", "/readyz")
        assert status_of_answer(open_before) == 503
        assert server.get("/healthz").status_code == 200
        for refused in (server.call(query="text"), initialize(server)):
            assert refused.status_code == 503
            assert refused.headers["retry-after"] == "1"
        assert server.process.poll() is None
        running.send(last)
        assert status_of_answer(running) == 200
        assert server.process.wait(timeout=SECONDS) == 0
        with pytest.raises(httpx2.ConnectError):
            server.get("/healthz")
        assert "error=" not in server.logged()


def test_a_search_that_takes_long_is_finished(documents: Path) -> None:
    # Each pattern is near the limit of what is taken.
    slow = " ".join(f"/[ab]*a[ab]{{9}}{number}/" for number in range(40))
    answers = []
    with served(documents) as server:
        client = threading.Thread(target=lambda: answers.append(server.call(query=slow)))
        client.start()
        server.wait_for_calls(1)
        server.process.terminate()
        client.join(SECONDS)
        assert [answer.status_code for answer in answers] == [200]
        assert answers[0].json()["result"]["structuredContent"]["query"] == slow


def test_open_streams_do_not_keep_the_server(documents: Path) -> None:
    with served(documents) as server:
        session = {"Mcp-Session-Id": initialize(server).headers["mcp-session-id"]}
        with httpx2.stream("GET", server.url, headers=ACCEPT | session, timeout=SECONDS) as stream:
            assert stream.status_code == 200
            began = time.monotonic()
            server.process.terminate()
            # It ends as a response should, and is not torn off.
            stream.read()
            assert server.process.wait(timeout=SECONDS) == 0
            assert time.monotonic() - began < 9
        assert "error=" not in server.logged()


def test_a_call_that_does_not_end_is_dropped_after_ten_seconds(documents: Path) -> None:
    with served(documents) as server, server.connection() as running:
        begin_call(running)
        server.wait_for_calls(1)
        began = time.monotonic()
        server.process.terminate()
        assert server.process.wait(timeout=SECONDS) == 0
        assert time.monotonic() - began > 9
        assert "WARNING calls_dropped calls=1" in server.logged()


def test_a_second_signal_ends_it_at_once(documents: Path) -> None:
    with served(documents) as server, server.connection() as running:
        begin_call(running)
        server.wait_for_calls(1)
        server.process.terminate()
        wait_for(lambda: server.get("/readyz").status_code == 503, "it stops")
        began = time.monotonic()
        server.process.terminate()
        assert server.process.wait(timeout=SECONDS) == 0
        assert time.monotonic() - began < 9
