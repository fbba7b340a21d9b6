"""What a server was given for itself is neither indexed nor known by a crawl that it starts."""

import os
import shutil
import ssl
from pathlib import Path

import pytest

from shared.files.access import OWN
from tests.idx.files import ids
from tests.idx.test_failures import failures
from tests.programs import run
from tests.server.administration.administered import ended
from tests.server.administration.crawling import crawling
from tests.server.http.served import client_of, served
from tests.server.tool_answers import told

TOKEN = "a" * 40


async def test_tokens_key_configuration_and_log_are_never_indexed(
    empty_index: Path, root: Path, papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In the crawled folder, by names of usual documents, and once more by others.
    tokens, configuration = papers / "list.txt", papers / "settings.txt"
    tokens.write_text(f"operator:read,admin:{TOKEN}\n")
    tokens.chmod(0o600)
    configuration.write_text("pdf_password = 'word'\n")
    monkeypatch.setenv("IDX_CONFIG", str(configuration))
    certificate, key = papers / "first.txt", papers / "second.txt"
    make_certificate(certificate, key)
    copy = shutil.copy(certificate, tmp_path / "trusted")
    for file in (tokens, configuration, key):
        os.link(file, papers / f"again {file.name}")
    options = (
        *("--admin", "--root", root, "--token-file", tokens),
        *("--tls-certificate", certificate, "--tls-key", key),
    )
    trust = ssl.create_default_context(cafile=copy)
    with served(empty_index, *options, log=papers / "log.txt") as server:
        async with client_of(server, TOKEN, trust=trust) as client:
            await told(client, "start_crawl", directories=[str(papers)])
            assert (await ended(client))["progress"]["added"] == 2
    assert ids(empty_index) == ["lease.txt", "menu.md"]
    skipped = [name for name, why in failures(empty_index).items() if why == ("secret", OWN)]
    assert skipped == [
        *("again list.txt", "again second.txt", "again settings.txt", "first.txt"),
        *("list.txt", "log.txt", "second.txt", "settings.txt"),
    ]


def make_certificate(certificate: Path, key: Path) -> None:
    run(
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
        *("-nodes", "-days", "1", "-subj", "/CN=localhost", "-out", certificate),
        *("-keyout", key, "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
    )


@pytest.mark.soak
@pytest.mark.parametrize("variable", ["IDX_NORMALIZER_API_KEY", "IDX_ANSWER_API_KEY"])
def test_a_crawl_knows_neither_the_tokens_nor_the_key_of_a_model(
    empty_index: Path, many_files: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    tokens, key = f"alice:read:{'t' * 40}", "k" * 40
    monkeypatch.setenv("IDX_TOKENS", tokens)
    monkeypatch.setenv(variable, key)
    with crawling(empty_index, many_files) as (server, crawl):
        known = Path(f"/proc/{server.pid}/environ").read_bytes()
        assert tokens.encode() in known
        assert key.encode() in known
        for told in ("environ", "cmdline"):
            passed_on = Path(f"/proc/{crawl}/{told}").read_bytes()
            assert tokens.encode() not in passed_on
            assert key.encode() not in passed_on
