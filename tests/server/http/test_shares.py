"""Where there are several tokens, none of them takes more than half of anything."""

import json
import select
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import httpx2
import pytest

from tests.server.http.served import (
    ACCEPT,
    SECONDS,
    Served,
    initialize,
    message,
    served_here,
    status_of_answer,
    wait_for,
)

FIRST = {"Authorization": "Bearer " + "f" * 40}
SECOND = {"Authorization": "Bearer " + "s" * 40}
TWO = f"first:read:{'f' * 40} second:read:{'s' * 40}"
ONE = f"first:read:{'f' * 40}"


def begin_call(connection: HTTPConnection, token: dict[str, str]) -> bytes:
    """Send a call but for its last byte, which is returned: it runs until that comes."""
    body, headers = message(query="text")
    connection.putrequest("POST", "/mcp")
    for name, value in {**headers, **token, "Content-Length": str(len(body))}.items():
        connection.putheader(name, value)
    connection.endheaders()
    connection.send(body[:-1])
    return body[-1:]


@contextmanager
def running(server: Served, calls: int) -> Iterator[None]:
    """Have calls of the first token run within a block, each of which is answered in the end."""
    with ExitStack() as opened:
        connections = [opened.enter_context(server.connection()) for _ in range(calls)]
        last = [begin_call(connection, FIRST) for connection in connections]
        wait_for(lambda: server.metrics(**FIRST)["mcp_lucene_running_requests"] == calls, "all run")
        yield
        for connection, rest in zip(connections, last, strict=True):
            connection.send(rest)
            assert status_of_answer(connection) == 200


def test_one_token_runs_half_of_the_calls(documents: Path, tmp_path: Path) -> None:
    with served_here(documents, "--max-requests", 4, tokens=TWO, log=tmp_path / "log") as server:
        with running(server, 2):
            refused = server.call(headers=FIRST, query="text")
            assert refused.status_code == 429
            assert refused.headers["retry-after"] == "1"
            assert server.call(headers=SECOND, query="text").status_code == 200
        assert server.call(headers=FIRST, query="text").status_code == 200


def test_calls_of_one_token_that_wait_keep_no_other_waiting(
    documents: Path, tmp_path: Path
) -> None:
    with (
        served_here(documents, "--max-requests", 4, tokens=TWO, log=tmp_path / "log") as server,
        running(server, 2),
    ):
        # The first search takes longer than a call waits.
        assert server.call(headers=SECOND, query="text").status_code == 200
        # On a machine that is busy enough, calls are refused before others can be answered.
        assert any(is_answered_before_others_are_refused(server) for _ in range(3))


def is_answered_before_others_are_refused(server: Served) -> bool:
    """Check that a call is admitted as soon as there is room, though another token's wait longer.

    Two calls of the first token run. Ten more wait, then one of the second token, whose two running
    calls end.
    """
    with ExitStack() as opened:
        one, other, late, *many = (opened.enter_context(server.connection()) for _ in range(13))
        lasts = [(connection, begin_call(connection, SECOND)) for connection in (one, other)]
        wait_for(lambda: server.metrics(**FIRST)["mcp_lucene_running_requests"] == 4, "all run")
        for connection in many:
            connection.send(begin_call(connection, FIRST))
        late.send(begin_call(late, SECOND))
        time.sleep(0.1)
        for connection, last in lasts:
            connection.send(last)
        assert [status_of_answer(connection) for connection in (one, other, late)] == [200] * 3
        refused, _, _ = select.select([connection.sock for connection in many], [], [], 0)
        assert [status_of_answer(connection) for connection in many] == [429] * 10
        return not refused


def test_one_token_opens_half_of_the_sessions(documents: Path, tmp_path: Path) -> None:
    with served_here(documents, "--max-sessions", 4, tokens=TWO, log=tmp_path / "log") as server:
        opened = [initialize(server, **FIRST) for _ in range(3)]
        assert [answered.status_code for answered in opened] == [200, 200, 429]
        assert initialize(server, **SECOND).status_code == 200
        ended = FIRST | {"Mcp-Session-Id": opened[0].headers["mcp-session-id"]}
        assert httpx2.delete(server.url, headers=ended, timeout=SECONDS).status_code == 200
        assert initialize(server, **FIRST).status_code == 200


def test_one_token_opens_half_of_the_streams(documents: Path, tmp_path: Path) -> None:
    with (
        served_here(documents, "--max-sessions", 2, tokens=TWO, log=tmp_path / "log") as server,
        ExitStack() as opened,
    ):
        for token, status in [(FIRST, 200), (FIRST, 429), (SECOND, 200)]:
            answered = opened.enter_context(listening(server, token))
            assert answered.status_code == status


def test_one_token_subscribes_to_half_of_the_resources(documents: Path, tmp_path: Path) -> None:
    uris = [f"document://{number}" for number in range(6_000)]
    kept = []
    with (
        served_here(documents, tokens=TWO, log=tmp_path / "log") as server,
        ExitStack() as opened,
    ):
        for start in range(0, 5_000, 1_000):
            heard = opened.enter_context(listening(server, FIRST, uris[start : start + 1_000]))
            # Who forgets its iterator closes a stream.
            kept.append(heard.iter_text())
            assert "acknowledged" in next(kept[-1])
        refused = opened.enter_context(listening(server, FIRST, uris[5_000:]))
        assert refused.status_code == 429
        opened_session = initialize(server, **FIRST).headers["mcp-session-id"]
        asked = {"jsonrpc": "2.0", "id": 9, "method": "resources/subscribe"}
        for uri, status in [(uris[5_000], 429), (uris[0], 200)]:
            answered = httpx2.post(
                server.url,
                json=asked | {"params": {"uri": uri}},
                headers=ACCEPT | FIRST | {"Mcp-Session-Id": opened_session},
                timeout=SECONDS,
            )
            assert answered.status_code == status
            assert '"error"' not in answered.text
        # What is subscribed to already takes no more of it, and others have theirs.
        for token, wanted in [(FIRST, uris[:1_000]), (SECOND, uris[5_000:])]:
            heard = opened.enter_context(listening(server, token, wanted))
            kept.append(heard.iter_text())
            assert "acknowledged" in next(kept[-1])


@contextmanager
def listening(
    server: Served, token: dict[str, str], uris: Sequence[str] = ()
) -> Iterator[httpx2.Response]:
    body, headers = message()
    news = json.dumps({"toolsListChanged": True, "resourceSubscriptions": uris})
    listen = body.replace(b"tools/call", b"subscriptions/listen").replace(
        b'"name": "Search", "arguments": {}', f'"notifications": {news}'.encode()
    )
    del headers["Mcp-Name"]
    headers |= token | {"Mcp-Method": "subscriptions/listen"}
    with httpx2.stream("POST", server.url, content=listen, headers=headers, timeout=SECONDS) as got:
        yield got


@pytest.mark.soak
def test_a_token_that_is_the_only_one_has_everything(documents: Path, tmp_path: Path) -> None:
    options = ["--max-requests", 4, "--max-sessions", 4]
    with served_here(documents, *options, tokens=ONE, log=tmp_path / "log") as server:
        assert [initialize(server, **FIRST).status_code for _ in range(4)] == [200] * 4
        with running(server, 4):
            assert server.call(headers=FIRST, query="text").status_code == 429
