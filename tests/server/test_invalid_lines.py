"""A line that is no message is answered, so that nobody waits for an answer that never comes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.raw_client import RawClient, tool_call


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawClient]:
    with RawClient(tmp_path_factory.mktemp("messages") / "no-index") as client:
        client.initialize()
        yield client
        assert client.end() == (b"", b"")


def call(**parts: Any) -> bytes:
    """A call of a tool in JSON, whose characters beyond ASCII are escaped."""
    return json.dumps(tool_call(7, query="cut \ud83e") | parts).encode()


@pytest.mark.parametrize("id_", [7, "seven", "é", -1, 2**60])
def test_a_request_with_half_of_a_character_is_answered_by_its_id(
    client: RawClient, id_: int | str
) -> None:
    [answer] = client.exchange([call(id=id_)])
    assert answer["id"] == id_
    assert answer["error"]["code"] == -32700
    assert "hex escape at line 1" in answer["error"]["message"]


@pytest.mark.parametrize(
    ("line", "id_", "code"),
    [
        (b'{"jsonrpc": "2.0", "id": 7, "method": 5}', 7, -32600),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": []}', 7, -32600),
        (b'{"id": "seven", "method": "ping"}', "seven", -32600),
        (b'{"jsonrpc": "1.0", "id": 7, "method": "ping"}', 7, -32600),
        (
            b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": ' + b"[" * 300 + b"}",
            None,
            -32700,
        ),
        (call(params=json.loads('{"a":' * 300 + "1" + "}" * 300)), 7, -32700),
        (call(id="\udc00"), None, -32700),
        (call(id=True), None, -32700),
        (call(id=None), None, -32700),
        (b"not json", None, -32700),
        (b"\xff\xfe", None, -32700),
        (b"[" * 50_000, None, -32700),
        (b"[]", None, -32600),
        (b"42", None, -32600),
        (b"{}", None, -32600),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_each_line_that_is_no_message_is_answered_once(
    client: RawClient, line: bytes, id_: object, code: int
) -> None:
    [answer] = client.exchange([line])
    assert (answer["id"], answer["error"]["code"]) == (id_, code)
    assert answer["error"]["message"].startswith("the line ")
    assert len(answer["error"]["message"]) < 300


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b" \t",
        # What is an answer itself is not answered: the other side would do so, too, and for ever.
        b'{"jsonrpc": "2.0", "id": 7, "error": {"message": "\\ud83e"}}',
        b'{"jsonrpc": "2.0", "id": {}, "result": {}}',
        b'{"jsonrpc": "2.0", "id": 7, "error": 5}',
    ],
)
def test_blank_lines_and_answers_are_passed_over(client: RawClient, line: bytes) -> None:
    assert list(client.exchange([line])) == []


def test_a_method_that_nobody_knows_is_not_repeated_whole(client: RawClient) -> None:
    [answer] = client.exchange([call(method="m" * 1_000_000, params={})])
    assert answer["error"]["code"] == -32601
    assert len(answer["error"]["data"]) < 3_000


def test_it_is_answered_before_the_handshake_too(tmp_path: Path) -> None:
    with RawClient(tmp_path) as client:
        client.send_line(b"{\n" + call())
        assert client.initialize()["result"]["serverInfo"]["name"] == "mcp-lucene"
        client.end()
        assert client.process.returncode == 0
