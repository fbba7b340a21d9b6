"""An authorization server of the tests: it publishes keys, and signs what it is told to."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import get_default_algorithms

from tests.http_servers import listening
from tests.server.http.served import Served, bearer

AUDIENCE = "https://search.example.org/mcp"

OWN = "own-" + "o" * 40  # a token of the server's own


class Issuer:
    """Signs access tokens with keys of several kinds."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._private: dict[str, Any] = {
            "RS256": rsa.generate_private_key(65_537, 2_048),
            "ES256": ec.generate_private_key(ec.SECP256R1()),
            "EdDSA": ed25519.Ed25519PrivateKey.generate(),
        }
        self.asked: list[str] = []
        self.published = [self.public(algorithm) for algorithm in self._private]
        metadata = {"issuer": url, "jwks_uri": f"{url}/keys"}
        self.documents: dict[str, Any] = {
            "/.well-known/oauth-authorization-server": metadata,
            "/keys": {"keys": self.published},
        }
        self.answers: dict[str, Callable[[BaseHTTPRequestHandler], None]] = {}

    @property
    def options(self) -> list[str]:
        """Options of a server that believes this issuer."""
        return ["--oauth-issuer", self.url, "--oauth-audience", AUDIENCE]

    def public(self, algorithm: str) -> dict[str, Any]:
        key = self._private[algorithm].public_key()
        shown = get_default_algorithms()[algorithm].to_jwk(key, as_dict=True)
        return {**shown, "kid": algorithm, "use": "sig"}

    def public_pem(self, algorithm: str) -> bytes:
        pem: bytes = (
            self._private[algorithm]
            .public_key()
            .public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        )
        return pem

    def token(
        self,
        algorithm: str = "RS256",
        *,
        kid: str | None = None,
        without: str = "",
        header: dict[str, Any] | None = None,
        **claims: Any,
    ) -> str:
        """An access token that is good, but for what is given or left out of it."""
        now = int(time.time())
        good = {
            "iss": self.url,
            "aud": AUDIENCE,
            "exp": now + 300,
            "nbf": now - 5,
            "iat": now,
            "sub": "user-7",
            "client_id": "assistant",
            "scope": "read",
        }
        said = {name: value for name, value in {**good, **claims}.items() if name != without}
        key = self._private[algorithm]
        return jwt.encode(said, key, algorithm, headers={"kid": kid or algorithm, **(header or {})})

    def renew(self, algorithm: str, kid: str) -> str:
        """A token of a new key, which is published under a name."""
        self._private[algorithm] = rsa.generate_private_key(65_537, 2_048)
        self.published.append({**self.public(algorithm), "kid": kid})
        return self.token(algorithm, kid=kid)


class Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's
        """Nobody reads it."""


@contextmanager
def issuing() -> Iterator[Issuer]:
    class Documents(Handler):
        def do_GET(self) -> None:
            issuer.asked.append(self.path)
            if self.path in issuer.answers:
                # The client may leave before it has everything.
                with suppress(ConnectionError):
                    issuer.answers[self.path](self)
                return
            document = issuer.documents.get(self.path)
            self.send_response(404 if document is None else 200)
            self.end_headers()
            if not isinstance(document, bytes):
                document = json.dumps(document).encode()
            self.wfile.write(document)

    with listening(ThreadingHTTPServer(("127.0.0.1", 0), Documents)) as server:
        issuer = Issuer(f"http://127.0.0.1:{server.server_port}")
        yield issuer


def status(server: Served, token: str) -> int:
    return server.call(headers=bearer(token), query="text").status_code
