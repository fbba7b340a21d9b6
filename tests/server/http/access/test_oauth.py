"""Access tokens of an authorization server: those that hold, and every kind that does not."""

import time
from pathlib import Path
from typing import Any

import pytest

from tests.server.http.issuer import AUDIENCE, OWN, Issuer, issuing, status
from tests.server.http.served import Served, bearer, initialize, served
from tests.waiting import wait_for

pytestmark = pytest.mark.soak

METADATA = "/.well-known/oauth-authorization-server"


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
def test_a_token_of_the_issuer_opens_the_server(
    protected: Served, issuer: Issuer, algorithm: str
) -> None:
    token = issuer.token(algorithm)
    assert status(protected, token) == 200
    assert initialize(protected, **bearer(token)).status_code == 200
    assert "access_token=assistant" in protected.logged()


def test_clocks_may_differ_a_little(protected: Served, issuer: Issuer) -> None:
    now = int(time.time())
    assert status(protected, issuer.token(exp=now - 10)) == 200
    assert status(protected, issuer.token(nbf=now + 20)) == 200
    assert status(protected, issuer.token(exp=now - 40)) == 401


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"exp": int(time.time()) - 3_600}, "ExpiredSignatureError"),
        ({"without": "exp"}, "MissingRequiredClaimError"),
        ({"nbf": int(time.time()) + 3_600}, "ImmatureSignatureError"),
        ({"aud": "https://other.example.org/mcp"}, "InvalidAudienceError"),
        ({"aud": AUDIENCE + "/"}, "InvalidAudienceError"),
        ({"without": "aud"}, "MissingRequiredClaimError"),
        ({"iss": "https://evil.example"}, "InvalidIssuerError"),
        ({"without": "iss"}, "MissingRequiredClaimError"),
        ({"kid": "ES256"}, "InvalidKeyError"),
        ({"kid": "unknown"}, "InvalidKeyError"),
    ],
)
def test_a_token_that_does_not_hold_is_refused_and_the_log_says_why(
    protected: Served, issuer: Issuer, claims: dict[str, Any], reason: str
) -> None:
    token = issuer.token(**claims)
    line = f"token_refused reason={reason}"
    before = protected.logged().count(line)
    assert status(protected, token) == 401
    wait_for(lambda: protected.logged().count(line) == before + 1, line)
    assert token not in protected.logged()


def test_a_client_cannot_pass_for_a_token_of_the_server_in_the_log(
    protected: Served, issuer: Issuer
) -> None:
    before = protected.logged().count(" token=own")
    assert status(protected, issuer.token(client_id="own")) == 200
    wait_for(lambda: " access_token=own" in protected.logged(), "the token's name")
    assert protected.logged().count(" token=own") == before
    assert status(protected, OWN) == 200
    assert protected.logged().count(" token=own") == before + 1


def test_the_scope_to_change_something_is_asked_for_this_server_alone(
    documents: Path, tmp_path: Path, issuer: Issuer
) -> None:
    with served(documents, *issuer.options, "--admin", "--root", tmp_path) as server:
        for audience, is_refused in [
            (AUDIENCE, False),
            ([AUDIENCE], False),
            ([AUDIENCE, "https://other.example.org"], True),
            (["https://other.example.org", AUDIENCE], True),
        ]:
            token = issuer.token(aud=audience, scope="read admin")
            told = server.call("admin_status", bearer(token)).text
            assert ("needs the scope 'admin'" in told) is is_refused
            assert status(server, token) == 200


def test_a_client_is_told_where_to_get_a_token(protected: Served, issuer: Issuer) -> None:
    refused = protected.call(query="text")
    assert refused.status_code == 401
    where = f"{protected.base}/.well-known/oauth-protected-resource/mcp"
    assert f'resource_metadata="{where}"' in refused.headers["www-authenticate"]
    metadata = protected.get("/.well-known/oauth-protected-resource/mcp").json()
    assert metadata["resource"] == protected.url
    assert metadata["authorization_servers"] == [issuer.url]
    assert metadata["scopes_supported"] == ["read"]


def test_keys_are_asked_for_once_in_a_while(documents: Path) -> None:
    with issuing() as issuer, served(documents, *issuer.options) as server:
        assert status(server, issuer.token()) == 200
        time.sleep(10)
        before = len(issuer.asked)
        for number in range(20):
            assert status(server, issuer.token(kid=f"unknown-{number}")) == 401
            assert status(server, issuer.token()) == 200
        # Metadata and keys.
        assert len(issuer.asked) - before <= 2 * 3
        renewed = issuer.renew("RS256", "new")
        wait_for(lambda: status(server, renewed) != 401, every=1)


def test_an_answer_without_keys_leaves_those_that_are_there(documents: Path) -> None:
    with issuing() as issuer, served(documents, *issuer.options) as server:
        assert status(server, issuer.token()) == 200
        issuer.documents["/keys"] = {"error": "maintenance"}
        wait_for(
            lambda: (
                status(server, issuer.token(kid="unknown")) == 401
                and "keys_unavailable" in server.logged()
            ),
            "the keys are asked for once more",
        )
        assert status(server, issuer.token()) == 200


def test_the_audience_is_the_public_url_and_the_keys_may_be_elsewhere(documents: Path) -> None:
    with issuing() as issuer:
        del issuer.documents[METADATA]
        options = [
            *("--oauth-issuer", issuer.url, "--oauth-jwks-url", f"{issuer.url}/keys"),
            *("--public-url", "https://search.example.org/deep/mcp"),
        ]
        with served(documents, *options) as server:
            own = issuer.token(aud="https://search.example.org/deep/mcp")
            assert status(server, own) == 200
            assert status(server, issuer.token()) == 401
            path = "/.well-known/oauth-protected-resource/deep/mcp"
            assert server.get(path).json()["resource"] == "https://search.example.org/deep/mcp"
            assert issuer.asked == ["/keys"]
