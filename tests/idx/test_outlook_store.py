"""Mailboxes of Outlook: each message a document, in the section of its folders."""

import gzip
from pathlib import Path

import pytest

from tests.conftest import Idx
from tests.idx.files import hits, ids, sync, text_of

FILES = Path(__file__).parents[1] / "data" / "messages"


def needs_libpff() -> None:
    # It has no wheels for some Macs.
    pytest.importorskip("pypff", exc_type=ImportError)


def store(name: str) -> bytes:
    return gzip.decompress((FILES / f"{name}.gz").read_bytes())


def test_messages_are_read_like_those_of_a_mailbox(
    idx: Idx, empty_index: Path, papers: Path
) -> None:
    needs_libpff()
    (papers / "archive.pst").write_bytes(store("outlook.pst"))
    assert sync(idx, "papers") == {"added": 5, "chunks": 5}
    assert text_of(empty_index, "archive.pst") == "Mailbox with 4 messages\nInbox > tmp: 4"
    page = hits(idx, '"Forwarded html"')[0]
    assert page["content"] == (
        'From: "Ruiz-Gil, Ana Maria" <ana.r@acme.example>\n'
        'To: "Ruiz-Gil, Ana Maria" <ana.r@acme.example>\n'
        "Date: Wed, 30 Aug 2017 19:26:52 +0000\nSubject: FW: original email\n\n"
        "From: Ruiz-Gil, Ana Maria\nSent: Wednesday, August 30, 2017 3:26 PM\n"
        "To: Ruiz-Gil, Ana Maria <ana.r@acme.example>\nSubject: original email\n\n"
        "This is the original email (html)\n\nForwarded (html)"
    )
    assert page["section"] == "Inbox > tmp"
    first = "MWHPR09MB1391E30131B0D193163AA6E0C79C0@MWHPR09MB1391.namprd09.prod.outlook.com"
    assert page["metadata"]["thread"] == first
    assert page["metadata"]["container"] == "archive.pst"
    assert f"archive.pst!/{first}" in ids(empty_index)
    # Its Rich Text is damaged, and nobody misses it.
    assert hits(idx, "Forwarded", "RTF", "--operator", "and")
    assert len(hits(idx, "original", "--filter", "section=Inbox")) == 4
    assert hits(idx, "original", "--filter", "section=Outbox") == []
    assert sync(idx, "papers") == {"skipped": 1}


def test_a_message_has_the_same_hash_each_time(idx: Idx, empty_index: Path, papers: Path) -> None:
    needs_libpff()
    (papers / "archive.pst").write_bytes(store("outlook.pst"))
    hashes = []
    for _ in range(2):
        idx("add", "papers")
        listed = idx.json("list")["documents"]
        hashes.append([each["metadata"]["content_hash"] for each in listed])
    assert hashes[0] == hashes[1]


def test_appointments_and_contacts_are_read(idx: Idx, empty_index: Path, papers: Path) -> None:
    needs_libpff()
    # Content decides, whatever its name is.
    (papers / "calendar.dat").write_bytes(store("calendar.pst"))
    sync(idx, "papers")
    (hit,) = hits(idx, "complete", "test", "--operator", "and")
    assert (hit["title"], hit["section"]) == ("Test appointment", "Calendar")
    assert text_of(empty_index, "calendar.dat!/message 3").startswith("From: Unknown")


def test_a_truncated_mailbox_costs_only_what_is_missing(
    idx: Idx, empty_index: Path, papers: Path
) -> None:
    needs_libpff()
    (papers / "cut.pst").write_bytes(store("outlook.pst")[:100_000])
    (papers / "stub.pst").write_bytes(store("outlook.pst")[:2_000])
    sync(idx, "papers", code=1)
    failures = idx.json("failures")["failures"]
    assert sorted(each["source_document"] for each in failures) == [
        "cut.pst!/message 3", "cut.pst!/message 4", "stub.pst",
    ]  # fmt: skip
    assert "is a damaged mailbox of Outlook" in failures[-1]["reason"]
    assert len([each for each in ids(empty_index) if each.startswith("cut.pst!/")]) == 2


@pytest.mark.soak
def test_the_extra_is_named_where_it_is_missing(idx: Idx, papers: Path) -> None:
    (papers / "archive.pst").write_bytes(store("outlook.pst"))
    idx.without("pypff")
    assert sync(idx, "papers") == {"unsupported": 1}
    reason = idx.json("failures")["failures"][0]["reason"]
    assert 'is a mailbox of Outlook, and reading it needs the extra "pst"' in reason
