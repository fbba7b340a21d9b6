"""Only the names that lead here, and only the web pages that may, are answered: on every path."""

from pathlib import Path

import httpx2
import pytest

from tests.server.http.served import SECONDS, Served, refused, served_here

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
def test_a_request_with_two_hosts_or_none_is_refused(server: Served) -> None:
    for headers in (b"", b"Host: localhost\r\nHost: evil.example\r\n"):
        with server.raw() as connection:
            connection.sendall(b"GET /healthz HTTP/1.1\r\n" + headers + b"\r\n")
            assert connection.recv(1_000).startswith(b"HTTP/1.1 400 ")


@pytest.mark.soak
def test_other_names_and_origins_are_answered_where_they_are_allowed(
    documents: Path, tmp_path: Path
) -> None:
    options = [
        *("--allowed-host", "search.example.org", "--allowed-host", "other.example:8443"),
        *("--allowed-origin", "https://app.example.org"),
        *("--public-url", "https://public.example.net:443/search/mcp", "--insecure"),
    ]
    with served_here(documents, *options, log=tmp_path / "log") as server:
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
