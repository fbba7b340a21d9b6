"""A table of what documents say of themselves: it decides nothing about other documents."""

import json
import os
from pathlib import Path
from typing import Final

import pytest

from shared import Document, Index, Searcher
from shared.messages import utc_time
from tests.conftest import Idx
from tests.idx.files import ids, sync, text_of
from tests.idx.test_hostile_documents import zipped
from tests.model_server import quoting, serving, streams

CLOSED: Final = "closed/plan.md"
OPEN: Final = "open/menu.md"
CLAIM: Final = "open/claim.md"

COLLECTIONS: Final = [
    {"name": "outside", "filters": ["folder!=closed"]},
    {"name": "inside", "filters": ["folder=closed"]},
]

KEYS: Final = ("folder", "version_of", "container", "collection", "file_path", "section")
"""Names with a meaning of their own in filters, and values that would change it."""

POLICIES: Final = {
    ("--collection", "outside"): {OPEN, CLAIM},
    ("--collection", "inside"): {CLOSED},
    ("--filter", f"version_of!={CLOSED}"): {OPEN, CLAIM},
    ("--filter", "file_path^=closed"): set(),
}
"""Documents that are found with each option, whatever a document claims."""


@pytest.fixture
def papers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IDX_COLLECTIONS", json.dumps(COLLECTIONS))
    for name in (CLOSED, OPEN):
        file = tmp_path / "papers" / name
        file.parent.mkdir(parents=True)
        file.write_text(f"pears of {name}")
    return tmp_path / "papers"


def found(idx: Idx, *arguments: str) -> set[str]:
    answer = json.loads(idx("search", "pears", *arguments, "--json").stdout)
    return {hit["source_document"] for hit in answer["results"]}


@pytest.mark.parametrize("key", KEYS)
def test_a_document_does_not_decide_what_a_collection_means(
    idx: Idx, papers: Path, key: str
) -> None:
    (papers / CLAIM).write_text(f"---\n{key}: closed\n---\npears of a claim")
    idx("sync", "papers")
    for option, documents in POLICIES.items():
        assert found(idx, *option) == documents, option
    # What was said is kept under another name.
    assert found(idx, "--filter", f"x-{key}=closed") == {CLAIM}


@pytest.mark.parametrize("key", KEYS)
def test_nor_does_one_that_is_not_a_file(
    idx: Idx, papers: Path, index_path: Path, key: str
) -> None:
    idx("sync", "papers")
    with Index(index_path) as index:
        index.add(Document("note", "Note", "pears of a note", {key: "closed", f"x-{key}": 1}))
    assert "note" in found(idx, "--collection", "outside")
    assert found(idx, "--collection", "inside") == {CLOSED}
    assert found(idx, "--filter", f"x-x-{key}=closed") == {"note"}


TERMS: Final = " ".join(f"term{number}" for number in range(150))
GENUINE: Final = f"Pears are paid to the account 1111. {TERMS}"
FORGED: Final = GENUINE.replace("1111", "9999")
MAIL: Final = """From: a@example.com
Subject: Account
Date: Fri, 1 Jan 2100 00:00:00 +0000
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/markdown
Content-Disposition: attachment; filename=account.md

{}
--b--
"""
MATTER: Final = "---\nmodified: 9999-01-01\nfile_modified: 9999-01-01\n---\n"

FORGERIES: Final = {
    "in a mail": ("account/account.eml", MAIL.format(f"{MATTER}{FORGED}"), 0),
    "in a folder of others": ("inbox/account.md", FORGED, 2e9),
    "by its front matter": ("account/claim.md", f"{MATTER}{FORGED}", 1e9),
}
"""A file with another version of a text, and the time of its last change."""


@pytest.mark.parametrize(("name", "text", "changed"), FORGERIES.values(), ids=FORGERIES.keys())
def test_a_claim_hides_no_document(
    idx: Idx, tmp_path: Path, name: str, text: str, changed: float
) -> None:
    for file, content, time in (
        (tmp_path / "papers" / "account" / "account.md", GENUINE, 1.5e9),
        (tmp_path / "papers" / name, text, changed),
    ):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        os.utime(file, (time, time))
    idx("sync", "papers")
    assert "account/account.md" in found(idx, "--group", "document")
    (hit,) = (
        hit
        for hit in json.loads(idx("list", "--json").stdout)["documents"]
        if hit["source_document"] == "account/account.md"
    )
    assert hit["metadata"]["file_modified"] == "2017-07-14T02:40:00Z"


def test_no_time_is_later_than_now(idx: Idx, tmp_path: Path, index_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "account.md").write_text(FORGED)
    os.utime(papers / "account.md", (4e9, 4e9))
    idx("sync", "papers")
    with Index(index_path) as index:
        index.add(Document("claim", "Claim", GENUINE, {"modified": "9999-01-01"}))
    (group,) = json.loads(idx("duplicates", "--json").stdout)["groups"]
    now = utc_time()
    assert all(each["modified"] <= now for each in group)


def test_an_answer_is_given_every_version_that_says_something_else(
    index_path: Path, idx: Idx, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Index(index_path, create=True) as index:
        for number, text in enumerate([GENUINE, *[FORGED] * 40]):
            time = f"202{number % 10}-01-01"
            index.add(Document(f"{number}", "Account", text, {"modified": time}))
    with serving(streams(quoting("To 1111 [1].", "paid to the account 1111"))) as server:
        monkeypatch.setenv("IDX_ANSWER_MODEL", "small")
        monkeypatch.setenv("IDX_ANSWER_URL", server.url)
        idx("ask", "To", "which", "account", "are", "pears", "paid?")
        (request,) = server.requests
    sent = json.dumps(request.body)
    assert sent.count("account 1111") == sent.count("account 9999") == 1


def test_no_name_is_the_id_of_what_is_within_another_file(
    idx: Idx, tmp_path: Path, index_path: Path
) -> None:
    texts = {
        "contracts.zip!/acme.txt": "in the folder",
        "contracts.zip!!/acme.txt": "in the other folder",
        "wow!": "in a file",
    }
    papers = tmp_path / "papers"
    for name, text in texts.items():
        (papers / name).parent.mkdir(parents=True, exist_ok=True)
        (papers / name).write_text(text)
    inner = zipped(**{"acme.txt": "in the inner archive"})
    members: dict[str, str | bytes] = {
        "acme.txt": "in the archive",
        "x.zip": inner,
        "x.zip!/acme.txt": "beside it",
    }
    (papers / "contracts.zip").write_bytes(zipped(**members))
    assert sync(idx, "papers")["added"] == 8
    shown = {text_of(index_path, name) for name in ids(index_path)}
    assert shown >= {*texts.values(), "in the archive", "in the inner archive", "beside it"}
    assert text_of(index_path, "contracts.zip!/acme.txt") == "in the archive"
    again = sync(idx, "papers")
    assert again.keys() == {"skipped"}
    (papers / "contracts.zip!" / "acme.txt").unlink()
    assert sync(idx, "papers")["deleted"] == 1
    assert text_of(index_path, "contracts.zip!/acme.txt") == "in the archive"
    # A folder of its own may have such a name, too.
    (tmp_path / "contracts.zip!").mkdir()
    (tmp_path / "contracts.zip!" / "acme.txt").write_text("in a second folder")
    sync(idx, "contracts.zip!")
    assert text_of(index_path, "contracts.zip!/acme.txt") == "in the archive"


def test_keys_without_end_become_texts(idx: Idx, tmp_path: Path, index_path: Path) -> None:
    def note(number: int) -> str:
        keys = "".join(f"k{number}x{part}: pears\n" for part in range(40))
        return f"---\nauthor: Ana\n{keys}---\nA note"

    (tmp_path / "papers").mkdir()
    notes = {f"{number:02d}.md": note(number) for number in range(60)}
    (tmp_path / "papers" / "notes.zip").write_bytes(zipped(**notes))
    told = idx("sync", "papers").stderr
    assert "40 metadata keys became text under 'other', since a document has fields for" in told
    with Searcher(index_path) as searcher:
        names = {field.name for field in searcher.fields().fields}
    own = {name for name in names if name.startswith("k")} - {"keywords"}
    assert len(own) == 1_000
    assert {"author", "other", "container", "file_modified"} <= names
    listed = json.loads(idx("search", "--filter", 'other=k59x39: "pears"', "", "--json").stdout)
    (hit,) = listed["results"]
    assert hit["source_document"] == "notes.zip!/59.md"
    # It stays so for what is written later, and words are found all the same.
    (tmp_path / "papers" / "one.md").write_text("---\n" + "one: pears\n" * 1 + "---\nA note")
    idx("sync", "papers")
    assert "one.md" in found(idx, "--limit", "100")
    entry = {"Id": "b", "Title": "B", "Content": "A note", **{f"k0x{n}": n for n in range(60)}}
    told = idx("bulk", "-j", "-", stdin=json.dumps([entry])).stderr
    assert "metadata keys became text under 'other'" in told
    (document,) = json.loads(idx("list", "--prefix", "b", "--json").stdout)["documents"]
    assert len(document["metadata"]["other"]) == 20
