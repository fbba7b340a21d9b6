"""Odd and hostile files and folders through the command line: each costs only itself."""

import os
import select
import shutil
import socket
import stat
import subprocess
from collections.abc import Iterator
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

pytestmark = [pytest.mark.soak, pytest.mark.usefixtures("empty_index")]


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


def test_texts_of_any_shape_are_indexed(idx: Idx) -> None:
    papers = make(idx.folder / "papers")
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
    with Searcher(idx.index) as searcher:
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


def test_files_that_are_not_what_their_names_say_are_read_or_named(idx: Idx) -> None:
    papers = make(idx.folder / "papers")
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
    assert {"pdf.docx", "pdf.txt", "odt.pdf", "xlsx.txt"} <= {*ids(idx.index)}
    assert {kind for kind, _ in not_indexed(done.stdout).values()} == {"failed"}
    reasons = {name: reason for name, (_, reason) in not_indexed(done.stdout).items()}
    assert reasons["picture.txt"].startswith("is named .txt, but is a picture (image/png)")
    assert reasons["program.md"].startswith("is named .md, but is a program")
    assert reasons["archive.docx"].startswith("is named .docx, but is an archive")
    for name in ("locked.pdf", "locked.xlsx"):
        assert reasons[name].startswith("protected by a password")
    assert "is a damaged PDF" in reasons["damaged.pdf"]
    assert reasons.keys() | {*ids(idx.index)} == {file.name for file in papers.iterdir()}
    assert "secret" not in idx("search", "").stdout
    found = idx("sync", "papers", "--retry", "--pdf-password", "word", "--json", code=1)
    assert "locked.pdf" in ids(idx.index)
    assert "locked.pdf" not in not_indexed(found.stdout)


@has_modes
def test_what_may_not_be_read_is_named_and_the_rest_is_indexed(idx: Idx) -> None:
    closed = os.fsdecode(b"clos\xe9d")
    papers = make(idx.folder / "papers", "a.txt", "unlisted/c.txt", "d.txt", f"{closed}/")
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


def test_files_that_vanish_or_change_before_they_are_read(idx: Idx) -> None:
    papers = make(idx.folder / "papers", "b.txt", "gone.txt", "gone/a.txt", "replaced.txt", "z.txt")
    (papers / "a.html").write_text("<p>text" * 400_000)
    running = start(idx.folder, "--json", stdout=subprocess.PIPE)
    wait_for_plan(running)
    (papers / "gone.txt").unlink()
    shutil.rmtree(papers / "gone")
    make(idx.folder, "new").joinpath("new").write_text("another text")
    (idx.folder / "new").replace(papers / "replaced.txt")
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


def test_a_file_that_is_written_while_it_is_read_waits_for_the_next_sync(idx: Idx) -> None:
    papers = make(idx.folder / "papers")
    (papers / "log.html").write_text("<p>text" * 300_000)
    running = start(idx.folder, "--json", stdout=subprocess.PIPE)
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


def test_a_file_of_300_mb_is_refused(idx: Idx) -> None:
    with_large_files(idx.folder / "papers")
    refused = idx("sync", "papers", "--json", code=1)
    for name, (kind, reason) in not_indexed(refused.stdout).items():
        assert kind == "failed"
        assert reason.startswith("has 300."), name
        assert "MB, more than the 50 MB that are allowed" in reason
    assert result(refused.stdout) == {"failed": 2}


@pytest.mark.timeout(900)
def test_a_file_of_300_mb_can_be_allowed(idx: Idx) -> None:
    with_large_files(idx.folder / "papers")
    running = start(idx.folder, "--max-size", "400", "--json", stdout=subprocess.PIPE)
    with running.stdout:
        memory = highest_memory(running)
    assert running.wait() == 1
    assert "is named .txt, but is binary" in idx("failures").stdout
    # The text once as it was sent and once as it is, and Java, whose heap may take 512 MB.
    assert 300 < memory < 1_200
    with Searcher(idx.index) as searcher:
        (document,) = searcher.documents().documents
        last = searcher.chunk(f"large.txt-chunk-{document.chunk_count:03d}")
    assert last.content.endswith(LINE.split()[-1])
    assert last.line_end == 300_000_000 // len(LINE) + 1


REMOVE: Final = ("rm", "-rf")

ODD_NAMES: Final = (
    "عقد الإيجار.txt",
    "two\nlines.txt",
    "tab\tand\rreturn.txt",
    os.fsdecode(b"caf\xe9.txt"),
    "\\xe9.txt",
    "n" * 251 + ".txt",
    "é" * 125 + ".txt",
    " .txt",
    "-o.txt",
    "new\nfolder/" + os.fsdecode(b"\xff\xfe") + "/a.txt",
    "[red]bold[/red].txt",
    "\x1b[31mred.txt",
)


def test_files_of_any_name_are_followed(idx: Idx) -> None:
    papers = idx.folder / "papers"
    for name in ODD_NAMES:
        (papers / name).parent.mkdir(parents=True, exist_ok=True)
        (papers / name).write_text("text of a file")
    done = idx("sync", "papers", "--json")
    assert result(done.stdout) == {"added": len(ODD_NAMES), "chunks": len(ODD_NAMES)}
    assert set(ids(idx.index)) == {
        os.fsencode(name).decode(errors="backslashreplace") for name in ODD_NAMES
    }
    for name in ("-o.txt", "\x1b[31mred.txt", "caf\\xe9.txt"):
        shown = idx("show", "--", name).stdout
        assert "text of a file" in shown
        assert "\x1b" not in shown
    assert result(idx("sync", "papers", "--json").stdout) == {"skipped": len(ODD_NAMES)}
    assert "\x1b" not in idx("list").stdout
    for name in ODD_NAMES[1:]:
        (papers / name).unlink()
    assert result(idx("sync", "papers", "--json").stdout) == {
        "deleted": len(ODD_NAMES) - 1,
        "skipped": 1,
    }


@pytest.fixture
def deep_folder(tmp_path: Path) -> Iterator[Path]:
    """Folders in each other, a file as deep as a path can lead, and folders still deeper."""
    folder = make(tmp_path / "papers")
    # With room for the name of an ignore file, without which a folder is not looked at.
    named = (4_095 - len(os.fsencode(folder)) - len("/.gitignore")) // 2
    here = os.open(folder, os.O_RDONLY)
    for number in range(named + 10):
        if number == named:
            file = os.open("f", os.O_WRONLY | os.O_CREAT, dir_fd=here)
            os.write(file, b"at the bottom")
            os.close(file)
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    yield folder
    # The function of Python for it calls itself as often.
    subprocess.run([*REMOVE, folder], check=True)


def test_a_folder_as_deep_as_a_path_can_be_is_read(idx: Idx, deep_folder: Path) -> None:
    (deep_folder / "a.txt").write_text("at the top")
    done = idx("sync", "papers", "--json", code=1)
    assert result(done.stdout) == {"added": 2, "chunks": 2, "failed": 1}
    assert "File name too long" in done.stderr
    assert "d/d/d/" in idx("search", "bottom").stdout
    assert result(idx("sync", "papers", "--json", code=1).stdout) == {"skipped": 2, "failed": 1}


def test_what_is_no_regular_file_is_passed_over(idx: Idx) -> None:
    papers = make(idx.folder / "papers", "a.txt", "inner/b.txt")
    os.mkfifo(papers / "fifo.txt")
    (papers / "dangling.txt").symlink_to("nowhere")
    (papers / "self.txt").symlink_to("self.txt")
    (papers / "inner" / "up").symlink_to("..")
    (papers / "inner" / "twin").symlink_to("../inner")
    (papers / "zero.txt").symlink_to("/dev/zero")
    if os.geteuid() == 0:
        os.mknod(papers / "device.txt", stat.S_IFCHR | 0o600, os.makedev(1, 5))
    with socket.socket(socket.AF_UNIX) as listening:
        # Its address has at most 108 bytes.
        descriptor = os.open(papers, os.O_RDONLY)
        listening.bind(f"/proc/self/fd/{descriptor}/socket.txt")
        os.close(descriptor)
        assert result(idx("sync", "papers", "--json").stdout) == {"added": 2, "chunks": 2}
        followed = result(idx("sync", "papers", "--follow-links", "--json").stdout)
        assert "failed" not in followed
        there = ids(idx.index)
        assert {"a.txt", "inner/b.txt"} <= set(there)
        assert {Path(name).name for name in there} == {"a.txt", "b.txt"}
        assert len(there) < 6
        (papers / "socket.txt").rename(idx.folder / "socket.txt")
        (papers / "fifo.txt").rename(idx.folder / "fifo.txt")
        named = idx("add", "socket.txt", "fifo.txt", "/dev/zero", code=1)
    assert named.stderr.count("is not a regular file") == 3


IGNORE_FILES: Final[dict[str, bytes]] = {
    "stars": b"*a" * 40 + b"*b\n*.log\n",
    "folders": b"**/a/" * 40 + b"**/b\n*.log\n",
    "invalid": b"!\n[z-a]\n[\n\\\n/\n!/\n[[:nope:]]\n{*,\n(?P<x>\n\n*.log\n",
    "bytes": b"\xef\xbb\xbf*.log\n\xff\xfe*\n\0\n",
    "carriage": b"*.log\r\n# comment\r\n",
    "spelled": b"*.log\ncaf\xe9.txt\n",
}


def test_hostile_ignore_files_neither_stop_nor_slow_a_sync(idx: Idx) -> None:
    papers = idx.folder / "papers"
    long_path = "/".join(["a"] * 300)
    for folder, patterns in IGNORE_FILES.items():
        make(papers / folder, "keep.txt", "drop.log", "a" * 250, f"{long_path}/c.txt")
        (papers / folder / ".gitignore").write_bytes(patterns)
    (papers / "spelled" / os.fsdecode(b"caf\xe9.txt")).write_text("ignored")
    done = idx("sync", "papers", "--json")
    assert result(done.stdout) == {"added": 3 * len(IGNORE_FILES), "chunks": 3 * len(IGNORE_FILES)}
    assert not [name for name in ids(idx.index) if name.endswith((".log", "xe9.txt"))]


def test_a_folder_whose_ignore_file_is_too_long_is_left_as_it_was(idx: Idx) -> None:
    papers = make(idx.folder / "papers", "a.txt", "b/c.txt", "b/d/e.txt", "fifo/g.txt")
    idx("sync", "papers")
    make(papers, "b/new.txt", "new.txt")
    (papers / "b" / ".gitignore").write_text("".join(f"/{n:x}*\n" for n in range(130_000)))
    os.mkfifo(papers / "fifo" / ".gitignore")
    (papers / "b" / "c.txt").unlink()
    failed = idx("sync", "papers", "--json", code=1)
    assert result(failed.stdout) == {"added": 1, "skipped": 2, "failed": 2, "chunks": 1}
    assert "b: cannot be listed: .gitignore has more than 100,000 characters" in failed.stderr
    assert ids(idx.index) == ["a.txt", "b/c.txt", "b/d/e.txt", "fifo/g.txt", "new.txt"]


def test_nothing_in_a_folder_is_run_or_changes_settings(idx: Idx) -> None:
    hostile = 'index_path = "elsewhere"\nmax_size = 0\nexclude = ["*"]\nfolders = 3\n'
    settings = ("config.toml", "mcp-lucene/config.toml", "idx/config.toml", "pyproject.toml")
    modules = ("multiprocessing", "signal", "pickle", "struct", "typing", "lucene", "idx/worker")
    make(idx.folder, ".env", "a.txt", *settings, *(f"{module}.py" for module in modules))
    for name in settings:
        (idx.folder / name).write_text(hostile)
    (idx.folder / ".env").write_text("IDX_EXCLUDE=*\nIDX_INDEX_PATH=elsewhere\n")
    for module in modules:
        (idx.folder / f"{module}.py").write_text("open('it ran', 'w')")
    (idx.folder / "idx" / "__init__.py").write_text("open('it ran', 'w')")
    (idx.folder / ".hotspotrc").write_text("+CrashOnNothing\n")
    before = {file.name for file in idx.folder.iterdir()}
    # The folder is that of the command, too.
    done = idx("sync", ".", "--json")
    indexed = {"a.txt", "idx/__init__.py", *settings, *(f"{module}.py" for module in modules)}
    assert set(ids(idx.index)) == indexed
    assert result(done.stdout)["added"] == len(indexed)
    assert {file.name for file in idx.folder.iterdir()} == before
    assert "elsewhere" not in idx("config", "show").stdout
