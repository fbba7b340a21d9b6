"""Odd and hostile files and folders through the command line: each costs only itself."""

import os
import select
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Final

import pytest

from shared import Searcher
from tests.conftest import Idx
from tests.idx.conftest import FILES
from tests.idx.files import events, ids, make, result
from tests.idx.running import start
from tests.idx.test_add_files import pdf_of
from tests.programs import Started
from tests.systems import has_modes
from tests.unprivileged import UNPRIVILEGED

pytestmark = pytest.mark.soak


def not_indexed(stdout: str) -> dict[str, tuple[str, str]]:
    """Kind and reason of each file that an event names."""
    return {
        event["source_document"]: (event["kind"], event["reason"])
        for event in events(stdout)
        if event["event"] == "notindexed"
    }


def wait_for_plan(running: Started) -> None:
    """Wait until the files are listed and the first of them is about to be read."""
    (plan,) = events(running.stdout.readline())
    assert plan["event"] == "planned"


def test_texts_of_any_shape_are_indexed(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    papers = make(tmp_path / "papers")
    (papers / "empty.txt").touch()
    (papers / "blank.txt").write_text(" \n\t\n" * 1_000)
    (papers / "lines.txt").write_text("".join(f"line{n}\n" for n in range(100_000)))
    (papers / "one-word.txt").write_text("x" * 5_000_000)
    (papers / "newlines.txt").write_text("\n" * 1_000_000 + "needle")
    (papers / "no-spaces.txt").write_text("".join(f"{n:x}," for n in range(1_000_000)))
    done = idx("sync", "papers", "--json")
    assert not_indexed(done.stdout) == {
        "empty.txt": ("empty", "has no text"),
        "blank.txt": ("empty", "has no text"),
    }
    # Of 250 words; needle; and of 3,000 characters, where there are no blanks.
    chunks = 476 + 1 + 1_667 + 1_977
    assert result(done.stdout) == {"added": 4, "empty": 2, "chunks": chunks}
    with Searcher(empty_index) as searcher:
        # All others have a part of it.
        hit = searcher.search("line99999").results[0]
        assert (hit.line_start, hit.line_end) == (99_751, 100_000)
        (hit,) = searcher.search("needle").results
        assert hit.line_end == 1_000_001
        parts = searcher.document_chunks("one-word.txt").chunks
        assert sum(len(part.content) for part in parts) == 5_000_000
        first = searcher.search("f423f").results[0]
        assert "f423f" in (first.content or "").split(",")
    assert len(idx("search", "f423f").stdout) < 60_000_000


def test_files_that_are_not_what_their_names_say_are_read_or_named(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    papers = make(tmp_path / "papers")
    (papers / "pdf.docx").write_bytes(pdf_of(["A page"]))
    (papers / "pdf.txt").write_bytes(pdf_of(["Another page"]))
    shutil.copy(FILES / "garden.odt", papers / "odt.pdf")
    shutil.copy(FILES / "book.xlsx", papers / "xlsx.txt")
    (papers / "text.pdf").write_text("only text")
    (papers / "text.docx").write_text("only text")
    (papers / "picture.txt").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(99))
    (papers / "program.md").write_bytes(b"\x7fELF\2\1\1" + bytes(99))
    (papers / "archive.docx").write_bytes(b"PK\x05\x06" + bytes(18))
    (papers / "locked.pdf").write_bytes(pdf_of(["secret"], password="word"))
    shutil.copy(FILES / "locked.xlsx", papers / "locked.xlsx")
    (papers / "damaged.pdf").write_bytes(pdf_of(["page"] * 20)[:700])
    done = idx("sync", "papers", "--json", code=1)
    assert {"pdf.docx", "pdf.txt", "odt.pdf", "xlsx.txt"} <= {*ids(empty_index)}
    assert {kind for kind, _ in not_indexed(done.stdout).values()} == {"failed"}
    reasons = {name: reason for name, (_, reason) in not_indexed(done.stdout).items()}
    assert reasons["picture.txt"].startswith("is named .txt, but is a picture (image/png)")
    assert reasons["program.md"].startswith("is named .md, but is a program")
    assert reasons["archive.docx"].startswith("is named .docx, but is an archive")
    for name in ("locked.pdf", "locked.xlsx"):
        assert reasons[name].startswith("protected by a password")
    assert "is a damaged PDF" in reasons["damaged.pdf"]
    assert reasons.keys() | {*ids(empty_index)} == {file.name for file in papers.iterdir()}
    assert "secret" not in idx("search", "").stdout
    found = idx("sync", "papers", "--retry", "--pdf-password", "word", "--json", code=1)
    assert "locked.pdf" in ids(empty_index)
    assert "locked.pdf" not in not_indexed(found.stdout)


@has_modes
def test_what_may_not_be_read_is_named_and_the_rest_is_indexed(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    closed = os.fsdecode(b"clos\xe9d")
    papers = make(tmp_path / "papers", "a.txt", "unlisted/c.txt", "d.txt", f"{closed}/")
    (papers / closed / "b.txt").write_text("closed")
    (papers / closed).chmod(0)
    (papers / "unlisted").chmod(stat.S_IRUSR)
    (papers / "d.txt").chmod(0)
    done = idx("sync", "papers", "--json", code=1, prefix=UNPRIVILEGED)
    messages = [event["message"] for event in events(done.stdout) if event["event"] == "problem"]
    assert sorted(messages) == [
        f"{papers}/clos\\xe9d: cannot be listed: Permission denied",
        f"{papers}/unlisted: cannot be listed: Permission denied",
    ]
    assert not_indexed(done.stdout) == {"d.txt": ("failed", "cannot be read: Permission denied")}
    assert result(done.stdout) == {"added": 1, "chunks": 1, "failed": 3}
    for message in messages:
        assert f"Error: {message}" in done.stderr
    for name in (closed, "unlisted", "d.txt"):
        (papers / name).chmod(0o700)
    assert result(idx("sync", "papers", "--retry", "--json").stdout) == {
        "added": 3,
        "skipped": 1,
        "chunks": 3,
    }


def test_files_that_vanish_or_change_before_they_are_read(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    papers = make(tmp_path / "papers", "b.txt", "gone.txt", "gone/a.txt", "replaced.txt", "z.txt")
    (papers / "a.html").write_text("<p>text" * 400_000)
    running = start(tmp_path, "--json", stdout=subprocess.PIPE)
    wait_for_plan(running)
    (papers / "gone.txt").unlink()
    shutil.rmtree(papers / "gone")
    make(tmp_path, "new").joinpath("new").write_text("another text")
    (tmp_path / "new").replace(papers / "replaced.txt")
    (papers / "z.txt").unlink()
    (papers / "z.txt").mkdir()
    with running.stdout:
        told = running.stdout.read()
    assert running.wait() == 1
    assert not_indexed(told) == {
        "gone.txt": ("failed", "there is no such file"),
        "gone/a.txt": ("failed", "there is no such file"),
        "z.txt": ("failed", "is a folder; name the files in it"),
    }
    assert "another text" in idx("show", "replaced.txt").stdout
    assert result(idx("sync", "papers", "--json").stdout) == {"skipped": 3}
    assert idx("failures").stdout.splitlines()[-1] == "0 files"


def test_a_file_that_is_written_while_it_is_read_waits_for_the_next_sync(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    papers = make(tmp_path / "papers")
    (papers / "log.html").write_text("<p>text" * 300_000)
    running = start(tmp_path, "--json", stdout=subprocess.PIPE)
    wait_for_plan(running)
    with (papers / "log.html").open("a") as log:
        while not any(select.select([running.stdout], [], [], 0.01)):
            log.write("<p>more")
            log.flush()
    with running.stdout:
        told = running.stdout.read()
    assert running.wait() == 1
    assert not_indexed(told) == {"log.html": ("failed", "changed while it was read; add it again")}
    done = result(idx("sync", "papers", "--json").stdout)
    assert done.pop("chunks") > 1_428
    assert done == {"added": 1}


def highest_memory(running: Started) -> int:
    """The most memory that a process took until its end, in MB."""
    most = 0
    while running.poll() is None:
        status = Path(f"/proc/{running.pid}/status").read_text()
        most = max(most, *(int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line))
        if running.stdout and not running.stdout.readline():
            break
    return most // 1_000


LINE: Final = " ".join(f"{number:04d}" * 25 for number in range(1_000)) + "\n"


def with_large_files(papers: Path) -> Path:
    """A folder with a text, and with a file of nothing, of 300 MB each."""
    with (make(papers) / "large.txt").open("w") as stream:
        for _ in range(300_000_000 // len(LINE) + 1):
            stream.write(LINE)
    with (papers / "sparse.txt").open("wb") as stream:
        stream.truncate(300_000_000)
    return papers


def test_a_file_of_300_mb_is_refused(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    with_large_files(tmp_path / "papers")
    refused = idx("sync", "papers", "--json", code=1)
    for name, (kind, reason) in not_indexed(refused.stdout).items():
        assert kind == "failed"
        assert reason.startswith("has 300."), name
        assert "MB, more than the 50 MB that are allowed" in reason
    assert result(refused.stdout) == {"failed": 2}


@pytest.mark.timeout(900)
def test_a_file_of_300_mb_can_be_allowed(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    with_large_files(tmp_path / "papers")
    running = start(tmp_path, "--max-size", "400", "--json", stdout=subprocess.PIPE)
    with running.stdout:
        memory = highest_memory(running)
    assert running.wait() == 1
    assert "is named .txt, but is binary" in idx("failures").stdout
    # The text once as it was sent and once as it is, and Java, whose heap may take 512 MB.
    assert 300 < memory < 1_200
    with Searcher(empty_index) as searcher:
        (document,) = searcher.documents().documents
        last = searcher.chunk(f"large.txt-chunk-{document.chunk_count:03d}")
    assert last.content.endswith(LINE.split()[-1])
    assert last.line_end == 300_000_000 // len(LINE) + 1
