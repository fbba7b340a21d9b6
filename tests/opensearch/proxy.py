"""A reverse proxy before a node, as people put one there: TLS, passwords and tokens."""

import base64
import gzip
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.http_servers import listening
from tests.opensearch.node import Node

USER, PASSWORD, TOKEN = "reader", "password of the reader", "token-of-the-reader"


Instead = Callable[[str, bytes], tuple[int, bytes] | None]


class Proxy(ThreadingHTTPServer):
    """The proxy.

    Attributes:
        seen: the values of the header Authorization.
        bodies: what was sent, unpacked.
        troubles: statuses with which it answers every third request in place of the node.
        is_busy: whether it answers every request with 429.
        instead: what it answers in place of the node, which has done what was asked: a function of
            method and path, and of the node's answer, which returns a status and a body, or None.
        drops: whether it closes the connection instead of passing on a request, as a function of
            method and path.
        root: what it answers at ``/`` in place of the node; empty for the node's own answer.
    """

    daemon_threads = True

    def __init__(self, node: Node) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.node = node
        self.seen: set[str] = set()
        self.bodies: list[bytes] = []
        self.troubles: Iterator[int] = iter(())
        self.is_busy = False
        self.instead: Instead = lambda *_: None
        self.drops: Callable[[str], bool] = lambda _: False
        self.root = b""
        self.asks_who = True

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _pass_on(self) -> None:
        proxy = self.server
        assert isinstance(proxy, Proxy)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)) or None
        is_packed = self.headers.get("Content-Encoding") == "gzip"
        proxy.bodies.append(gzip.decompress(body) if body and is_packed else body or b"")
        given = self.headers.get("Authorization", "")
        proxy.seen.add(given)
        basic = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if proxy.asks_who and given not in {basic, f"Bearer {TOKEN}"}:
            self._answer(401, b"Unauthorized", "text/plain")
            return
        if proxy.is_busy:
            self._answer(429, b"{}", "application/json")
            return
        if proxy.drops(f"{self.command} {self.path}"):
            self.close_connection = True
            return
        is_third = len(proxy.bodies) % 3 == 0
        if is_third and (trouble := next(proxy.troubles, None)):
            self._answer(trouble, b"{}", "application/json")
            return
        if self.path == "/" and proxy.root:
            self._answer(200, proxy.root, "application/json")
            return
        names = ("Content-Type", "Content-Encoding")
        headers = {name: self.headers[name] for name in names if name in self.headers}
        asked = urllib.request.Request(  # noqa: S310 - the node's address
            f"{proxy.node.url}{self.path}", body, headers, method=self.command
        )
        try:
            with urllib.request.urlopen(asked, timeout=60) as answer:  # noqa: S310 - as above
                body = answer.read()
                kind = answer.headers["Content-Type"]
                told = proxy.instead(f"{self.command} {self.path}", body)
                status, body = told or (answer.status, body)
                self._answer(status, body, kind)
        except urllib.error.HTTPError as error:
            self._answer(error.code, error.read(), error.headers["Content-Type"])

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _pass_on  # noqa: N815 - of the library

    def _answer(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def before(
    node: Node, certificate: tuple[Path, Path] | None = None
) -> AbstractContextManager[Proxy]:
    """Run a proxy before a node, with TLS if there is a certificate and its key."""
    proxy = Proxy(node)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        proxy.socket = context.wrap_socket(proxy.socket, server_side=True)
    return listening(proxy)
