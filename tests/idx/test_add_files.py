"""Files as documents: what is read from them, and what happens when that fails."""

import json
import multiprocessing
import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from fpdf import FPDF

from idx import pdf_file
from idx.source_file import file_document
from shared.errors import SourceFileError
from tests.conftest import Idx
from tests.unprivileged import UNPRIVILEGED


def pdf_of(pages: list[str], title: str | None = None, password: str | None = None) -> bytes:
    pdf = FPDF()
    pdf.set_font("Helvetica", size=12)
    if title:
        pdf.set_title(title)
    if password:
        pdf.set_encryption(owner_password="owner", user_password=password)
    for page in pages:
        pdf.add_page()
        pdf.multi_cell(0, text=page)
    return bytes(pdf.output())


def documents(idx: Idx) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(idx("list", "--json").stdout)["documents"]
    return listed


def test_files_become_documents_named_after_them(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    (tmp_path / "plain.txt").write_text("Some plain text.")
    (tmp_path / "notes.md").write_text("```\n# no title\n```\n# The notes #\n\nSome *text*.")
    (tmp_path / "manual.pdf").write_bytes(pdf_of(["One", "Two"], "The manual"))
    added = idx("add", "plain.txt", "notes.md", "manual.pdf")
    assert added.stdout.endswith("Added 3 files as 3 chunks; 0 failed\n")
    assert [(entry["source_document"], entry["title"]) for entry in documents(idx)] == [
        ("manual.pdf", "The manual"),
        ("notes.md", "The notes"),
        ("plain.txt", "plain.txt"),
    ]
    assert documents(idx)[0]["metadata"]["file_path"] == str(tmp_path / "manual.pdf")


def test_every_page_of_a_pdf_is_read_once_and_in_order(tmp_path: Path) -> None:
    pages = [f"This is page number {number}." for number in range(1, 8)]
    (tmp_path / "pages.pdf").write_bytes(pdf_of(pages))
    assert file_document(tmp_path / "pages.pdf").content == "\n\n".join(pages)


def test_a_pdf_is_known_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_bytes(pdf_of(["Dear Ann"]))
    assert file_document(tmp_path / "letter.txt").content == "Dear Ann"


def test_one_file_with_its_own_id_and_title(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("text")
    idx("add", "-d", "lease", "-t", "Lease", "-f", "x.txt")
    (entry,) = documents(idx)
    assert (entry["source_document"], entry["title"]) == ("lease", "Lease")


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", b""),
        ("utf-8-sig", b""),
        ("utf-16-le", b"\xff\xfe"),
        ("utf-16-be", b"\xfe\xff"),
        ("utf-32-le", b"\xff\xfe\0\0"),
        ("utf-32-be", b"\0\0\xfe\xff"),
    ],
)
def test_byte_order_marks_are_honoured(tmp_path: Path, encoding: str, mark: bytes) -> None:
    file = tmp_path / "text.txt"
    file.write_bytes(mark + "Häuser\r\n und 🦦 ".encode(encoding))
    assert file_document(file).content == "Häuser\r\n und 🦦 "


def test_other_encodings_are_named(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_bytes("Die Häuser".encode("cp1252"))
    failed = idx("add", "old.txt", code=1)
    assert "Error: old.txt: is not utf-8 text: byte 0xe4 at offset 5" in failed.stderr
    assert "--encoding cp1252" in failed.stderr
    idx("add", "old.txt", "--encoding", "cp1252")
    assert "Die Häuser" in idx("show", "old.txt").stdout
    unknown = idx("add", "old.txt", "--encoding", "klingon", code=1)
    assert "there is no encoding 'klingon'" in unknown.stderr
    refused = idx("add", "old.txt", "--encoding", "undefined", code=1)
    assert "cannot be read as 'undefined'" in refused.stderr


def make_nothing(file: Path) -> None:
    """The file is not there."""


def make_binary(file: Path) -> None:
    file.write_bytes(b"GIF89a\0\0\0")


def make_image(file: Path) -> None:
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))


def make_fifo(file: Path) -> None:
    os.mkfifo(file)


def make_protected_pdf(file: Path) -> None:
    file.write_bytes(pdf_of(["secret"], password="word"))


def make_damaged_pdf(file: Path) -> None:
    file.write_bytes(pdf_of(["page"] * 20)[:700])


def make_pdf_that_upsets_its_reader(file: Path) -> None:
    file.write_bytes((Path(__file__).parents[1] / "data" / "damaged-media-box.pdf").read_bytes())


def make_scanned_pdf(file: Path) -> None:
    file.write_bytes(pdf_of(["", ""]))


def make_large(file: Path) -> None:
    with file.open("wb") as stream:
        stream.truncate(50_000_001)


BAD_FILES = {
    make_nothing: "there is no such file",
    make_binary: "is binary, not text: a null character at offset 6",
    make_image: "is not utf-8 text: byte 0x89 at offset 0",
    make_fifo: "is no regular file",
    make_protected_pdf: "is protected by a password",
    make_damaged_pdf: "is a damaged PDF",
    make_pdf_that_upsets_its_reader: "is a damaged PDF: MalformedPDFException",
    make_scanned_pdf: "has no text on its 2 pages",
    make_large: "has 50.0 MB, more than the 50 MB that are allowed",
}


def test_a_bad_file_is_named_with_its_reason_and_costs_only_itself(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    for make in BAD_FILES:
        make(tmp_path / make.__name__)
    (tmp_path / "good.txt").write_text("Good text.")
    failed = idx("add", *(make.__name__ for make in BAD_FILES), "good.txt", code=1)
    assert failed.stdout.endswith("Added 1 files as 1 chunks; 9 failed\n")
    lines = failed.stderr.splitlines()
    assert len(lines) == len(BAD_FILES)
    for line, (make, reason) in zip(lines, BAD_FILES.items(), strict=True):
        assert line.startswith(f"Error: {make.__name__}: {reason}")
    assert [entry["source_document"] for entry in documents(idx)] == ["good.txt"]


def test_a_bad_file_does_not_cost_the_document_that_was_there(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    (tmp_path / "letter").write_text("The first version.")
    idx("add", "letter")
    make_protected_pdf(tmp_path / "letter")
    idx("add", "letter", code=1)
    idx("add", "-d", "letter", "-t", "T", "-f", "letter", code=1)
    assert "The first version." in idx("show", "letter").stdout


def test_an_unreadable_file_is_named(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    secret.chmod(0)
    failed = idx("add", "secret.txt", code=1, prefix=UNPRIVILEGED)
    assert "secret.txt: cannot be read: Permission denied" in failed.stderr
    failed = idx("add", "-d", "a", "-t", "A", "-f", "secret.txt", code=1, prefix=UNPRIVILEGED)
    assert "secret.txt: cannot be read: Permission denied" in failed.stderr


def test_an_empty_file_is_an_empty_document(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    added = idx("add", "empty.txt")
    assert added.stdout == "Added 1 files as 0 chunks; 0 failed\n"
    assert "Warning: document 'empty.txt' is empty" in added.stderr


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "log.txt"
    file.write_bytes(b"line\n" * 9_000_000)
    stop = threading.Event()

    def append() -> None:
        while not stop.wait(0.001):
            with file.open("ab") as stream:
                stream.write(b"more\n")

    writer = threading.Thread(target=append)
    writer.start()
    time.sleep(0.05)
    try:
        with pytest.raises(SourceFileError, match="changed while it was read"):
            file_document(file)
    finally:
        stop.set()
        writer.join()


def test_two_files_of_one_name_are_refused(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.txt").write_text(folder)
    refused = idx("add", "one/same.txt", "two/same.txt", code=1)
    assert "two/same.txt: has the same id as one/same.txt, 'same.txt'" in refused.stderr
    assert idx("show", "same.txt").stdout.endswith("one\n\n")


def test_larger_files_can_be_allowed(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    (tmp_path / "large.txt").write_text("word " * 400_000)
    assert "--max-size" in idx("add", "large.txt", "--max-size", "1", code=1).stderr
    assert "Added 1 files as 1905 chunks" in idx("add", "large.txt", "--max-size", "2.5").stdout


def test_a_pdf_that_takes_too_long_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow.pdf").write_bytes(pdf_of(["text"]))
    monkeypatch.setattr(pdf_file, "SECONDS", 0.01)
    with pytest.raises(SourceFileError, match=r"slow\.pdf: was not read within 0\.01 seconds"):
        file_document(tmp_path / "slow.pdf")
    assert multiprocessing.active_children() == []


def test_a_pdf_that_crashes_its_reader_costs_only_itself(tmp_path: Path) -> None:
    (tmp_path / "bad.pdf").write_bytes(pdf_of(["text"]))
    done = threading.Event()

    def crash() -> None:
        while not done.wait(0.005):
            for reader in multiprocessing.active_children():
                with suppress(ProcessLookupError):
                    os.kill(reader.pid or 0, signal.SIGSEGV)

    crashing = threading.Thread(target=crash)
    crashing.start()
    try:
        with pytest.raises(SourceFileError, match="is a damaged PDF: its reader crashed"):
            file_document(tmp_path / "bad.pdf")
    finally:
        done.set()
        crashing.join()
    assert file_document(tmp_path / "bad.pdf").content == "text"
