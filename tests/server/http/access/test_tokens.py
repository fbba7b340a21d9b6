"""Who is answered: the server's own bearer tokens, names that lead here, and web pages."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest

from tests.server.http.served import (
    SECONDS,
    Served,
    bearer,
    begin_call,
    client_of,
    initialize,
    refused,
    served_here,
    status_of_answer,
)
from tests.server.tool_answers import told

READER = "reader-" + "r" * 40
ADMIN = "admin-" + "a" * 40
NEITHER = "neither-" + "n" * 40


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
    with served_here(documents, "--token-file", file) as running:
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
def test_a_token_in_the_url_opens_nothing(guarded: Served) -> None:
    for name in ("access_token", "token"):
        assert guarded.get(f"/metrics?{name}={READER}").status_code == 401


def test_requests_without_a_token_take_no_room_from_others(documents: Path) -> None:
    tokens = f"alice:read:{READER}"
    options = ["--max-requests", 2]
    with (
        served_here(documents, *options, tokens=tokens) as server,
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
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_of_the_sdk_sends_its_token(guarded: Served, mode: str) -> None:
    async with client_of(guarded, READER, mode) as client:
        assert (await told(client, "Search", query="text"))["totalHits"] == 1


@pytest.mark.soak
def test_a_session_belongs_to_the_token_that_opened_it(guarded: Served) -> None:
    session = {"Mcp-Session-Id": initialize(guarded, **bearer(READER)).headers["mcp-session-id"]}
    other = httpx2.delete(guarded.url, headers=session | bearer(ADMIN), timeout=SECONDS)
    assert other.status_code == 404
    own = httpx2.delete(guarded.url, headers=session | bearer(READER), timeout=SECONDS)
    assert own.status_code == 200


@pytest.mark.soak
def test_the_option_beats_the_variable(documents: Path, tmp_path: Path) -> None:
    file = token_file(tmp_path, f"alice:read:{READER}")
    options = ["--token-file", file]
    tokens = f"root:read:{ADMIN}"
    with served_here(documents, *options, tokens=tokens) as server:
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


PATHS = ["/mcp", "/healthz", "/readyz", "/metrics", "/nothing", "/.well-known/x", "/mcp/"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example", "localhost.evil.example", ""],
)
def test_another_host_is_refused_on_every_path(server: Served, path: str, host: str) -> None:
    for method in ("GET", "POST", "OPTIONS", "DELETE"):
        answered = httpx2.request(
            method,
            f"{server.base}{path}",
            headers={"Host": host.format(port=server.port)},
            timeout=SECONDS,
        )
        assert answered.status_code == 421


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://localhost.evil.example", "http://127.0.0.1.evil:80"],
)
def test_a_page_of_another_origin_is_refused_on_every_path(
    server: Served, path: str, origin: str
) -> None:
    for method in ("GET", "POST", "DELETE"):
        answered = httpx2.request(
            method, f"{server.base}{path}", headers={"Origin": origin}, timeout=SECONDS
        )
        assert answered.status_code == 403


@pytest.mark.parametrize(
    "header",
    [
        "Host: localhost:evil.example",
        "Host: localhost:80@evil.example",
        "Host: localhost:",
        "Host: localhost:65536",
        "Host: localhost:1/x",
        "Host: [::1]:80:80",
        "Origin: http://localhost:evil.example",
        "Origin: http://localhost:80@evil.example",
        "Origin: http://localhost:80.evil.example",
        "Origin: http://localhost:",
        "Origin: http://localhost:80/",
        "Origin: ",
        "Origin: http://localhost\r\nOrigin: https://evil.example",
    ],
)
def test_what_only_begins_like_an_allowed_name_is_refused(server: Served, header: str) -> None:
    host = "" if header.startswith("Host") else "Host: localhost\r\n"
    with server.raw() as connection:
        connection.sendall(f"GET /healthz HTTP/1.1\r\n{host}{header}\r\n\r\n".encode())
        status = b"403" if host else b"421"
        assert connection.recv(1_000).startswith(b"HTTP/1.1 " + status)


@pytest.mark.soak
@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "[::1]:9", "localhost"])
def test_this_machine_is_answered_by_each_of_its_names(server: Served, host: str) -> None:
    own = {"Host": host.format(port=server.port)}
    assert server.get("/healthz", **own).status_code == 200
    assert server.call(headers=own, query="text").status_code == 200
    assert server.get("/healthz", Origin="http://localhost:3000").status_code == 200


@pytest.mark.soak
def test_other_names_and_origins_are_answered_where_they_are_allowed(documents: Path) -> None:
    options = [
        *("--allowed-host", "search.example.org", "--allowed-host", "other.example:8443"),
        *("--allowed-origin", "https://app.example.org"),
        *("--public-url", "https://public.example.net:443/search/mcp", "--insecure"),
    ]
    with served_here(documents, *options) as server:
        for host, status in [
            ("search.example.org", 200),
            ("search.example.org:1234", 200),
            ("other.example:8443", 200),
            ("other.example", 421),
            ("public.example.net", 200),
            ("PUBLIC.example.net", 200),
            ("example.org", 421),
        ]:
            assert server.get("/healthz", Host=host).status_code == status
        for origin, status in [
            ("https://app.example.org", 200),
            ("https://public.example.net", 200),
            ("http://app.example.org", 403),
            ("https://app.example.org.evil.example", 403),
        ]:
            answered = server.get("/healthz", Origin=origin)
            assert answered.status_code == status
        browser = server.get("/healthz", Origin="https://app.example.org")
        assert browser.headers["access-control-allow-origin"] == "https://app.example.org"
        assert "access-control-allow-origin" not in server.get("/healthz").headers
        asked = {
            "Origin": "https://app.example.org",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization, content-type, mcp-protocol-version",
        }
        preflight = httpx2.options(server.url, headers=asked, timeout=SECONDS)
        assert preflight.status_code == 200
        assert "authorization" in preflight.headers["access-control-allow-headers"]


@pytest.mark.soak
def test_no_page_may_read_an_answer_unless_it_was_allowed(server: Served) -> None:
    asked = {"Origin": "http://localhost:3000", "Access-Control-Request-Method": "POST"}
    preflight = httpx2.options(server.url, headers=asked, timeout=SECONDS)
    assert preflight.status_code == 400
    assert "access-control-allow-origin" not in preflight.headers


@pytest.mark.soak
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--allowed-host", "*"),
        ("--allowed-host", "https://example.org"),
        ("--allowed-host", "a b"),
        ("--allowed-origin", "example.org"),
        ("--allowed-origin", "*"),
        ("--allowed-origin", "https://example.org/path"),
    ],
)
def test_what_is_no_host_or_origin_is_told(documents: Path, option: str, value: str) -> None:
    told = refused("--http", "--port", 0, option, value, index=documents)
    assert told.startswith(f"Error: {option}: {value!r} is not a")
