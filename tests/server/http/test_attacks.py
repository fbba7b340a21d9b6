"""Tables of attacks by HTTP on a server that asks for a token; a new hole is a new row."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import httpx2
import pytest

from tests.server.http.served import SECONDS, Served, message, served

pytestmark = pytest.mark.soak

TOKEN: Final = "reader-" + "r" * 40
HOST: Final = b"Host: localhost\r\n"
AUTHORIZATION: Final = f"Authorization: Bearer {TOKEN}\r\n".encode()

LEAKS: Final = (b"some text", b"mcp_lucene_", b"Traceback", b"/site-packages/", b"hush")
"""Parts of documents, of metrics, of errors that nobody foresaw, and of what a request said."""


@pytest.fixture(scope="module")
def guarded(documents: Path) -> Iterator[Served]:
    """A server with one token, which meets no error that was not foreseen."""
    with served(documents, tokens=f"alice:read:{TOKEN}") as running:
        yield running
        assert " ERROR " not in running.logged()
        assert "Traceback" not in running.logged()
        assert TOKEN not in running.logged()
        assert running.call(headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200


def sent(server: Served, request: bytes) -> tuple[list[int], bytes]:
    """The statuses of all that is answered on one connection, and the whole of it."""
    received = b""
    with server.raw() as connection:
        connection.sendall(request)
        try:
            while part := connection.recv(1_000_000):
                received += part
                # What else comes is on its way.
                connection.settimeout(0.3)
        except (TimeoutError, ConnectionResetError):
            pass
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", received)], received


METHODS: Final = (
    *("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"),
    *("PROPFIND", "get", "M" * 100),
)

OPEN: Final = {"/healthz": {"GET", "HEAD"}, "/readyz": {"GET", "HEAD"}}
"""What is answered to everyone, by path and method."""

PATHS: Final = (
    *("/mcp", "/metrics", "/healthz", "/readyz", "/", "/mcp/", "/metrics/", "//metrics", "*"),
    *("/mcp%", "/%6dcp", "/mcp%00", "/metrics%00", "/metrics;x", "/metrics%20", "/metrics%ff"),
    *("/mcp%0a", "/metrics%0A", "/readyz%7f"),
    *("/mcp/../metrics", "/healthz/../metrics", "/healthz/..%2fmetrics", "/healthz;/../metrics"),
    *("/healthz%2f..%2fmetrics", "/./metrics", "/%2e%2e/metrics", "/..\\metrics", "/METRICS"),
    *("/metrics#x", "/metrics%23", "/metrics?token=x", "/%c0%af", "/%25%32%65", "/etc/passwd"),
    *("/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server"),
    *("/authorize", "/token", "/register", "/sse", "/messages/", "/docs", "/openapi.json"),
    *("http://evil.example/metrics", "http://localhost/metrics", "file:///etc/passwd", "evil:443"),
    *(f"/{'a/' * 4_000}", f"/{'%41' * 4_000}", f"/metrics?{'a&' * 4_000}"),
)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path[:40])
def test_no_path_opens_anything_without_a_token_by_any_method(guarded: Served, path: str) -> None:
    for method in METHODS:
        target = f"{method} {path} HTTP/1.1\r\n".encode()
        statuses, received = sent(guarded, target + HOST + b"Connection: close\r\n\r\n")
        (status,) = statuses
        if method in OPEN.get(path, ()):
            assert status == 200
        else:
            assert status in {303, 307, 400, 401, 404, 405}, (method, status)
        assert not [leak for leak in LEAKS if leak in received]
        if status == 303:
            assert b"location: ./sign-in" in received
        if status == 307:
            assert re.search(rb"location: http://localhost/(mcp|metrics)\r\n", received)


def test_a_token_makes_no_other_path_or_method_an_answer(guarded: Served) -> None:
    answered = {
        (path, method): sent(
            guarded,
            f"{method} {path} HTTP/1.1\r\n".encode()
            + HOST
            + AUTHORIZATION
            + b"Connection: close\r\n\r\n",
        )[0]
        for path in PATHS
        for method in ("GET", "POST", "PUT", "TRACE")
    }
    assert {request for request, statuses in answered.items() if statuses == [200]} == {
        ("/", "GET"),
        ("/healthz", "GET"),
        ("/readyz", "GET"),
        ("/metrics", "GET"),
        ("/metrics?token=x", "GET"),
        (f"/metrics?{'a&' * 4_000}", "GET"),
    }
    assert all(len(statuses) == 1 and statuses[0] < 500 for statuses in answered.values())


BODY, _HEADERS = message(query="text")
HEADERS: Final = "".join(f"{name}: {value}\r\n" for name, value in _HEADERS.items()).encode()
CALL: Final = b"POST /mcp HTTP/1.1\r\n" + HOST + AUTHORIZATION + HEADERS
OPEN_CALL: Final = b"POST /mcp HTTP/1.1\r\n" + HOST + HEADERS
LENGTH: Final = b"Content-Length: %d\r\n" % len(BODY)
CHUNKED: Final = b"Transfer-Encoding: chunked\r\n"
CHUNKS: Final = b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY)
HIDDEN: Final = b"GET /healthz HTTP/1.1\r\n" + HOST + b"X-Hidden: in a body\r\n\r\n"
"""A request that a proxy takes for a part of the body before it."""

GET: Final = b"GET /healthz HTTP/1.1\r\n"
METRICS: Final = b"GET /metrics HTTP/1.1\r\n" + HOST
CROSS_SITE: Final = b"Sec-Fetch-Site: cross-site\r\n"
BEARER: Final = b"Bearer " + TOKEN.encode()


class Attack(NamedTuple):
    """A request as it goes over the wire."""

    name: str
    request: bytes
    statuses: list[int]


WIRE: Final = (
    # One that is good, so that the others fail for what they try alone.
    Attack("a call", CALL + LENGTH + b"\r\n" + BODY, [200]),
    Attack("a call in chunks", CALL + CHUNKED + b"\r\n" + CHUNKS, [200]),
    # The end of a body.
    Attack("two lengths", CALL + LENGTH + b"Content-Length: 5\r\n\r\n" + BODY, [400]),
    Attack("a negative length", CALL + b"Content-Length: -1\r\n\r\n" + HIDDEN, [400]),
    Attack("a length with a sign", CALL + b"Content-Length: +5\r\n\r\n" + HIDDEN, [400]),
    Attack("a length in hex", CALL + b"Content-Length: 0x5\r\n\r\n" + HIDDEN, [400]),
    Attack("a length as Python", CALL + b"Content-Length: 1_0\r\n\r\n" + HIDDEN, [400]),
    Attack("a length of 30 digits", CALL + b"Content-Length: %b\r\n\r\n" % (b"9" * 30), [400]),
    Attack("Arabic digits", CALL + "Content-Length: ٣\r\n\r\n".encode() + HIDDEN, [400]),
    Attack("length, then chunks", CALL + LENGTH + CHUNKED + b"\r\n" + CHUNKS + HIDDEN, [400]),
    Attack("chunks, then length", CALL + CHUNKED + LENGTH + b"\r\n" + CHUNKS + HIDDEN, [400]),
    Attack("length 0 and chunks", GET + HOST + b"Content-Length: 0\r\n" + CHUNKED + b"\r\n", [400]),
    Attack("chunks in HTTP/1.0", CALL.replace(b"1.1", b"1.0", 1) + CHUNKED + b"\r\n", [400]),
    Attack("xchunked", CALL + b"Transfer-Encoding: xchunked\r\n\r\n" + CHUNKS, [400]),
    Attack("gzip, chunked", CALL + b"Transfer-Encoding: gzip, chunked\r\n\r\n", [400]),
    Attack("identity too", CALL + CHUNKED + b"Transfer-Encoding: identity\r\n\r\n", [400]),
    Attack("a blank before a colon", CALL + b"Transfer-Encoding : chunked\r\n\r\n" + HIDDEN, [400]),
    Attack("a vertical tab", CALL + b"Transfer-Encoding: \x0bchunked\r\n\r\n" + HIDDEN, [400]),
    Attack("a negative chunk", CALL + CHUNKED + b"\r\n-1\r\n" + HIDDEN, [400]),
    Attack("a chunk too large", CALL + CHUNKED + b"\r\n" + b"F" * 21 + b"\r\n" + HIDDEN, [400]),
    Attack("an endless chunk size", CALL + CHUNKED + b"\r\n5;" + b"x" * 20_000, [400]),
    Attack("chunks by LF", CALL + CHUNKED + b"\r\n5\nabcde\n0\n\n" + HIDDEN, [400]),
    Attack("a chunk that is longer", CALL + CHUNKED + b"\r\n5\r\nabcdeXX0\r\n\r\n" + HIDDEN, [400]),
    Attack(
        "a request as a body",
        GET + HOST + b"Content-Length: %d\r\n\r\n" % len(HIDDEN) + HIDDEN,
        [200],
    ),
    Attack("a body that is withheld", OPEN_CALL + b"Content-Length: 9\r\n\r\n", [401]),
    Attack(
        "a body that is asked for",
        OPEN_CALL + b"Expect: 100-continue\r\nContent-Length: 9\r\n\r\n",
        [401],
    ),
    Attack("a body of a terabyte", CALL + b"Content-Length: 1000000000000\r\n\r\n", [413]),
    # Lines and headers.
    Attack("one CR", b"GET /healthz HTTP/1.1\r" + HOST + b"\r\n", [400]),
    Attack("a CR in a value", METRICS + b"X: a\rAuthorization: " + BEARER + b"\r\n\r\n", [400]),
    Attack("a NUL in a value", METRICS + b"Authorization: \0" + BEARER + b"\r\n\r\n", [400]),
    Attack("a NUL in a name", METRICS + b"Authorization\0: " + BEARER + b"\r\n\r\n", [400]),
    Attack("a NUL in a path", b"GET /metrics\0 HTTP/1.1\r\n" + HOST + b"\r\n", [400]),
    Attack("a first line that goes on", b"GET /metrics HTTP/1.1\r\n " + HOST + b"\r\n", [400]),
    Attack("a host that goes on", GET + b"Host: localhost\r\n evil.example\r\n\r\n", [421]),
    Attack("a blank after Host", GET + b"Host : localhost\r\n\r\n", [400]),
    Attack("two hosts", GET + HOST + b"Host: evil.example\r\n\r\n", [400]),
    Attack("the same host twice", GET + HOST + HOST + b"\r\n", [400]),
    Attack("no host", GET + b"\r\n", [400]),
    Attack("no host in HTTP/1.0", b"GET /healthz HTTP/1.0\r\n\r\n", [421]),
    Attack("a list of hosts", GET + b"Host: localhost, evil.example\r\n\r\n", [421]),
    Attack(
        "a URL for another host", b"GET http://localhost/healthz HTTP/1.1\r\nHost: x\r\n\r\n", [421]
    ),
    Attack("20,000 headers", GET + HOST + b"a:\r\n" * 20_000 + b"\r\n", [400]),
    Attack("a long method", b"G" * 20_000 + b" / HTTP/1.1\r\n" + HOST + b"\r\n", [400]),
    Attack("a long path", b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", [400]),
    Attack("a name that is empty", GET + HOST + b": x\r\n\r\n", [400]),
    # Other protocols.
    Attack("HTTP/0.9", b"GET /metrics\r\n\r\n", [400]),
    Attack("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [421, 400]),
    Attack("h2c", METRICS + b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n", [401]),
    Attack("TLS", bytes.fromhex("16030100c8010000c40303") + bytes(99), [400]),
    Attack(
        "a web socket",
        b"GET /mcp HTTP/1.1\r\n" + HOST + b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
        [401],
    ),
    Attack("SMTP", b"EHLO evil.example\r\nMAIL FROM:<x@evil.example>\r\n\r\n", [400]),
    # Who asks.
    Attack(
        "a wrong token first",
        METRICS + b"Authorization: Bearer x\r\n" + AUTHORIZATION + b"\r\n",
        [401],
    ),
    Attack("two tokens", METRICS + b"Authorization: Bearer x, " + BEARER + b"\r\n\r\n", [401]),
    Attack(
        "a token as a cookie", METRICS + b"Cookie: Authorization=" + BEARER + b"\r\n\r\n", [401]
    ),
    Attack("a token of a proxy", METRICS + b"Proxy-Authorization: " + BEARER + b"\r\n\r\n", [401]),
    Attack("a name with _", METRICS + b"X_Authorization: " + BEARER + b"\r\n\r\n", [401]),
    Attack("a token of other bytes", METRICS + b"Authorization: Bearer \xff\xfe\r\n\r\n", [401]),
    Attack(
        "this machine as peer",
        METRICS + b"X-Forwarded-For: 127.0.0.1\r\nForwarded: for=127.0.0.1\r\n\r\n",
        [401],
    ),
    Attack(
        "another path",
        METRICS + b"X-Original-URL: /healthz\r\nX-Rewrite-URL: /healthz\r\n\r\n",
        [401],
    ),
    Attack(
        "another method",
        b"POST /healthz HTTP/1.1\r\n" + HOST + b"X-HTTP-Method-Override: GET\r\n\r\n",
        [405],
    ),
    Attack("an echo", b"TRACE /mcp HTTP/1.1\r\n" + HOST + b"Cookie: hush\r\n\r\n", [401]),
    Attack("a link on another site", METRICS + AUTHORIZATION + CROSS_SITE + b"\r\n", [403]),
    Attack(
        "a search by a link on another site",
        b"GET /?q=text HTTP/1.1\r\n" + HOST + AUTHORIZATION + CROSS_SITE + b"\r\n",
        [403],
    ),
    Attack("an origin that is null", METRICS + AUTHORIZATION + b"Origin: null\r\n\r\n", [403]),
    Attack("an origin of a file", METRICS + AUTHORIZATION + b"Origin: file://\r\n\r\n", [403]),
    Attack(
        "two origins",
        METRICS + AUTHORIZATION + b"Origin: http://localhost\r\nOrigin: null\r\n\r\n",
        [403],
    ),
    Attack(
        "origins in a list",
        METRICS + AUTHORIZATION + b"Origin: http://localhost null\r\n\r\n",
        [403],
    ),
    Attack(
        "an origin of 8 bits",
        METRICS + AUTHORIZATION + b"Origin: http://l\xf6calhost\r\n\r\n",
        [403],
    ),
)


@pytest.mark.parametrize("attack", WIRE, ids=lambda attack: attack.name)
def test_a_request_is_answered_for_what_it_is(guarded: Served, attack: Attack) -> None:
    statuses, received = sent(guarded, attack.request)
    assert statuses == attack.statuses
    if attack.name not in {"a call", "a call in chunks"}:
        assert not [leak for leak in LEAKS if leak in received]


LINES: Final = {
    "no JSON": b"{",
    "no UTF-8": b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}',
    "half a surrogate": b'{"jsonrpc": "2.0", "id": 1, "method": "\\ud800"}',
    "nested deeply": b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": ' + b"[" * 500_000,
    "closed, and nested deeply": b"[" * 100_000 + b"]" * 100_000,
    "a batch": b"[" + b",".join([BODY] * 1_000) + b"]",
    "a number of a megabyte": b'{"jsonrpc": "2.0", "id": ' + b"9" * 1_000_000 + b', "method": "x"}',
    "a method of a megabyte": b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * 1_000_000 + b'"}',
    "keys that repeat": b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "x", "method": "ping"}',
    "an id that is an object": b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}',
    "NaN": b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}',
    "gzip": b"\x1f\x8b\x08" + b"\0" * 1_000,
    "XML": b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>',
    "nothing": b"",
    "NULs": b"\0" * 1_000_000,
}


@pytest.mark.parametrize("body", LINES.values(), ids=LINES.keys())
def test_a_body_that_is_no_message_is_its_sender_s_mistake(guarded: Served, body: bytes) -> None:
    for headers in (_HEADERS, {**_HEADERS, "MCP-Protocol-Version": "2025-11-25"}):
        authorized = headers | {"Authorization": f"Bearer {TOKEN}"}
        answered = httpx2.post(guarded.url, content=body, headers=authorized, timeout=SECONDS)
        assert answered.status_code in {200, 202, 400, 404, 406}
        assert len(answered.content) < 3_000
        assert not [leak for leak in LEAKS if leak in answered.content]
