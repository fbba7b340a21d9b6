"""The server's own bearer tokens: what they open, and what is refused of them."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.server.http.served import (
    SECONDS,
    Served,
    begin_call,
    initialize,
    refused,
    served,
    served_here,
    status_of_answer,
)
from tests.server.tool_answers import answer

READER = "reader-" + "r" * 40
ADMIN = "admin-" + "a" * 40
NEITHER = "neither-" + "n" * 40


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def token_file(folder: Path, text: str, mode: int = 0o600) -> Path:
    file = folder / "tokens"
    file.write_text(text)
    file.chmod(mode)
    return file


@pytest.fixture(scope="module")
def guarded(documents: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("guarded")
    text = f"# who may ask\n\nalice:read:{READER}\nroot:admin,read:{ADMIN}\nbob:admin:{NEITHER}\n"
    file = token_file(folder, text)
    with served_here(documents, "--token-file", file, log=folder / "log") as running:
        yield running


@pytest.mark.parametrize("token", [READER, ADMIN])
def test_a_token_opens_the_server(guarded: Served, token: str) -> None:
    assert guarded.call(headers=bearer(token), query="text").status_code == 200
    assert initialize(guarded, **bearer(token)).status_code == 200
    assert guarded.get("/metrics", **bearer(token)).status_code == 200


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer  ,",
        f"Bearer {READER}x",
        f"Bearer {READER[:-1]}",
        f"Bearer {READER.upper()}",
        f"Bearer {READER} {ADMIN}",
        f"Basic {READER}",
        READER,
        f"Bearer {'x' * 10_000}",
    ],
)
def test_without_the_right_token_nothing_is_opened(guarded: Served, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header}
    for answered in (
        guarded.call(headers=headers, query="text"),
        initialize(guarded, **headers),
        guarded.get("/metrics", **headers),
        httpx2.get(guarded.url, headers=headers, timeout=SECONDS),
        httpx2.delete(guarded.url, headers=headers, timeout=SECONDS),
    ):
        assert answered.status_code == 401
        assert answered.headers["www-authenticate"].startswith("Bearer ")
        assert "some text" not in answered.text


@pytest.mark.soak
def test_a_token_of_other_bytes_opens_nothing(guarded: Served) -> None:
    with guarded.raw() as connection:
        head = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \xff\xfe\r\n\r\n"
        connection.sendall(head)
        assert connection.recv(1_000).startswith(b"HTTP/1.1 401 ")


@pytest.mark.soak
def test_a_token_in_the_url_opens_nothing(guarded: Served) -> None:
    for name in ("access_token", "token"):
        assert guarded.get(f"/metrics?{name}={READER}").status_code == 401


def test_requests_without_a_token_take_no_room_from_others(documents: Path, tmp_path: Path) -> None:
    tokens = f"alice:read:{READER}"
    options = ["--max-requests", 2]
    with (
        served_here(documents, *options, tokens=tokens, log=tmp_path / "log") as server,
        ExitStack() as opened,
    ):
        for _ in range(4):
            connection = opened.enter_context(server.connection())
            begin_call(connection)
            # It is answered before its body is there.
            assert status_of_answer(connection) == 401
        assert server.metrics(**bearer(READER))["mcp_lucene_running_requests"] == 0
        assert server.call(headers=bearer(READER), query="text").status_code == 200


def test_a_token_without_the_scope_to_read_opens_nothing(guarded: Served) -> None:
    answered = guarded.call(headers=bearer(NEITHER), query="text")
    assert answered.status_code == 403
    assert 'error="insufficient_scope"' in answered.headers["www-authenticate"]


@pytest.mark.soak
def test_who_looks_after_the_server_needs_no_token(guarded: Served) -> None:
    assert guarded.get("/healthz").text == "ok\n"
    assert guarded.get("/readyz").text == "ready\n"


@pytest.mark.soak
@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_of_the_sdk_sends_its_token(guarded: Served, mode: str) -> None:
    async with (
        httpx2.AsyncClient(headers=bearer(READER), timeout=SECONDS) as http_client,
        Client(streamable_http_client(guarded.url, http_client=http_client), mode=mode) as client,
    ):
        assert answer(await client.call_tool("Search", {"query": "text"}))["totalHits"] == 1


@pytest.mark.soak
def test_a_session_belongs_to_the_token_that_opened_it(guarded: Served) -> None:
    session = {"Mcp-Session-Id": initialize(guarded, **bearer(READER)).headers["mcp-session-id"]}
    other = httpx2.delete(guarded.url, headers=session | bearer(ADMIN), timeout=SECONDS)
    assert other.status_code == 404
    own = httpx2.delete(guarded.url, headers=session | bearer(READER), timeout=SECONDS)
    assert own.status_code == 200


@pytest.mark.soak
def test_tokens_come_from_the_environment_too(documents: Path, tmp_path: Path) -> None:
    tokens = f"alice:read:{READER} root:read,admin:{ADMIN}"
    with served(documents, log=tmp_path / "log", tokens=tokens) as server:
        assert server.call(headers=bearer(READER), query="text").status_code == 200
        assert server.call(headers=bearer(ADMIN), query="text").status_code == 200
        assert server.call(headers=bearer(NEITHER), query="text").status_code == 401
        environment = Path(f"/proc/{server.process.pid}/cmdline").read_bytes()
        assert READER.encode() not in environment


@pytest.mark.soak
def test_the_option_beats_the_variable(documents: Path, tmp_path: Path) -> None:
    file = token_file(tmp_path, f"alice:read:{READER}")
    options = ["--token-file", file]
    tokens = f"root:read:{ADMIN}"
    with served_here(documents, *options, log=tmp_path / "log", tokens=tokens) as server:
        assert server.call(headers=bearer(READER), query="text").status_code == 200
        assert server.call(headers=bearer(ADMIN), query="text").status_code == 401


@pytest.mark.soak
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660, 0o602])
def test_a_file_that_others_may_read_is_refused(documents: Path, tmp_path: Path, mode: int) -> None:
    file = token_file(tmp_path, f"alice:read:{READER}", mode)
    told = refused("--http", "--token-file", file, index=documents)
    assert f"chmod 600 {file}" in told
    assert READER not in told


@pytest.mark.soak
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there are no tokens; a line is NAME:SCOPES:TOKEN"),
        (f"alice:{READER}", "line 1: a line is NAME:SCOPES:TOKEN"),
        (f"# x\nalice:write:{READER}", "line 2: the scopes are admin, read and collection=NAME"),
        (f"alice::{READER}", "line 1: the scopes are admin, read and collection=NAME"),
        (f"alice:read:{'s' * 31}", "shorter than 32 characters; make one with: openssl rand"),
        (f"alice:read:{READER} x", "line 1: a line is NAME:SCOPES:TOKEN"),
        (f"alice:read:{READER}\nbob:read:{READER}", "two tokens are the same"),
        (f":read:{READER}", "line 1: a line is NAME:SCOPES:TOKEN"),
    ],
)
def test_what_is_wrong_with_a_token_is_told_without_it(
    documents: Path, tmp_path: Path, text: str, message: str
) -> None:
    told = refused("--http", "--token-file", token_file(tmp_path, text), index=documents)
    assert message in told
    assert READER not in told


@pytest.mark.soak
def test_a_file_that_cannot_be_read_is_told(documents: Path, tmp_path: Path) -> None:
    told = refused("--http", "--token-file", tmp_path / "none", index=documents)
    assert "cannot be read: No such file or directory" in told
    binary = token_file(tmp_path, "")
    binary.write_bytes(b"\xff\xfe")
    told = refused("--http", "--token-file", binary, index=documents)
    assert "cannot be read: it is not UTF-8" in told


@pytest.mark.soak
def test_a_variable_with_a_short_token_is_told_without_it(documents: Path) -> None:
    told = refused("--http", index=documents, tokens="alice:read:hunter2")
    assert "IDX_TOKENS, line 1: the token of alice is shorter than 32 characters" in told
    assert "hunter2" not in told
