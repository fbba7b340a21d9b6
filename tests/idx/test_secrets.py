"""Secrets in folders: what is skipped by its name or its content, told, listed and allowed."""

import base64
import json
import random
import string
import time
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from shared.files.secret_files import BYTES, found_secret
from tests.conftest import Idx
from tests.idx.files import ids, make, sync
from tests.idx.preparation import index_files
from tests.idx.test_add_files import pdf_of
from tests.idx.test_failures import failures
from tests.systems import makes_links

_RANDOM = random.Random(7)  # noqa: S311 - no real secret
_RSA = generate_private_key(65537, 2048)
_ALPHANUMERIC = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
BASE32 = string.ascii_uppercase + "234567"


def some(count: int, alphabet: str = _ALPHANUMERIC) -> str:
    return "".join(_RANDOM.choices(alphabet, k=count))


def key(format_: PrivateFormat, *, password: bytes = b"") -> str:
    encryption = BestAvailableEncryption(password) if password else NoEncryption()
    return _RSA.private_bytes(Encoding.PEM, format_, encryption).decode()


def lines(count: int) -> str:
    return "\n".join(base64.b64encode(_RANDOM.randbytes(48)).decode() for _ in range(count))


PKCS8 = key(PrivateFormat.PKCS8)
ED25519 = (
    Ed25519PrivateKey.generate()
    .private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    .decode()
)
PUTTY = (
    "PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nComment: me\nPublic-Lines: 2\n"
    f"{lines(2)}\nPrivate-Lines: 8\n{lines(8)}\nPrivate-MAC: {some(64, '0123456789abcdef')}\n"
)
PGP = "PGP PRIVATE KEY BLOCK"

SECRETS = {
    "PKCS 8": (PKCS8, "a private key"),
    "encrypted PKCS 8": (key(PrivateFormat.PKCS8, password=b"word"), "a private key"),
    "PKCS 1": (key(PrivateFormat.TraditionalOpenSSL), "a private key"),
    "encrypted PKCS 1": (key(PrivateFormat.TraditionalOpenSSL, password=b"word"), "a private key"),
    "OpenSSH": (key(PrivateFormat.OpenSSH), "a private key"),
    "Ed25519": (ED25519, "a private key"),
    "quoted": ("".join(f"> {line}\n" for line in PKCS8.splitlines()), "a private key"),
    "indented": ("".join(f"    {line}\n" for line in PKCS8.splitlines()), "a private key"),
    "service account": (
        json.dumps({"type": "service_account", "private_key": PKCS8}),
        "a private key",
    ),
    "PGP": (
        f"-----BEGIN {PGP}-----\nVersion: 2\n\n{lines(9)}\n-----END {PGP}-----",
        "a private key",
    ),
    "PuTTY": (PUTTY, "a private key"),
    "age": (f"AGE-SECRET-KEY-1{some(58, string.ascii_uppercase)}", "a private key"),
    "AWS": (f"AKIA{some(16, string.ascii_uppercase + '234567')}", "an access key of AWS"),
    "Azure": (f"AccountKey={some(86)}==;", "a key of Azure"),
    "GitHub": (f"ghp_{some(36)}", "a token of GitHub"),
    "GitHub, fine-grained": (f"github_pat_{some(22)}_{some(59)}", "a token of GitHub"),
    "GitLab": (f"glpat-{some(20)}", "a token of GitLab"),
    "Slack": (
        f"xoxb-{some(12, string.digits)}-{some(12, string.digits)}-{some(24)}",
        "a token of Slack",
    ),
    "Slack's webhooks": (
        f"https://hooks.slack.com/services/T{some(8)}/B{some(8)}/{some(24)}",
        "a webhook of Slack",
    ),
    "Google": (f"AIza{some(35)}", "a key of Google"),
    "Google's clients": (f"GOCSPX-{some(28)}", "a secret of Google"),
    "Stripe": (f"sk_live_{some(24)}", "a key of Stripe"),
    "npm": (f"npm_{some(36)}", "a token of npm"),
    "PyPI": (f"pypi-AgEIcHlwaS5vcmc{some(80)}", "a token of PyPI"),
    "OpenAI": (f"sk-proj-{some(40)}T3BlbkFJ{some(40)}", "a key of OpenAI"),
    "Anthropic": (f"sk-ant-api03-{some(93)}AA", "a key of Anthropic"),
    "Hugging Face": (f"hf_{some(34, string.ascii_letters)}", "a token of Hugging Face"),
    "DigitalOcean": (f"dop_v1_{some(64, '0123456789abcdef')}", "a token of DigitalOcean"),
    "SendGrid": (f"SG.{some(22)}.{some(43)}", "a key of SendGrid"),
    "AWS, for a service": (f"ABIA{some(16, BASE32)}", "an access key of AWS"),
    "AWS, Bedrock": (f"ABSK{some(120)}==", "an access key of AWS"),
    "Azure's clients": (f"{some(3)}8Q~{some(34)}", "a secret of Azure"),
    "GitLab, of a runner": (f"glrt-{some(20)}", "a token of GitLab"),
    "GitLab, to deploy": (f"gldt-{some(20)}", "a token of GitLab"),
    "GitLab, routable": (f"glpat-{some(27)}.01.{some(9, HEX)}", "a token of GitLab"),
    "Slack's triggers": (f"https://hooks.slack.com/triggers/{some(46)}", "a webhook of Slack"),
    "Brevo": (f"xkeysib-{some(64, HEX)}-{some(16)}", "a key of Brevo"),
    "Shopify": (f"shpat_{some(32, HEX)}", "a token of Shopify"),
    "Square": (f"sq0atp-{some(22)}", "a token of Square"),
    "Databricks": (f"dapi{some(32, HEX)}-2", "a token of Databricks"),
    "Vault": (f"hvs.{some(95)}", "a token of Vault"),
    "Vault, in a batch": (f"hvb.{some(150)}", "a token of Vault"),
    "Terraform": (f"{some(14)}.atlasv1.{some(66)}", "a token of Terraform"),
    "Atlassian": (f"ATATT3{some(186)}", "a token of Atlassian"),
    "Heroku": (f"HRKU-AA{some(58)}", "a key of Heroku"),
    "Grafana": (f"glsa_{some(32)}_{some(8, HEX)}", "a token of Grafana"),
    "Grafana's cloud": (f"glc_{some(80)}", "a token of Grafana"),
    "Sentry": (f"sntrys_eyJpYXQiO{some(90)}_{some(43)}", "a token of Sentry"),
    "Sentry, of a user": (f"sntryu_{some(64, HEX)}", "a token of Sentry"),
    "New Relic": (f"NRAK-{some(27, BASE32)}", "a key of New Relic"),
    "Postman": (f"PMAK-{some(24, HEX)}-{some(34, HEX)}", "a key of Postman"),
    "Pulumi": (f"pul-{some(40, HEX)}", "a token of Pulumi"),
    "RubyGems": (f"rubygems_{some(48, HEX)}", "a key of RubyGems"),
    "Doppler": (f"dp.pt.{some(43)}", "a token of Doppler"),
    "Perplexity": (f"pplx-{some(48)}", "a key of Perplexity"),
    "Notion": (f"ntn_{some(11, string.digits)}{some(35)}", "a token of Notion"),
    "Airtable": (f"pat{some(14)}.{some(64, HEX)}", "a token of Airtable"),
    "Linear": (f"lin_api_{some(40)}", "a key of Linear"),
    "PlanetScale": (f"pscale_tkn_{some(40)}", "a token of PlanetScale"),
    "Fly": (f"fm2_{some(150)}", "a token of Fly"),
    "1Password": (f"ops_eyJ{some(300)}", "a token of 1Password"),
    "Alibaba": (f"LTAI{some(20)}", "an access key of Alibaba"),
    "Facebook": (f"EAAC{some(120)}", "a token of Facebook"),
}

DOCUMENTS = {
    "prose on keys": "A key begins with -----BEGIN PRIVATE KEY----- and ends with "
    "-----END PRIVATE KEY-----; what stands between them is encoded in base64, and no one but its "
    "owner should ever see it, be it " + "somewhere " * 50,
    "a key left out": "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----\n",
    "a key blackened": "-----BEGIN PRIVATE KEY-----\n" + f"{'x' * 64}\n" * 9,
    "a public key": "-----BEGIN PUBLIC KEY-----\n" + lines(6) + "\n-----END PUBLIC KEY-----\n",
    "a certificate": "-----BEGIN CERTIFICATE-----\n" + lines(9) + "\n-----END CERTIFICATE-----\n",
    "the example of AWS": "AKIAIOSFODNN7EXAMPLE is the example of the manual",
    "placeholders": f"ghp_{'x' * 36}, glpat-{'0' * 20}, sk_live_{'a' * 24}, npm_YOUR_TOKEN_HERE",
    "names like those of GitLab": (
        "class=glft-navigation-sidebar-items, glagent-configuration-reference-guide, "
        "https://x.org/gloas-workshop-on-programming, glrt-how-to-register-a-runner"
    ),
    "half a token": "Tokens begin with ghp_, github_pat_, glpat-, xoxb-, AIza, sk_live_ or hf_.",
}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return make(tmp_path / "notes", "good.txt")


def test_a_file_is_skipped_for_each_kind_of_secret_in_it(idx: Idx, notes: Path) -> None:
    for name, (secret, _) in SECRETS.items():
        (notes / f"{name}.txt").write_text(f"a note\nand in it\n{secret}\n")
    assert sync(idx, notes) == {"added": 1, "chunks": 1, "secrets": len(SECRETS)}
    assert ids(idx.index) == ["good.txt"]
    told = {
        name.removesuffix(".txt"): (kind, reason)
        for name, (kind, reason) in failures(idx.index).items()
    }
    assert told == {
        name: ("secret", f"seems to contain {what} (line 3)") for name, (_, what) in SECRETS.items()
    }


def test_texts_about_secrets_are_documents(idx: Idx, notes: Path) -> None:
    for name, text in DOCUMENTS.items():
        (notes / f"{name}.txt").write_text(text)
    assert "secrets" not in sync(idx, notes)
    assert ids(idx.index) == sorted(["good.txt", *(f"{name}.txt" for name in DOCUMENTS)])


def test_a_secret_is_found_in_a_pdf_and_in_utf_16(idx: Idx, notes: Path) -> None:
    token, _ = SECRETS["GitHub"]
    (notes / "a.pdf").write_bytes(pdf_of([f"my token is {token}"]))
    (notes / "b.txt").write_text(f"my token is {token}", "utf-16")
    index_files(idx.index, notes)
    assert ids(idx.index) == ["good.txt"]
    assert {kind for kind, _ in failures(idx.index).values()} == {"secret"}


def test_the_document_of_a_file_goes_when_a_secret_comes_into_it(idx: Idx, notes: Path) -> None:
    sync(idx, notes)
    secret, _ = SECRETS["npm"]
    (notes / "good.txt").write_text(f"now with {secret}")
    assert sync(idx, notes) == {"deleted": 1, "secrets": 1}
    assert ids(idx.index) == []


def test_secrets_are_summed_told_once_and_listed_apart(idx: Idx, notes: Path) -> None:
    secret, _ = SECRETS["Stripe"]
    (notes / "token.txt").write_text(secret)
    (notes / "blank.txt").write_text(" ")
    make(notes, "prod.tfvars", *(f"key{number:02}.pem" for number in range(12)))
    told = idx("sync", notes)
    assert "14 secrets skipped (idx failures --secrets)" in told.stdout
    assert (
        f"Warning: {notes}/key00.pem: is a secret by its name, and is skipped; to index it: "
        "--allow-secret\n"
    ) in told.stderr
    assert "Warning: and 4 more secrets skipped; list them with: idx failures --secrets" in (
        told.stderr
    )
    assert secret not in told.stdout + told.stderr
    listed = idx("failures", "--secrets", "--plain").stdout.splitlines()
    assert len(listed) == 14
    assert str(notes / "token.txt") in listed
    assert str(notes / "blank.txt") not in listed
    again = idx("sync", notes)
    for message in ("is skipped", "secrets skipped"):
        assert message not in again.stdout + again.stderr
    assert len(idx.json("failures", "--secrets")["failures"]) == 14
    (notes / "key00.pem").unlink()
    (notes / "token.txt").write_text("none any more")
    index_files(idx.index, notes)
    assert len(failures(idx.index)) == 13


def test_one_secret_is_allowed_and_stays_so_by_the_configuration(idx: Idx, notes: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (notes / name).write_text(SECRETS["Google"][0])
    make(notes, "a.pem", "b.pem")
    sync(idx, notes)
    idx("config", "set", "allow-secrets", notes / "a.txt", "notes/a.pem")
    assert sync(idx, notes) == {"added": 2, "chunks": 2, "skipped": 2}
    assert ids(idx.index) == ["a.pem", "a.txt", "good.txt"]
    assert list(failures(idx.index)) == ["b.pem", "b.txt"]
    assert sync(idx, notes) == {"skipped": 4}


@makes_links
def test_one_secret_is_allowed_by_an_option_and_by_way_of_a_link(idx: Idx, notes: Path) -> None:
    make(notes, "a.pem", "b.pem")
    (idx.folder / "link").symlink_to(notes)
    sync(idx, notes, "--allow-secret", "link/a.pem")
    assert ids(idx.index) == ["a.pem", "good.txt"]


def test_a_file_named_by_itself_is_no_exception_for_what_it_holds(idx: Idx, notes: Path) -> None:
    (notes / "a.txt").write_text(SECRETS["GitLab"][0])
    refused = idx("add", notes / "a.txt", notes / "good.txt")
    assert "seems to contain a token of GitLab (line 1), and is skipped" in refused.stderr
    assert ids(idx.index) == ["good.txt"]
    idx("add", notes / "a.txt", "--allow-secret", notes / "a.txt")
    assert ids(idx.index) == ["a.txt", "good.txt"]


def test_what_an_earlier_version_took_is_deleted_by_its_name(idx: Idx, notes: Path) -> None:
    make(notes, "a.pem")
    sync(idx, notes, "--allow-secret", notes / "a.pem")
    assert ids(idx.index) == ["a.pem", "good.txt"]
    assert sync(idx, notes) == {"deleted": 1, "skipped": 1, "secrets": 1}
    assert list(failures(idx.index)) == ["a.pem"]


def test_no_file_makes_the_search_for_secrets_long() -> None:
    beginnings = (
        *("-----BEGIN PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----\na: ", "a: ", "\n> "),
        *("PuTTY-User-Key-File-3: ", "xoxb-", "xoxb-a-", "sk-", "sk-T3BlbkFJ", "ghp_", "pypi-AgE"),
        *("SG.a.", "npm_", "hf_", "hooks.slack.com/services/", "AccountKey=", "dop_v1_", "gldt-"),
        "AIza",
    )
    markers = "PRIVATE KEY AKIA T3BlbkFJ " + " ".join(beginnings)
    used = time.process_time()
    for beginning in beginnings:
        assert found_secret((markers + beginning * (BYTES // len(beginning))).encode()) is None
    assert time.process_time() - used < 30
