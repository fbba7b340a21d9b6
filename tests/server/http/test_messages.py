"""Messages that are posted: half of one, and long methods."""

from pathlib import Path

import httpx2
import pytest

from tests.server.http.served import ACCEPT, SECONDS, Served, initialize, message, served, wait_for


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
    documents: Path, tmp_path: Path
) -> None:
    with served(documents, log=tmp_path / "log") as server:
        _, modern = message(query="text")
        for headers in (modern, ACCEPT, session(server)):
            lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\n{lines}Content-Length: 1000\r\n\r\n"
            with server.raw() as connection:
                connection.sendall(head.encode() + b'{"jsonrpc"')
                wait_for(lambda: server.metrics()["mcp_lucene_running_requests"] == 1, "it is read")
            wait_for(lambda: server.metrics()["mcp_lucene_running_requests"] == 0, "it has ended")
        assert not [name for name in server.metrics() if 'status="500"' in name]
        assert "status=500" not in server.logged()
        assert "error=" not in server.logged()


def test_a_method_that_nobody_knows_is_not_repeated_whole(server: Served) -> None:
    answered = post(server, session(server), id=7, method="m" * 3_000_000)
    assert '"message":"Method not found","data":"mmm' in answered.text
    assert len(answered.text) < 3_000
