"""Who may ask a cluster, and what else than a cluster may be at its address."""

import json
import subprocess
from itertools import cycle
from pathlib import Path

import pytest

from tests.conftest import Idx
from tests.opensearch.node import Node
from tests.opensearch.proxy import PASSWORD, TOKEN, USER, before
from tests.server.administration.test_own_files import make_certificate

pytestmark = pytest.mark.opensearch

ADDING = ("add", "--id", "d", "--title", "D", "-c", "word")


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    made = tmp_path / "certificate.pem", tmp_path / "key.pem"
    make_certificate(*made)
    return made


def error(done: subprocess.CompletedProcess[str]) -> str:
    assert done.stderr.count("\n") == 1, done.stderr
    assert PASSWORD not in done.stderr
    assert TOKEN not in done.stderr
    return done.stderr


def test_a_user_and_password_or_a_token_are_shown_to_the_cluster(idx: Idx, node: Node) -> None:
    with before(node) as proxy:
        address = f"opensearch://127.0.0.1:{proxy.port}/access"
        assert "wrong or missing" in error(idx(*ADDING, "-i", address, code=1))
        idx.setenv("IDX_OPENSEARCH_USER", USER)
        idx.setenv("IDX_OPENSEARCH_PASSWORD", "wrong")
        assert "wrong or missing" in error(idx(*ADDING, "-i", address, code=1))
        idx.setenv("IDX_OPENSEARCH_PASSWORD", PASSWORD)
        idx(*ADDING, "-i", address)
        idx.setenv("IDX_OPENSEARCH_TOKEN", TOKEN)
        assert "keep one" in error(idx("search", "word", "-i", address, code=1))
        idx.delenv("IDX_OPENSEARCH_USER")
        idx.delenv("IDX_OPENSEARCH_PASSWORD")
        found = idx.json("search", "word", "-i", address)
        assert found["totalHits"] == 1
        assert f"Bearer {TOKEN}" in proxy.seen


def test_a_cluster_that_is_busy_is_asked_again_and_not_for_ever(idx: Idx, node: Node) -> None:
    with before(node) as proxy:
        proxy.asks_who = False
        address = f"opensearch://127.0.0.1:{proxy.port}/busy"
        proxy.troubles = cycle([429, 502, 503])
        for text in ("word", "another word"):
            idx("add", "--id", "d", "--title", "D", "-c", text, "-i", address)
        found = idx.json("search", "word", "-i", address)
        assert [hit["content"] for hit in found["results"]] == ["another word"]
        proxy.is_busy = True
        assert "it is overloaded or has lost a node (HTTP status 429); ask again later" in error(
            idx("search", "word", "-i", address, code=1)
        )


def test_tls_needs_a_certificate_that_somebody_known_has_signed(
    idx: Idx, node: Node, certificate: tuple[Path, Path]
) -> None:
    with before(node, certificate) as proxy:
        proxy.asks_who = False
        address = f"opensearchs://localhost:{proxy.port}/tls"
        assert "certificate verify failed" in error(idx(*ADDING, "-i", address, code=1))
        plain = address.replace("opensearchs", "opensearch")
        assert "opensearchs:// if it speaks TLS" in error(idx(*ADDING, "-i", plain, code=1))
        idx.setenv("IDX_OPENSEARCH_CA", str(certificate[0]))
        idx(*ADDING, "-i", address)
        assert "word" in idx("search", "word", "-i", address).stdout


@pytest.mark.parametrize(
    ("root", "named"),
    [
        (
            {"version": {"number": "8.15.0", "lucene_version": "9.11.1"}},
            "Elasticsearch 8.15.0, but OpenSearch 3.0 or newer",
        ),
        (
            {"version": {"distribution": "opensearch", "number": "2.19.1"}},
            "OpenSearch 2.19.1, but OpenSearch 3.0 or newer",
        ),
        ({"name": "something else"}, "another program, but OpenSearch 3.0 or newer"),
        ("<html>", "a program that does not answer in JSON, but OpenSearch"),
    ],
)
def test_another_program_or_version_is_named(
    idx: Idx, node: Node, root: object, named: str
) -> None:
    with before(node) as proxy:
        proxy.asks_who = False
        proxy.root = root.encode() if isinstance(root, str) else json.dumps(root).encode()
        address = f"opensearch://127.0.0.1:{proxy.port}/other"
        assert f"there is {named} is needed" in error(idx(*ADDING, "-i", address, code=1))
