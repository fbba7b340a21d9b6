"""Files, or standard input, as documents of the command line: what becomes of each."""

import os
import sys
from pathlib import Path

import pytest
from fpdf import FPDF

from shared import Searcher
from tests.conftest import Idx
from tests.idx.files import documents, ids, text_of
from tests.idx.preparation import index_files
from tests.programs import PROGRAMS, Started
from tests.systems import (
    has_modes,
    has_pipes_as_files,
    has_terminals,
    limits_processes,
    uses_a_unix_shell,
)
from tests.unprivileged import UNPRIVILEGED

pytestmark = pytest.mark.usefixtures("empty_index")


def pdf_of(pages: list[str], title: str | None = None, password: str | None = None) -> bytes:
    pdf = FPDF()
    pdf.set_font("Helvetica", size=12)
    if title:
        pdf.set_title(title)
    if password:
        pdf.set_encryption(owner_password="owner", user_password=password)
    for page in pages:
        pdf.add_page()
        if page:
            pdf.multi_cell(0, text=page)
        else:
            # A page without anything has no text to read.
            pdf.circle(50, 50, 20)
    return bytes(pdf.output())


def test_files_become_documents_named_after_them(idx: Idx) -> None:
    (idx.folder / "plain.txt").write_text("Some plain text.")
    (idx.folder / "notes.md").write_text("```\n# no title\n```\n# The notes #\n\nSome *text*.")
    (idx.folder / "manual.pdf").write_bytes(pdf_of(["One", "Two"], "The manual"))
    added = idx("add", "plain.txt", "notes.md", "manual.pdf")
    assert added.stdout.splitlines()[-1].startswith(
        "Added 3, updated 0, deleted 0, skipped 0, failed 0; 3 chunks"
    )
    assert [(entry.source_document, entry.title) for entry in documents(idx.index)] == [
        ("manual.pdf", "The manual"),
        ("notes.md", "The notes"),
        ("plain.txt", "plain.txt"),
    ]
    assert documents(idx.index)[0].file_path == (idx.folder / "manual.pdf").as_posix()


def test_one_file_with_its_own_id_and_title(idx: Idx) -> None:
    (idx.folder / "x.txt").write_text("text")
    idx("add", "-d", "lease", "-t", "Lease", "-f", "x.txt")
    (entry,) = documents(idx.index)
    assert (entry.source_document, entry.title) == ("lease", "Lease")


def test_other_encodings_are_found_out_or_named(idx: Idx) -> None:
    text = "Die Häuser der Straße gehören den Töchtern des Bürgermeisters von Köln."
    (idx.folder / "old.txt").write_bytes(text.encode("cp1252"))
    idx("add", "old.txt")
    assert text_of(idx.index, "old.txt") == text
    idx("add", "old.txt", "--encoding", "cp437")
    assert "H\u03a3user" in text_of(idx.index, "old.txt")
    unknown = idx("add", "old.txt", "--encoding", "klingon", code=1)
    assert "there is no encoding 'klingon'" in unknown.stderr


def make_image(file: Path) -> None:
    file.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)))


@has_pipes_as_files
def test_a_bad_file_is_named_with_its_reason_and_costs_only_itself(idx: Idx) -> None:
    contents = {
        "binary": b"text\0\0\0" + bytes(range(256)),
        "protected": pdf_of(["secret"], password="word"),
        "damaged": pdf_of(["page"] * 20)[:700],
        "scanned": pdf_of(["", ""]),
        "large": bytes(50_000_001),
        "good": b"Good text.",
    }
    for name, data in contents.items():
        (idx.folder / f"{name}.txt").write_bytes(data)
    os.mkfifo(idx.folder / "pipe.txt")
    reasons = {
        "nothing": "there is no such file",
        "binary": "is named .txt, but is binary",
        "pipe": "is not a regular file",
        "protected": "protected by a password",
        "damaged": "is a damaged PDF",
        "scanned": "has no text on its 2 pages",
        "large": "has 50.0 MB, more than the 50 MB that are allowed",
    }
    failed = idx("add", *(f"{name}.txt" for name in reasons), "good.txt", code=1)
    assert "Added 1, updated 0, deleted 0, skipped 0, failed 7; 1 chunk in" in failed.stdout
    lines = failed.stderr.splitlines()
    assert len(lines) == len(reasons)
    for name, reason in reasons.items():
        (line,) = (line for line in lines if f"/{name}.txt: " in line)
        assert line.startswith("Error: ")
        assert f".txt: {reason}" in line
    assert ids(idx.index) == ["good.txt"]


def test_a_file_of_a_kind_that_is_not_read_is_no_failure(idx: Idx) -> None:
    make_image(idx.folder / "image.png")
    done = idx("add", "image.png")
    assert "failed 0; 1 unsupported file, 0 empty files" in done.stdout
    assert done.stderr.startswith(f"Warning: {idx.folder / 'image.png'}: is a picture (image/png)")
    (idx.folder / "folder").mkdir()
    make_image(idx.folder / "folder" / "image.png")
    assert idx("add", "folder").stderr == ""
    assert f"{Path('folder', 'image.png')}: is a picture" in idx("add", "folder/image.png").stderr
    assert "is a picture (image/png)" in idx("failures").stdout


def test_a_bad_file_does_not_cost_the_document_that_was_there(idx: Idx) -> None:
    (idx.folder / "letter").write_text("The first version.")
    index_files(idx.index, "letter")
    (idx.folder / "letter").write_bytes(pdf_of(["secret"], password="word"))
    idx("add", "letter", code=1)
    idx("add", "-d", "letter", "-t", "T", "-f", "letter", code=1)
    assert text_of(idx.index, "letter") == "The first version."


@has_modes
def test_an_unreadable_file_is_named(idx: Idx) -> None:
    secret = idx.folder / "secret.txt"
    secret.write_text("secret")
    secret.chmod(0)
    failed = idx("add", "secret.txt", code=1, prefix=UNPRIVILEGED)
    assert "secret.txt: cannot be read: Permission denied" in failed.stderr
    failed = idx("add", "-d", "a", "-t", "A", "-f", "secret.txt", code=1, prefix=UNPRIVILEGED)
    assert "secret.txt: cannot be read: Permission denied" in failed.stderr


def test_an_empty_file_is_no_document(idx: Idx) -> None:
    (idx.folder / "empty.txt").touch()
    added = idx("add", "empty.txt")
    assert "failed 0; 0 unsupported files, 1 empty file" in added.stdout
    assert "empty.txt: has no text" in added.stderr
    assert (
        "Warning: the content of document 'e' is empty"
        in idx("add", "-d", "e", "-t", "E", "-f", "empty.txt").stderr
    )


def test_larger_files_can_be_allowed(idx: Idx) -> None:
    (idx.folder / "large.txt").write_text(("word" * 12 + " ") * 25_000)
    assert "--max-size" in idx("add", "large.txt", "--max-size", "1", code=1).stderr
    assert "; 544 chunks" in idx("add", "large.txt", "--max-size", "2.5").stdout


@limits_processes
def test_files_are_read_under_limits_of_the_shell(idx: Idx) -> None:
    (idx.folder / "lease.txt").write_text("The rent is due on the third.")
    # Lower than what a reader of files is given, and not to be raised.
    limited = ("prlimit", "--as=4000000000", "--cpu=3600")
    arguments = ("add", "lease.txt", "-i", idx.index, "--max-memory", 5_000)
    done = idx(*arguments, prefix=limited)
    assert "failed 0" in done.stdout
    assert done.stderr == ""


if sys.platform != "win32":
    import pty

ARGUMENTS = ("add", "--id", "piped", "--title", "Piped", "--file", "-")


def through(command: str) -> tuple[str, ...]:
    """Run a command of the shell whose last part is `idx`, as ``"$@"``."""
    return ("sh", "-c", command, "sh")


def content(index: Path) -> str:
    with Searcher(index) as searcher:
        (chunk,) = searcher.document_chunks("piped").chunks
    assert (chunk.title, chunk.file_path) == ("Piped", None)
    return chunk.content


def test_a_text_comes_through_a_pipe(idx: Idx) -> None:
    done = idx(*ARGUMENTS, stdin="The café is\nclosed.\n")
    assert done.stdout == "Successfully added document 'piped' as 1 chunks to index\n"
    assert done.stderr == ""
    assert content(idx.index) == "The café is\nclosed.\n"
    with Searcher(idx.index) as searcher:
        known = searcher.document_details("piped").metadata
    assert not known.keys() & {"file_name", "file_path", "file_extension", "modified"}


@uses_a_unix_shell
def test_bytes_are_decoded_as_those_of_a_file(idx: Idx) -> None:
    text = "Der Käufer zahlt die Gebühr für die Prüfung über das Büro in Köln."
    (idx.folder / "words.txt").write_bytes(text.encode("cp1252"))
    idx(*ARGUMENTS, prefix=through('exec "$@" < words.txt'))
    assert content(idx.index) == text
    refused = idx(
        *ARGUMENTS, "--encoding", "utf-8", prefix=through('exec "$@" < words.txt'), code=1
    )
    assert refused.stderr.startswith("Error: standard input: is not utf-8 text: ")


@uses_a_unix_shell
def test_what_it_is_its_content_says(idx: Idx) -> None:
    (idx.folder / "lease.pdf").write_bytes(pdf_of(["The notice period is three months."]))
    idx(*ARGUMENTS, prefix=through('cat lease.pdf | "$@"'))
    assert "three months" in content(idx.index)


@uses_a_unix_shell
@pytest.mark.parametrize("producer", ["yes", "head --bytes 1000001 /dev/zero"])
def test_no_more_is_read_than_is_allowed(idx: Idx, producer: str) -> None:
    refused = idx(*ARGUMENTS, "--max-size", "1", prefix=through(f'{producer} | "$@"'), code=1)
    assert refused.stderr == (
        "Error: standard input: is larger than the allowed 1 MB; allow more with --max-size MB\n"
    )


@uses_a_unix_shell
def test_what_cannot_be_read_is_said(idx: Idx) -> None:
    refused = idx(*ARGUMENTS, prefix=through('exec "$@" 0> words.txt'), code=1)
    assert refused.stderr == "Error: standard input: cannot be read: Bad file descriptor\n"


@pytest.mark.soak
@has_terminals
def test_a_terminal_is_told_what_is_waited_for(empty_index: Path) -> None:
    terminal, end = pty.openpty()
    with Started(PROGRAMS / "idx", *ARGUMENTS, "-i", empty_index, stdin=end) as process:
        os.close(end)
        assert "Ctrl-D" in process.stderr.readline()
        os.write(terminal, b"typed words\n\x04")
        assert process.wait(timeout=120) == 0
    os.close(terminal)
    assert content(empty_index) == "typed words\n"
