"""By HTTP whatever is posted is answered by its sender's mistake, never by one of the server."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from hypothesis import given, settings, strategies as st

from tests.server.fuzz.strategies import messages
from tests.server.fuzz.test_order import METHODS
from tests.server.fuzz.tools import EXAMPLES
from tests.server.http.served import ACCEPT, SECONDS, Served, initialize, message, served

pytestmark = pytest.mark.soak

# Who listens gets a stream that does not end.
_ANSWERED = [method for method in METHODS if method != "subscriptions/listen"]


@pytest.fixture(scope="module")
def server(index: Path) -> Iterator[Served]:
    with served(index) as server:
        yield server
        assert " ERROR " not in server.logged()


@settings(EXAMPLES, max_examples=400, derandomize=False)
@given(body=messages(_ANSWERED), era=st.sampled_from(["2025-11-25", "2026-07-28", "", "\x7f"]))
def test_no_message_is_an_error_of_the_server(server: Served, body: bytes, era: str) -> None:
    _, needed = message()
    headers = {**(needed if era == "2026-07-28" else ACCEPT), "MCP-Protocol-Version": era}
    answered = httpx2.post(server.url, content=body, headers=headers, timeout=SECONDS)
    assert answered.status_code < 500, answered.text
    if answered.headers.get("content-type") == "application/json":
        assert answered.json()["jsonrpc"] == "2.0"


def test_no_message_in_a_session_is_an_error_of_the_server(server: Served) -> None:
    opened = initialize(server)
    session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}

    @settings(EXAMPLES, max_examples=400, derandomize=False)
    @given(body=messages(_ANSWERED))
    def check(body: bytes) -> None:
        answered = httpx2.post(server.url, content=body, headers=ACCEPT | session, timeout=SECONDS)
        assert answered.status_code < 500, answered.text
        if answered.headers.get("content-type") == "text/event-stream":
            for line in answered.text.splitlines():
                if line.startswith("data: "):
                    assert json.loads(line.removeprefix("data: "))["jsonrpc"] == "2.0"

    check()
    assert server.call(query="word1").status_code == 200
