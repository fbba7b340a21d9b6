"""`idx backup`: a whole copy, whatever a writer does meanwhile."""

import random
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from shared import Document, Index, Searcher
from shared.maintenance.backup import backup
from shared.maintenance.check import check
from shared.maintenance.upkeep import Step
from shared.writing.index import create
from tests.conftest import Idx
from tests.idx.contents import contents
from tests.idx.damage import flip
from tests.idx.files import files, files_of_index, make
from tests.idx.preparation import index_files
from tests.idx.raw_index import files_of_lucene, stored
from tests.idx.segments import fill
from tests.idx.volumes import enlarge, mount, unmount
from tests.idx.writing_commands import COMMANDS, texts
from tests.programs import PROGRAMS, Started
from tests.systems import has_mode, limits_processes, makes_links

# Each commit replaces both documents, and leaves files of the one before to be deleted.
WRITER = """
import itertools, sys
from shared import Document, Index
with Index(sys.argv[1]) as index:
    for number in itertools.count():
        for name in "ab":
            index.add(Document(name, str(number), f"text {number} " * 2_000))
        index.commit()
        print(number, flush=True)
"""


@pytest.fixture
def filled(empty_index: Path) -> Path:
    fill(empty_index, documents=12)
    papers = make(empty_index.parent / "papers", "a.txt", "b/c.txt")
    (papers / "broken.pdf").write_text("%PDF-1.7 nothing")
    index_files(empty_index, "papers")
    return empty_index


def hidden(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir() if file.name.startswith(".")]


def test_a_backup_is_the_index_and_nothing_else(idx: Idx, filled: Path) -> None:
    before = files(filled)
    figures = idx.json("stats")
    done = idx("backup", "copies/monday")
    copy = idx.folder / "copies" / "monday"
    assert done.stdout == (
        f"Backed up {figures['documents']} documents ({figures['chunks']} chunks, "
        f"{figures['size_bytes'] / 1e6:.2f} MB) to {copy}\n"
    )
    assert done.stderr == ""
    assert files(filled) == before
    assert {file.name for file in copy.iterdir()} == {
        *files_of_lucene(filled),
        "failures.json",
        "backup.json",
    }
    assert stored(copy) == stored(filled)
    assert contents(copy) == contents(filled)
    assert has_mode(copy, 0o700)
    assert "d01-chunk-001" in idx("search", "common", "-i", copy, "--limit", 99).stdout
    assert hidden(copy.parent) == []


def test_the_answer_for_programs(idx: Idx, filled: Path) -> None:
    figures = idx.json("stats")
    answer = idx.json("backup", "copy")
    assert answer.pop("seconds") > 0
    assert answer == {
        "path": str(idx.folder / "copy"),
        "documents": figures["documents"],
        "chunks": figures["chunks"],
        "files": len(files_of_lucene(filled)),
        "size_bytes": figures["size_bytes"],
    }


def test_a_newer_backup_takes_the_place_of_an_older_one(idx: Idx, filled: Path) -> None:
    (idx.folder / "copy").mkdir()
    idx("backup", "copy")
    idx("purge", "--yes")
    idx("add", "-d", "a", "-t", "A", "-c", "text")
    idx("backup", "copy")
    assert contents(idx.folder / "copy") == contents(filled)
    assert {file.name for file in (idx.folder / "copy").iterdir()} == {
        *files_of_lucene(filled),
        "backup.json",
    }
    assert hidden(idx.folder) == []


def slowly(steps: Iterator[Step]) -> Iterator[Step]:
    for step in steps:
        time.sleep(0.02)
        yield step


@pytest.mark.soak
def test_a_writer_that_commits_all_the_time_is_no_hindrance(
    empty_index: Path, tmp_path: Path
) -> None:
    fill(empty_index, documents=12)
    with Started(sys.executable, "-c", WRITER, empty_index) as writer:
        try:
            for copy in ("one", "one", "two", "two"):
                begun = int(writer.stdout.readline())
                done = backup(empty_index, tmp_path / copy, progress=slowly)
                assert done.documents == 12
                with Searcher(tmp_path / copy) as searcher:
                    titles = {searcher.document_chunks(name).chunks[0].title for name in "ab"}
                (title,) = {title.partition(" ")[0] for title in titles}
                assert int(title) >= begun
                assert check(tmp_path / copy).problems == []
                names = {file.name for file in (tmp_path / copy).iterdir()}
                assert names == {*files_of_lucene(tmp_path / copy), "backup.json", "write.lock"}
                # What it wrote meanwhile is of no interest.
                while int(writer.stdout.readline()) < int(title):
                    pass
        finally:
            writer.kill()
    assert hidden(tmp_path) == []


@pytest.mark.soak
def test_a_damaged_index_does_not_take_the_place_of_a_backup(idx: Idx, filled: Path) -> None:
    idx("backup", "copy")
    before = files(idx.folder / "copy")
    file = max(filled.glob("*.cfs"), key=lambda file: file.stat().st_size)
    flip(file)
    failed = idx("backup", "copy", code=1)
    (message,) = failed.stderr.splitlines()
    assert f"the index at {filled} is damaged: file {file.name}: its checksum is wrong" in message
    file.unlink()
    assert f"its file {file.name} is missing" in idx("backup", "copy", code=1).stderr
    assert files(idx.folder / "copy") == before
    assert hidden(idx.folder) == []


@makes_links
def test_a_backup_is_known_by_whichever_path_the_index_is_named(idx: Idx, filled: Path) -> None:
    (idx.folder / "link").symlink_to(filled)
    (idx.folder / "inner").mkdir()
    for path in ("link", "inner/../lucene-index", filled):
        idx("backup", "copy", "-i", path)
        assert contents(idx.folder / "copy") == contents(filled)
    idx("backup", "link/../copy", "-i", "link")


def test_where_a_disk_is_mounted_a_folder_on_it_is_asked_for(idx: Idx, filled: Path) -> None:
    disk = mount(idx.folder / "disk", "10m")
    try:
        assert idx("backup", disk, code=1).stderr.rstrip().endswith(f"such as {disk}/lucene-index")
        assert not any(disk.iterdir())
        idx("backup", disk / "lucene-index")
        assert contents(disk / "lucene-index") == contents(filled)
    finally:
        unmount(disk)


@pytest.mark.soak
def test_another_folder_is_not_overwritten(idx: Idx, filled: Path) -> None:
    make(idx.folder / "mine", "letter.txt")
    assert "contains something other than a backup" in idx("backup", "mine", code=1).stderr
    assert "would lie in the index" in idx("backup", filled, code=1).stderr
    assert "is not a folder" in idx("backup", "mine/letter.txt", code=1).stderr
    (idx.folder / "loop").symlink_to("loop")
    assert "loop is not a folder" in idx("backup", "loop", code=1).stderr
    create(idx.folder / "other")
    idx("backup", "copy", "-i", "other")
    failed = idx("backup", "copy", code=1)
    assert f"is a backup of another index, {idx.folder / 'other'}" in failed.stderr
    assert files(idx.folder / "mine") == {"letter.txt": b"text of letter.txt"}


@pytest.mark.soak
def test_killed_at_any_moment_it_leaves_a_whole_backup(idx: Idx, filled: Path) -> None:
    idx("backup", "copy")
    old = contents(idx.folder / "copy")
    idx("delete", "d01")
    new = contents(filled)
    chosen = random.Random(7)  # noqa: S311 - moments
    killed = 0
    for _ in range(6):
        with Started(PROGRAMS / "idx", "backup", idx.folder / "copy", "-i", filled) as run:
            while run.poll() is None and not hidden(idx.folder):
                time.sleep(0.002)
            time.sleep(chosen.uniform(0, 0.2))
            run.kill()
            killed += run.wait() == -signal.SIGKILL
        assert contents(idx.folder / "copy") in (old, new)
        for name in hidden(idx.folder):
            shutil.rmtree(idx.folder / name)
    assert killed
    idx("backup", "copy")
    assert contents(idx.folder / "copy") == new


@pytest.mark.soak
def test_a_full_disk_leaves_the_older_backup(idx: Idx, filled: Path) -> None:
    disk = mount(idx.folder / "disk", "2m")
    try:
        idx("backup", "disk/copy")
        before = files(disk / "copy")
        with Index(filled) as index:
            words = random.Random(4)  # noqa: S311 - words that do not compress
            for number in range(10):
                text = " ".join(f"{words.getrandbits(64):x}" for _ in range(2_000))
                index.add(Document(f"long{number}", "Title", text))
        failed = idx("backup", "disk/copy", code=1)
        (message,) = failed.stderr.splitlines()
        assert message.startswith(f"Error: the backup {disk / 'copy'} cannot be written: No space")
        assert files(disk / "copy") == before
        assert hidden(disk) == []
        enlarge(disk, "64m")
        idx("backup", "disk/copy")
        assert contents(disk / "copy") == contents(filled)
    finally:
        unmount(disk)


FEW_BYTES: Final = frozenset({"delete", "purge"})
"""Commands that write little: they fail only where nothing at all can be written."""

FREE: Final = {name: (0,) if name in FEW_BYTES else (0, 60_000) for name in COMMANDS}
"""Bytes that are free on the disk when a command begins."""

LIMITS: Final = {name: (100,) if name in FEW_BYTES else (100, 30_000) for name in COMMANDS}
"""How many bytes a file may have."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    volume = mount(tmp_path / "disk", "32m")
    yield volume
    unmount(volume)


@pytest.fixture
def work(prepared: Path, tmp_path: Path) -> Path:
    """What the commands read, in the folder where they run."""
    for path in prepared.iterdir():
        if path.is_dir():
            shutil.copytree(path, tmp_path / path.name)
        else:
            shutil.copy(path, tmp_path)
    return tmp_path


def fill_up(disk: Path, free: int) -> Path:
    """Leave only so many bytes free; the file to delete to have room again."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as stream:
        stream.write(bytes(shutil.disk_usage(disk).free - free))
    return filler


def assert_told(stderr: str, index: Path, reason: str) -> None:
    *_, message = stderr.splitlines()
    assert message.startswith(f"Error: writing to the index at {index} failed: "), stderr
    assert f"{reason}; the index still has its last commit; free some space" in message


@pytest.mark.soak
@pytest.mark.parametrize(
    ("name", "free"), [(name, free) for name, sizes in FREE.items() for free in sizes]
)
def test_a_full_disk(idx: Idx, work: Path, disk: Path, name: str, free: int) -> None:
    index = shutil.copytree(work / "index", disk / "index")
    arguments = (*COMMANDS[name].arguments, "-i", "disk/index")
    before, old = files_of_index(index), texts(index)
    filler = fill_up(disk, free)
    failed = idx(*arguments, code=1)
    assert_told(failed.stderr, index, "No space left on device")
    assert files_of_index(index) == before
    assert check(index, wait=0).problems == []
    filler.unlink()
    assert COMMANDS[name].done in idx(*arguments).stdout
    assert texts(index) != old or name in {"rebuild", "optimize"}
    assert check(index, wait=0).problems == []


@limits_processes
@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("rebuild", None),
        ("restore", None),
        pytest.param("optimize", None, marks=pytest.mark.soak),
        *(
            pytest.param(name, limit, marks=pytest.mark.soak)
            for name, sizes in LIMITS.items()
            for limit in sizes
        ),
    ],
)
def test_files_that_may_not_become_as_long(
    idx: Idx, work: Path, name: str, limit: int | None
) -> None:
    """Without a limit of its own, a file must be shorter than the longest of before."""
    index = work / "index"
    arguments = (*COMMANDS[name].arguments, "-i", "index")
    before = files_of_index(index)
    source = "copy" if name == "restore" else "index"
    longest = max(map(len, files_of_index(work / source).values()))
    failed = idx(*arguments, code=1, prefix=("prlimit", f"--fsize={limit or longest - 1}"))
    assert len(failed.stderr.splitlines()) == 1
    assert_told(failed.stderr, index, "File too large")
    assert files_of_index(index) == before
    assert check(index, wait=0).problems == []
    assert COMMANDS[name].done in idx(*arguments).stdout
