"""A server on this machine that speaks the protocol of the Hugging Face Hub, with one model."""

import hashlib
import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from tests.http_servers import listening

REPOSITORY: Final = "somebody/sentences"
COMMIT: Final = "0123456789abcdef0123456789abcdef01234567"
_LARGE: Final = (".onnx", "tokenizer.json")
"""Ends of the names of files that are stored with their SHA-256."""


class HubServer(ThreadingHTTPServer):
    """A hub with one model."""

    daemon_threads = True

    def __init__(self, files: Mapping[str, bytes], languages: list[str]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files = dict(files)
        self.languages = languages
        self.sent: list[str] = []
        self.sends: dict[str, bytes] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *_: object) -> None:
        """Write nothing about clients that left: a run of `idx` in this process has its stderr."""

    def described(self) -> dict[str, Any]:
        """The model as the API tells it."""
        return {
            "id": REPOSITORY,
            "sha": COMMIT,
            "cardData": {"language": self.languages},
            "siblings": [self._file(name, content) for name, content in self.files.items()],
        }

    def _file(self, name: str, content: bytes) -> dict[str, Any]:
        blob = hashlib.sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False)
        found: dict[str, Any] = {
            "rfilename": name,
            "size": len(content),
            "blobId": blob.hexdigest(),
        }
        if name.endswith(_LARGE):
            sha256 = hashlib.sha256(content).hexdigest()
            found["lfs"] = {"sha256": sha256, "size": len(content), "pointerSize": 134}
        return found


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: HubServer

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        path = unquote(urlsplit(self.path).path)
        api = f"/api/models/{REPOSITORY}"
        if path in {api, f"{api}/revision/main", f"{api}/revision/{COMMIT}"}:
            self._send(200, json.dumps(self.server.described()).encode(), with_body=with_body)
        elif path.startswith(f"{api}/revision/"):
            self._send(404, b"{}", X_Error_Code="RevisionNotFound", with_body=with_body)
        elif (name := path.removeprefix(f"/{REPOSITORY}/resolve/{COMMIT}/")) in self.server.files:
            content = self.server.sends.get(name, self.server.files[name])
            if with_body:
                self.server.sent.append(name)
            etag = f'"{hashlib.sha256(content).hexdigest()}"'
            self._send(200, content, ETag=etag, X_Repo_Commit=COMMIT, with_body=with_body)
        else:
            self._send(404, b"{}", X_Error_Code="RepoNotFound", with_body=with_body)

    def _send(self, status: int, body: bytes, *, with_body: bool, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def hub(files: Mapping[str, bytes], languages: list[str]) -> AbstractContextManager[HubServer]:
    return listening(HubServer(files, languages))
