"""Where the server listens, and that it lets nobody in from elsewhere by mistake."""

import socket
import ssl
from pathlib import Path

import httpx2
import pytest

from tests.programs import PROGRAMS, run
from tests.server.http.served import SECONDS, bearer, message, refused, served

READER = "r" * 40


@pytest.mark.parametrize(
    ("option", "value", "reached"),
    [
        ("--host", "0.0.0.0", "0.0.0.0"),  # noqa: S104
        pytest.param("--host", "::", "::", marks=pytest.mark.soak),
        pytest.param("--host", "192.0.2.1", "192.0.2.1", marks=pytest.mark.soak),
        pytest.param("--host", "::ffff:127.0.0.1", "::ffff:127.0.0.1", marks=pytest.mark.soak),
        # A proxy lets them in.
        ("--public-url", "https://search.example.org/mcp", "search.example.org"),
    ],
)
def test_other_machines_are_not_let_in_without_authentication(
    documents: Path, option: str, value: str, reached: str
) -> None:
    told = refused("--http", "--port", 0, option, value, index=documents)
    assert f"other machines reach {reached}" in told
    assert "--token-file" in told
    assert "--insecure" in told


@pytest.mark.soak
def test_insecure_lets_them_in_and_says_so(documents: Path) -> None:
    options = ["--host", "0.0.0.0", "--insecure"]  # noqa: S104
    with served(documents, *options) as server:
        assert server.url == f"http://0.0.0.0:{server.port}/mcp"
        local = f"http://127.0.0.1:{server.port}/healthz"
        assert httpx2.get(local, timeout=SECONDS).status_code == 200
        elsewhere = {"Host": f"192.0.2.1:{server.port}"}
        assert httpx2.get(local, headers=elsewhere, timeout=SECONDS).status_code == 421
        assert "not_encrypted host=0.0.0.0" in server.logged()
        assert "no_name host=0.0.0.0" in server.logged()


@pytest.mark.soak
def test_a_public_url_of_this_machine_lets_nobody_in(documents: Path) -> None:
    options = ["--public-url", "http://localhost:8080/mcp"]
    with served(documents, *options) as server:
        assert server.get("/healthz").status_code == 200


@pytest.mark.soak
def test_authentication_lets_them_in(documents: Path) -> None:
    tokens = f"alice:read:{READER}"
    options = ["--host", "0.0.0.0", "--allowed-host", "Search.example.org"]  # noqa: S104
    with served(documents, *options, tokens=tokens) as server:
        local = f"http://127.0.0.1:{server.port}/metrics"
        assert httpx2.get(local, timeout=SECONDS).status_code == 401
        own = {"Host": f"SEARCH.example.org:{server.port}"} | bearer(READER)
        assert httpx2.get(local, headers=own, timeout=SECONDS).status_code == 200
        body, headers = message(query="text")
        local = f"http://127.0.0.1:{server.port}/mcp"
        answered = httpx2.post(local, content=body, headers=headers | own, timeout=SECONDS)
        assert answered.status_code == 200
        assert "no_name" not in server.logged()


@pytest.mark.soak
@pytest.mark.parametrize(("host", "shown"), [("localhost", "localhost"), ("::1", "[::1]")])
def test_loopback_has_other_names(documents: Path, host: str, shown: str) -> None:
    with served(documents, "--host", host) as server:
        assert server.url.startswith(f"http://{shown}:")
        assert server.get("/healthz").status_code == 200
        assert server.call(query="text").status_code == 200


@pytest.mark.soak
def test_a_port_that_is_taken_is_told(documents: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        told = refused("--http", "--port", port, index=documents)
    assert f"cannot listen on port {port} of 127.0.0.1: Address already in use" in told


@pytest.mark.soak
def test_a_host_that_does_not_exist_is_told(documents: Path) -> None:
    for host in ("no.invalid", "no..invalid", "x" * 64):
        told = refused("--http", "--host", host, index=documents)
        assert f"there is no host '{host}'" in told


@pytest.mark.soak
@pytest.mark.parametrize(
    "option",
    [
        ("--port", "8000"),
        ("--host", "127.0.0.1"),
        ("--token-file", "x"),
        ("--allowed-host", "x"),
        ("--max-body", "1"),
        ("--json-logs",),
        ("--insecure",),
    ],
)
def test_an_option_of_http_needs_it(documents: Path, option: tuple[str, ...]) -> None:
    assert refused(*option, index=documents) == f"Error: {option[0]} needs --http\n"


@pytest.mark.soak
@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--oauth-audience", "x"], "--oauth-audience and --oauth-jwks-url need --oauth-issuer"),
        (["--oauth-issuer", "http://issuer.example"], "http://issuer.example is not encrypted"),
        (["--oauth-issuer", "issuer.example"], "'issuer.example' is not a URL"),
        (["--public-url", "ftp://x/mcp"], "--public-url: 'ftp://x/mcp' is not a URL"),
        (["--tls-key", "x"], "--tls-key needs --tls-certificate"),
        (["--tls-certificate", "/none"], "the certificate /none and its key cannot be used"),
        (["--tools", "Serch"], "did you mean 'Search'"),
    ],
)
def test_options_that_cannot_be_are_told(documents: Path, options: list[str], told: str) -> None:
    assert told in refused("--http", "--port", 0, *options, index=documents)


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate that signs itself, and its key."""
    files = tmp_path / "certificate.pem", tmp_path / "key.pem"
    run(
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
        *("-nodes", "-days", "1", "-subj", "/CN=localhost", "-out", files[0]),
        *("-keyout", files[1], "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
    )
    return files


@pytest.mark.soak
def test_tls(documents: Path, certificate: tuple[Path, Path]) -> None:
    options = ["--tls-certificate", certificate[0], "--tls-key", certificate[1]]
    with served(documents, *options) as server:
        assert server.url.startswith("https://127.0.0.1:")
        trust = ssl.create_default_context(cafile=str(certificate[0]))
        body, headers = message(query="text")
        with httpx2.Client(verify=trust, timeout=SECONDS) as client:
            answered = client.post(server.url, content=body, headers=headers)
            assert answered.json()["result"]["structuredContent"]["totalHits"] == 1
            own = {"Origin": server.base}
            assert client.get(f"{server.base}/healthz", headers=own).status_code == 200
        with pytest.raises(httpx2.HTTPError):
            httpx2.get(server.url, timeout=SECONDS)
        with pytest.raises(httpx2.HTTPError):
            httpx2.get(server.url.replace("https", "http"), timeout=SECONDS)


@pytest.mark.soak
def test_a_key_of_another_certificate_is_told(
    documents: Path, certificate: tuple[Path, Path]
) -> None:
    key, text = certificate[1], certificate[0].read_text()
    key.write_text(text)
    told = refused(
        *("--http", "--port", 0, "--tls-certificate", certificate[0], "--tls-key", key),
        index=documents,
    )
    assert f"the certificate {certificate[0]} and its key cannot be used" in told


@pytest.mark.soak
def test_help_names_the_options_and_starts_nothing() -> None:
    done = run(PROGRAMS / "mcp-lucene", "--help")
    assert "--oauth-issuer" in done.stdout
