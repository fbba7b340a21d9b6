"""Tables of forged access tokens, and of authorization servers that mean harm."""

import base64
import gzip
import hashlib
import hmac
import json
import re
import time
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256

from server.http.access import MAX_SESSIONS
from tests.server.http.issuer import AUDIENCE, OWN, Issuer, issuing, status
from tests.server.http.served import SECONDS, Served, served

pytestmark = pytest.mark.soak

METADATA: Final = "/.well-known/oauth-authorization-server"
HOUR: Final = 3_600


def part(value: Any) -> str:
    """A part of a token: JSON, or bytes as they are, in base64."""
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def claims_of(issuer: Issuer) -> dict[str, Any]:
    body = issuer.token().split(".")[1]
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(body + "=="))
    return claims


_FORGER: Final = rsa.generate_private_key(65_537, 2_048)


def forged(issuer: Issuer, header: dict[str, Any], claims: dict[str, Any] | None = None) -> str:
    """A token that somebody else has signed, in the issuer's name."""
    signed = (
        f"{part({'alg': 'RS256', 'kid': 'RS256', **header})}.{part(claims or claims_of(issuer))}"
    )
    return f"{signed}.{part(_FORGER.sign(signed.encode(), PKCS1v15(), SHA256()))}"


def shared_secret(issuer: Issuer, secret: bytes, algorithm: str = "HS256") -> str:
    """A token signed with something that everyone knows."""
    signed = f"{part({'alg': algorithm, 'kid': 'RS256'})}.{part(claims_of(issuer))}"
    return f"{signed}.{part(hmac.digest(secret, signed.encode(), hashlib.sha256))}"


def with_header(issuer: Issuer, **header: Any) -> str:
    """A token whose header was changed after it was signed."""
    _, body, signature = issuer.token().split(".")
    return f"{part({'alg': 'RS256', 'kid': 'RS256', **header})}.{body}.{signature}"


def changed(issuer: Issuer, **claims: Any) -> str:
    """A token whose claims were changed after it was signed."""
    head, _, signature = issuer.token().split(".")
    return f"{head}.{part({**claims_of(issuer), **claims})}.{signature}"


def public_jwk() -> dict[str, Any]:
    """The forger's own key, as a token may carry it."""
    numbers = _FORGER.public_key().public_numbers()
    return {
        "kty": "RSA",
        "n": part(numbers.n.to_bytes(256, "big")),
        "e": part(numbers.e.to_bytes(3, "big")),
    }


def repeated(issuer: Issuer) -> str:
    """A token with the claim of an audience twice, the good one last; signed by the forger."""
    claims = json.dumps(claims_of(issuer)).replace('{"iss"', '{"aud": "https://other", "iss"', 1)
    signed = f"{part({'alg': 'RS256', 'kid': 'RS256'})}.{part(claims.encode())}"
    return f"{signed}.{part(_FORGER.sign(signed.encode(), PKCS1v15(), SHA256()))}"


ALGORITHMS: Final[list[Any]] = [
    *("none", "None", "nOnE", "", "HS256", "HS512", "RS1", "ES256K", "dir", None, [])
]

FORGED: Final[dict[str, Callable[[Issuer], str]]] = {
    # The signature.
    **{f"alg {name}": partial(forged, header={"alg": name}) for name in ALGORITHMS},
    "no signature": lambda issuer: issuer.token().rpartition(".")[0] + ".",
    "half a signature": lambda issuer: issuer.token()[:-100],
    "zeros as a signature": lambda issuer: issuer.token().rpartition(".")[0] + "." + "A" * 342,
    "zeros of ES256": lambda issuer: (
        f"{part({'alg': 'ES256', 'kid': 'ES256'})}.{part(claims_of(issuer))}.{part(bytes(64))}"
    ),
    "another's signature": lambda issuer: forged(issuer, {}),
    "the public key as a secret": lambda issuer: shared_secret(issuer, issuer.public_pem("RS256")),
    "the key set as a secret": lambda issuer: shared_secret(
        issuer, json.dumps(issuer.public("RS256")).encode()
    ),
    "nothing as a secret": lambda issuer: shared_secret(issuer, b""),
    "RS256 by HS256": lambda issuer: shared_secret(issuer, issuer.public_pem("RS256"), "RS256"),
    # The key.
    "no such key": lambda issuer: forged(issuer, {"kid": "other"}),
    "a key by path": lambda issuer: forged(issuer, {"kid": "../../../../dev/null"}),
    "a key by SQL": lambda issuer: forged(issuer, {"kid": "' UNION SELECT 'AAAA' --"}),
    "a key by command": lambda issuer: forged(issuer, {"kid": "|/usr/bin/id"}),
    "a key that is a number": lambda issuer: forged(issuer, {"kid": 7}),
    "a key that is a list": lambda issuer: forged(issuer, {"kid": ["RS256"]}),
    "a key that is null": lambda issuer: forged(issuer, {"kid": None}),
    "a key of its own": lambda issuer: forged(issuer, {"jwk": public_jwk()}),
    "a key of its own by name": lambda issuer: forged(issuer, {"kid": "x", "jwk": public_jwk()}),
    "keys at an address": lambda issuer: forged(issuer, {"jku": f"{issuer.url}/evil"}),
    "a certificate at an address": lambda issuer: forged(issuer, {"x5u": f"{issuer.url}/evil"}),
    "a certificate of its own": lambda issuer: forged(issuer, {"x5c": ["MIIB"], "x5t": "AAAA"}),
    # The form.
    "what is critical": lambda issuer: issuer.token(header={"crit": ["exp"]}),
    "not in base64": lambda issuer: issuer.token(header={"b64": False, "crit": ["b64"]}),
    "an encrypted token": lambda _: f"{part({'alg': 'dir', 'enc': 'A256GCM'})}..a.b.c",
    "claims that were changed": lambda issuer: changed(issuer, scope="admin read"),
    "nonsense": lambda _: "x",
    "points": lambda _: "....",
    "in four parts": lambda issuer: issuer.token() + ".x",
    "in two parts": lambda issuer: issuer.token().rpartition(".")[0],
    "with blanks": lambda issuer: issuer.token().replace(".", " . "),
    "padded": lambda issuer: issuer.token().replace(".", "==.", 1),
    "a header that is a list": lambda issuer: f"{part([])}.{part(claims_of(issuer))}.x",
    "a header that is deep": lambda _: f"{part(b'[' * 9_000)}.e30.x",
    "claims that are deep": lambda _: (
        f"{part({'alg': 'RS256', 'kid': 'RS256'})}.{part(b'[' * 9_000)}.x"
    ),
    "claims twice": repeated,
    "15 kB": lambda issuer: issuer.token(more="x" * 11_000)[:-1] + "!",
    "NULs": lambda _: part(bytes(100)) + ".AA.AA",
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED.keys())
def test_a_forged_token_opens_nothing(
    protected: Served, issuer: Issuer, forge: Callable[[Issuer], str]
) -> None:
    token = forge(issuer)
    assert status(protected, token) == 401
    assert token not in protected.logged()


NOW: Final = int(time.time())

CLAIMS: Final[dict[str, tuple[dict[str, Any], int]]] = {
    "expired long ago": ({"exp": 0}, 401),
    "expired before time": ({"exp": -1e300}, 401),
    "an end that is a text": ({"exp": "tomorrow"}, 401),
    "an end that is a list": ({"exp": [NOW + HOUR]}, 401),
    "an end that is an object": ({"exp": {"$gt": 0}}, 401),
    "an end that is null": ({"exp": None}, 401),
    "an end that is true": ({"exp": True}, 401),
    "an end that never comes": ({"exp": float("inf")}, 401),
    "an end that is no number": ({"exp": float("nan")}, 401),
    "a beginning that never comes": ({"nbf": float("inf")}, 401),
    "a beginning that is a list": ({"nbf": [0]}, 401),
    "issued in future": ({"iat": NOW + HOUR}, 401),
    "issued in infinity": ({"iat": float("inf")}, 401),
    "an issuer with a slash": ({"iss": "SLASH"}, 401),
    "an audience that begins so": ({"aud": AUDIENCE + ".evil.example"}, 401),
    "an audience in part": ({"aud": AUDIENCE[:-4]}, 401),
    "an audience of stars": ({"aud": "*"}, 401),
    "audiences without this": ({"aud": ["https://a.example", "https://b.example"]}, 401),
    "audiences that are lists": ({"aud": [[AUDIENCE]]}, 401),
    "audiences that are objects": ({"aud": {AUDIENCE: True}}, 401),
    "no scope": ({"without": "scope"}, 403),
    "a scope to write": ({"scope": "write"}, 403),
    "the scope to change something": ({"scope": "admin"}, 403),
    "a scope that is a number": ({"scope": 5}, 403),
    "a scope that begins so": ({"scope": "reader read:all"}, 403),
    "scopes by comma": ({"scope": "openid,read"}, 403),
    "scopes in lists": ({"scope": [["read"]]}, 403),
    "scopes in an object": ({"scope": {"read": True}}, 403),
    "audiences with this": ({"aud": ["https://other.example.org", AUDIENCE]}, 200),
    "a beginning that is left out": ({"without": "nbf"}, 200),
    "scopes by blank": ({"scope": "openid read admin"}, 200),
    "scopes in a list": ({"scope": ["read"]}, 200),
    "scopes by another name": ({"without": "scope", "scp": "read"}, 200),
    "scopes in a list by another name": ({"without": "scope", "scp": ["email", "read"]}, 200),
    "a name with a line": ({"client_id": "x\n2026-01-01 WARNING forged token=own"}, 200),
    "a name with colours": ({"client_id": "\x1b[31mred\u202e"}, 200),
    "a subject that is a list": ({"sub": ["own"]}, 401),
    "a name that is an object": ({"client_id": {"name": "own"}}, 200),
}


@pytest.mark.parametrize(("claims", "expected"), CLAIMS.values(), ids=CLAIMS.keys())
def test_what_a_signed_token_says_is_held_against_it(
    protected: Served, issuer: Issuer, claims: dict[str, Any], expected: int
) -> None:
    if claims.get("iss") == "SLASH":
        claims = {"iss": issuer.url + "/"}
    assert status(protected, issuer.token(**claims)) == expected
    logged = protected.logged()
    assert "\n2026-01-01" not in logged
    assert not {"\x1b", "\u202e"} & set(logged)


def answer(
    handler: BaseHTTPRequestHandler, body: Any = b"", code: int = 200, **headers: str
) -> None:
    handler.send_response(code)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())


def endless(handler: BaseHTTPRequestHandler) -> None:
    answer(handler, b'{"keys": [')
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        handler.wfile.write(b'{"kty": "RSA"},' * 100)


def trickling(handler: BaseHTTPRequestHandler) -> None:
    answer(handler, b'{"keys": [')
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        handler.wfile.write(b" ")
        time.sleep(0.2)


def silent(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.settimeout(SECONDS)
    handler.rfile.read(1)


Answer = Callable[[Issuer, BaseHTTPRequestHandler], None]

SERVERS: Final[dict[str, tuple[str, Answer]]] = {
    "keys that never come": ("/keys", lambda _, handler: silent(handler)),
    "keys that trickle": ("/keys", lambda _, handler: trickling(handler)),
    "keys without end": ("/keys", lambda _, handler: endless(handler)),
    "keys that blow up": (
        "/keys",
        lambda _, handler: answer(
            handler, gzip.compress(b" " * 300_000_000), Content_Encoding="gzip"
        ),
    ),
    "keys elsewhere": (
        "/keys",
        lambda issuer, handler: answer(handler, code=302, Location=f"{issuer.url}/other"),
    ),
    "keys in a file": (
        "/keys",
        lambda _, handler: answer(handler, code=307, Location="file:///etc/passwd"),
    ),
    "keys beside an error": (
        "/keys",
        lambda issuer, handler: answer(handler, {"keys": issuer.published}, code=500),
    ),
    "keys as a page": (
        "/keys",
        lambda _, handler: answer(handler, b"<html>sign in</html>", Content_Type="text/html"),
    ),
    "keys that are deep": (
        "/keys",
        lambda _, handler: answer(handler, b'{"keys":' + b"[" * 400_000),
    ),
    "keys of a megabyte": (
        "/keys",
        lambda issuer, handler: answer(
            handler, json.dumps({"keys": issuer.published}).encode() + b" " * 1_000_000
        ),
    ),
    "keys in UTF-7": ("/keys", lambda _, handler: answer(handler, b"+AHs-\xff")),
    "no keys": ("/keys", lambda _, handler: answer(handler, b'{"keys": []}')),
    "keys that are a text": ("/keys", lambda _, handler: answer(handler, b'{"keys": "RS256"}')),
    "keys that are no objects": (
        "/keys",
        lambda _, handler: answer(handler, b'{"keys": [null, 7, "x", [], [[{}]]]}'),
    ),
    "a list of nothing": ("/keys", lambda _, handler: answer(handler, ["no object"])),
    "keys without numbers": (
        "/keys",
        lambda _, handler: answer(
            handler, {"keys": [{"kty": "RSA", "kid": "RS256"}, {"kid": "x"}]}
        ),
    ),
    "a secret as a key": (
        "/keys",
        lambda _, handler: answer(handler, {"keys": [{"kty": "oct", "kid": "RS256", "k": "AAAA"}]}),
    ),
    "keys of odd numbers": (
        "/keys",
        lambda _, handler: answer(
            handler, {"keys": [{"kty": "RSA", "kid": "RS256", "n": 5, "e": ["AQAB"]}]}
        ),
    ),
    "a key of a million bits": (
        "/keys",
        lambda _, handler: answer(
            handler, {"keys": [{"kty": "RSA", "kid": "RS256", "n": "_" * 160_000, "e": "AQAB"}]}
        ),
    ),
    "two keys of a name": (
        "/keys",
        lambda issuer, handler: answer(
            handler, {"keys": [*issuer.published, {**public_jwk(), "kid": "RS256", "alg": "RS256"}]}
        ),
    ),
    "a key to encrypt": (
        "/keys",
        lambda issuer, handler: answer(
            handler, {"keys": [{**key, "use": "enc"} for key in issuer.published]}
        ),
    ),
    "metadata without end": (METADATA, lambda _, handler: endless(handler)),
    "metadata that are deep": (METADATA, lambda _, handler: answer(handler, b"[" * 400_000)),
    "no metadata": (METADATA, lambda _, handler: answer(handler, code=404)),
    "metadata of another": (
        METADATA,
        lambda issuer, handler: answer(
            handler, {"issuer": f"{issuer.url}/", "jwks_uri": f"{issuer.url}/keys"}
        ),
    ),
    "metadata with a file": (
        METADATA,
        lambda issuer, handler: answer(
            handler, {"issuer": issuer.url, "jwks_uri": "file:///etc/passwd"}
        ),
    ),
    "metadata with no address": (
        METADATA,
        lambda issuer, handler: answer(handler, {"issuer": issuer.url, "jwks_uri": "http://[::1"}),
    ),
    "metadata elsewhere": (
        METADATA,
        lambda issuer, handler: answer(handler, code=301, Location=f"{issuer.url}/moved"),
    ),
}


@pytest.mark.parametrize(("path", "hostile"), SERVERS.values(), ids=SERVERS.keys())
def test_a_hostile_authorization_server_lets_nobody_in_and_keeps_nobody_out(
    documents: Path, path: str, hostile: Answer
) -> None:
    with issuing() as issuer:
        issuer.documents["/other"] = {"keys": issuer.published}
        issuer.documents["/moved"] = issuer.documents[METADATA]
        issuer.answers[path] = lambda handler: hostile(issuer, handler)
        with served(documents, *issuer.options, tokens=f"own:read:{OWN}") as server:
            began = time.monotonic()
            assert status(server, issuer.token()) == 401
            assert time.monotonic() - began < 30
            assert status(server, OWN) == 200
            assert not {"/other", "/moved"} & set(issuer.asked)
            # A key that can be used, but is another one, is found out by the signature.
            assert re.search("token_refused reason=Invalid(Key|Signature)Error", server.logged())
            assert "Traceback" not in server.logged()
            resident = Path(f"/proc/{server.process.pid}/status").read_text()
            (most,) = [line.split()[1] for line in resident.splitlines() if "VmHWM" in line]
            assert int(most) < 700_000


def sign_in(server: Served, token: str, times: int = 1) -> list[httpx2.Response]:
    url, form = f"{server.base}/sign-in", {"token": token}
    with httpx2.Client(headers={"Origin": server.base}, timeout=SECONDS) as client:
        return [client.post(url, data=form) for _ in range(times)]


def secret_of(signed_in: httpx2.Response) -> tuple[str, str]:
    """The name and the value of the cookie of a sign-in."""
    ((name, secret),) = signed_in.cookies.items()
    return name, secret


SESSIONS: Final[dict[str, Callable[[Served, str, str], int]]] = {
    "as a token of MCP": lambda server, _, secret: status(server, secret),
    "as a token of the API": lambda server, _, secret: (
        server.get("/api/search", Authorization=f"Bearer {secret}").status_code
    ),
    "as a token of the pages": lambda server, _, secret: (
        server.get("/api/search?query=x", Authorization=f"bearer {secret}").status_code
    ),
    "as the token of another sign-in": lambda server, _, secret: (
        sign_in(server, secret)[0].status_code
    ),
    "its hash as a token": lambda server, _, secret: status(
        server, hashlib.sha256(secret.encode()).hexdigest()
    ),
    "its hash in the cookie": lambda server, name, secret: (
        server.get(
            "/api/search?query=x", Cookie=f"{name}={hashlib.sha256(secret.encode()).hexdigest()}"
        ).status_code
    ),
    "the token itself in the cookie": lambda server, name, _: (
        server.get("/api/search?query=x", Cookie=f"{name}={OWN}").status_code
    ),
}


@pytest.mark.parametrize("use", SESSIONS.values(), ids=SESSIONS.keys())
def test_the_secret_of_a_session_opens_nothing_but_as_its_cookie(
    protected: Served, use: Callable[[Served, str, str], int]
) -> None:
    name, secret = secret_of(*sign_in(protected, OWN))
    cookie = {"Cookie": f"{name}={secret}"}
    assert protected.get("/api/search?query=x", **cookie).status_code == 200
    assert use(protected, name, secret) == 401
    assert secret not in protected.logged()


def test_sign_ins_of_one_token_end_no_session_of_another(documents: Path) -> None:
    other = "other-" + "p" * 40
    with served(documents, tokens=f"own:read:{OWN} other:read:{other}") as server:
        name, secret = secret_of(*sign_in(server, OWN))
        first, *_ = map(secret_of, sign_in(server, other, MAX_SESSIONS))
        for known, expected in ((secret, 200), (first[1], 401)):
            cookie = {"Cookie": f"{name}={known}"}
            assert server.get("/api/search?query=x", **cookie).status_code == expected
