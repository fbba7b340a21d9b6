"""Folders that mean harm: odd names, great depth, pipes and devices, hostile ignore files."""

import os
import socket
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import Idx
from tests.idx.files import ids, make, result

pytestmark = pytest.mark.soak

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


def test_files_of_any_name_are_followed(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    for name in ODD_NAMES:
        (papers / name).parent.mkdir(parents=True, exist_ok=True)
        (papers / name).write_text("text of a file")
    done = idx("sync", "papers", "--json")
    assert result(done.stdout) == {"added": len(ODD_NAMES), "chunks": len(ODD_NAMES)}
    assert set(ids(empty_index)) == {
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


def test_a_folder_as_deep_as_a_path_can_be_is_read(
    idx: Idx, empty_index: Path, deep_folder: Path
) -> None:
    (deep_folder / "a.txt").write_text("at the top")
    done = idx("sync", "papers", "--json", code=1)
    assert result(done.stdout) == {"added": 2, "chunks": 2, "failed": 1}
    assert "File name too long" in done.stderr
    assert "d/d/d/" in idx("search", "bottom").stdout
    assert result(idx("sync", "papers", "--json", code=1).stdout) == {"skipped": 2, "failed": 1}


def test_what_is_no_regular_file_is_passed_over(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    papers = make(tmp_path / "papers", "a.txt", "inner/b.txt")
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
        there = ids(empty_index)
        assert {"a.txt", "inner/b.txt"} <= set(there)
        assert {Path(name).name for name in there} == {"a.txt", "b.txt"}
        assert len(there) < 6
        (papers / "socket.txt").rename(tmp_path / "socket.txt")
        (papers / "fifo.txt").rename(tmp_path / "fifo.txt")
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


def test_hostile_ignore_files_neither_stop_nor_slow_a_sync(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    papers = tmp_path / "papers"
    long_path = "/".join(["a"] * 300)
    for folder, patterns in IGNORE_FILES.items():
        make(papers / folder, "keep.txt", "drop.log", "a" * 250, f"{long_path}/c.txt")
        (papers / folder / ".gitignore").write_bytes(patterns)
    (papers / "spelled" / os.fsdecode(b"caf\xe9.txt")).write_text("ignored")
    done = idx("sync", "papers", "--json")
    assert result(done.stdout) == {"added": 3 * len(IGNORE_FILES), "chunks": 3 * len(IGNORE_FILES)}
    assert not [name for name in ids(empty_index) if name.endswith((".log", "xe9.txt"))]


def test_a_folder_whose_ignore_file_is_too_long_is_left_as_it_was(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    papers = make(tmp_path / "papers", "a.txt", "b/c.txt", "b/d/e.txt", "fifo/g.txt")
    idx("sync", "papers")
    make(papers, "b/new.txt", "new.txt")
    (papers / "b" / ".gitignore").write_text("".join(f"/{n:x}*\n" for n in range(130_000)))
    os.mkfifo(papers / "fifo" / ".gitignore")
    (papers / "b" / "c.txt").unlink()
    failed = idx("sync", "papers", "--json", code=1)
    assert result(failed.stdout) == {"added": 1, "skipped": 2, "failed": 2, "chunks": 1}
    assert "b: cannot be listed: .gitignore has more than 100,000 characters" in failed.stderr
    assert ids(empty_index) == ["a.txt", "b/c.txt", "b/d/e.txt", "fifo/g.txt", "new.txt"]


def test_nothing_in_a_folder_is_run_or_changes_settings(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    hostile = 'index_path = "elsewhere"\nmax_size = 0\nexclude = ["*"]\nfolders = 3\n'
    settings = ("config.toml", "mcp-lucene/config.toml", "idx/config.toml", "pyproject.toml")
    modules = ("multiprocessing", "signal", "pickle", "struct", "typing", "lucene", "idx/worker")
    make(tmp_path, ".env", "a.txt", *settings, *(f"{module}.py" for module in modules))
    for name in settings:
        (tmp_path / name).write_text(hostile)
    (tmp_path / ".env").write_text("IDX_EXCLUDE=*\nIDX_INDEX_PATH=elsewhere\n")
    for module in modules:
        (tmp_path / f"{module}.py").write_text("open('it ran', 'w')")
    (tmp_path / "idx" / "__init__.py").write_text("open('it ran', 'w')")
    (tmp_path / ".hotspotrc").write_text("+CrashOnNothing\n")
    before = {file.name for file in tmp_path.iterdir()}
    # The folder is that of the command, too.
    done = idx("sync", ".", "--json")
    indexed = {"a.txt", "idx/__init__.py", *settings, *(f"{module}.py" for module in modules)}
    assert set(ids(empty_index)) == indexed
    assert result(done.stdout)["added"] == len(indexed)
    assert {file.name for file in tmp_path.iterdir()} == before
    assert "elsewhere" not in idx("config", "show").stdout
