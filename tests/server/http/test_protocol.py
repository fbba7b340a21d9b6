"""MCP over HTTP, as clients of all its versions speak it, and messages that are none."""

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from server.http.serving import Address, listen
from shared import Document
from tests.conftest import add_documents
from tests.server.http.served import (
    ACCEPT,
    SECONDS,
    Served,
    initialize,
    message,
    served,
    status_of_answer,
    wait_for,
)
from tests.server.tool_answers import error, told


@pytest.mark.parametrize(
    ("mode", "version"), [("auto", "2026-07-28"), ("2026-07-28", "2026-07-28"), ("legacy", None)]
)
async def test_a_client_searches_and_walks_from_chunk_to_chunk(
    server: Served, mode: str, version: str | None
) -> None:
    async with Client(server.url, mode=mode) as client:
        assert client.protocol_version == (version or HANDSHAKE_PROTOCOL_VERSIONS[-1])
        found = await told(client, "Search", query='"word5"')
        chunk = found["results"][0]["id"]
        walked = [chunk]
        while True:
            step = await told(client, "get_next_chunk", chunk_id=chunk)
            if step["chunk"] is None:
                break
            chunk = step["chunk"]["id"]
            walked.append(chunk)
        assert walked == [f"long-chunk-00{number}" for number in (1, 2, 3, 4)]
        assert "Parse error:" in error(
            await client.call_tool("Search", {"query": "text AND", "syntax": "lucene"})
        )


@pytest.mark.soak
async def test_sixteen_clients_at_once_get_their_own_answers(server: Served) -> None:

    async def search(number: int) -> None:
        mode = "legacy" if number % 2 else "auto"
        async with Client(server.url, mode=mode) as client:
            for word in range(number, number + 3):
                found = await told(client, "Search", query=f'"word{word}"')
                assert found["query"] == f'"word{word}"'
                assert f"word{word}" in found["results"][0]["content"].split()

    await asyncio.gather(*(search(number) for number in range(16)))


@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
def test_every_version_with_a_handshake_is_served(server: Served, version: str) -> None:
    opened = initialize(server, version)
    assert opened.status_code == 200
    assert result(opened)["protocolVersion"] == version


def test_the_version_without_a_handshake_is_served_and_unknown_ones_are_not(server: Served) -> None:
    assert MODERN_PROTOCOL_VERSIONS == ("2026-07-28",)
    found = server.call(query="text")
    assert found.status_code == 200
    assert "mcp-session-id" not in found.headers
    assert result(found)["structuredContent"]["totalHits"] == 1
    unknown = server.call(headers={"MCP-Protocol-Version": "2027-01-01"}, query="text")
    assert unknown.status_code == 400


def result(response: httpx2.Response) -> dict[str, Any]:
    """The result of an answer, whether it came as JSON or as an event."""
    text = response.text
    if response.headers["content-type"].startswith("text/event-stream"):
        text = next(line[6:] for line in text.splitlines() if line.startswith("data: {"))
    found: dict[str, Any] = json.loads(text)["result"]
    return found


def test_a_session_ends_when_its_client_says_so(server: Served) -> None:
    session = {"Mcp-Session-Id": initialize(server).headers["mcp-session-id"]}
    assert httpx2.delete(server.url, headers=session, timeout=SECONDS).status_code == 200
    assert httpx2.delete(server.url, headers=session, timeout=SECONDS).status_code == 404


def test_a_search_sees_the_commit_before_it(empty_index: Path) -> None:
    with served(empty_index) as server:
        for number in range(5):
            add_documents(empty_index, Document(f"{number}", "T", "text"))
            assert result(server.call(query="text"))["structuredContent"]["totalHits"] == number + 1


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "..\\..\\x", "a\0b", "%2e%2e%2f", "long/../a", "\n"]
)
def test_an_id_is_a_name_and_never_a_path(server: Served, name: str) -> None:
    for tool, argument in [
        ("get_document_chunks", "source_document_id"),
        ("document_details", "source_document_id"),
        ("get_next_chunk", "chunk_id"),
    ]:
        arguments: dict[str, Any] = {argument: name}
        told = result(server.call(tool, **arguments))
        assert told["isError"]
        assert told["content"][0]["text"].startswith(("no document has the id", "no chunk has"))


@pytest.mark.parametrize(
    "path", ["/mcp/../healthz", "//mcp", "/mcp/x", "/%2e%2e/mcp", "/static/../../etc/passwd"]
)
def test_no_other_path_leads_anywhere(server: Served, path: str) -> None:
    with server.connection() as connection:
        connection.request("GET", path)
        assert status_of_answer(connection) == 404


REFUSED = [
    (b"POST /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"HTTP/1.1 405 "),
    # Before it has sent what it promises.
    (b"POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n", b"HTTP/1.1 404 "),
    # Such an answer has no body.
    (b"HEAD /mcp%0A HTTP/1.1\r\nHost: localhost\r\n\r\n", b"HTTP/1.1 400 "),
]


def test_what_is_refused_is_answered_at_once(server: Served) -> None:
    for sent, expected in REFUSED:
        with server.raw() as connection:
            connection.sendall(sent)
            assert connection.recv(65_536).startswith(expected)
    # Its line in the log comes after those of the requests before.
    httpx2.patch(f"{server.base}/nothing")
    wait_for(lambda: "method=PATCH" in server.logged(), "no line of the last request")
    assert " ERROR " not in server.logged()


HOSTILE = [
    b"",
    b"{",
    b"[]",
    b"null",
    b"[" * 50_000,
    b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": 1, "method": "no/such/method"}',
    b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "\\ud800"}}',
    b"\xff\xfe\xfd",
    b"1" * 10_000,
]


@pytest.mark.parametrize("version", [None, "2025-11-25", "2026-07-28"])
def test_nothing_that_is_sent_is_an_error_of_the_server(
    server: Served, version: str | None
) -> None:
    headers = ACCEPT | ({"MCP-Protocol-Version": version} if version else {})
    for body in HOSTILE:
        refused = httpx2.post(server.url, content=body, headers=headers, timeout=SECONDS)
        assert 400 <= refused.status_code < 500, (body[:50], refused.text)
    assert server.get("/healthz").status_code == 200


def session(server: Served) -> dict[str, str]:
    """The headers of a session that was opened."""
    headers = ACCEPT | {"Mcp-Session-Id": initialize(server).headers["mcp-session-id"]}
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    httpx2.post(server.url, json=initialized, headers=headers, timeout=SECONDS)
    return headers


def post(server: Served, headers: dict[str, str], **request: object) -> httpx2.Response:
    body = {"jsonrpc": "2.0", **request}
    return httpx2.post(server.url, json=body, headers=headers, timeout=SECONDS)


@pytest.mark.parametrize("path", ["/mcp%0A", "/mcp%0a", "/mcp%00", "/metrics%7F"])
def test_a_path_with_a_control_character_passes_for_no_other(server: Served, path: str) -> None:
    body, headers = message(query="text")
    url = f"http://127.0.0.1:{server.port}{path}"
    assert httpx2.post(url, content=body, headers=headers, timeout=SECONDS).status_code == 400


@pytest.mark.soak
def test_a_client_that_leaves_in_the_middle_of_a_message_is_no_error_of_the_server(
    documents: Path,
) -> None:
    with served(documents) as server:
        _, modern = message(query="text")
        mcp = [("/mcp", headers) for headers in (modern, ACCEPT, session(server))]
        for path, headers in (*mcp, ("/search", ACCEPT)):
            lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{lines}Content-Length: 1000\r\n\r\n"
            with server.raw() as connection:
                connection.sendall(head.encode() + b'{"jsonrpc"')
                server.wait_for_calls(1)
            server.wait_for_calls(0)
        assert not [name for name in server.metrics() if 'status="500"' in name]
        assert "status=500" not in server.logged()
        assert "error=" not in server.logged()


def test_a_method_that_nobody_knows_is_not_repeated_whole(server: Served) -> None:
    answered = post(server, session(server), id=7, method="m" * 3_000_000)
    assert '"message":"Method not found","data":"mmm' in answered.text
    assert len(answered.text) < 3_000


@pytest.mark.parametrize(
    ("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
)
def test_the_body_of_an_answer_does_not_wait_for_its_headers(
    family: socket.AddressFamily, host: str
) -> None:
    with (
        listen(Address(family, host, 0)) as listener,
        socket.create_connection(listener.getsockname()[:2]),
        listener.accept()[0] as connection,
    ):
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
