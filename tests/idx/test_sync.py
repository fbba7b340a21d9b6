"""`idx sync`: the index is what the folders are."""

import os
import shutil
from pathlib import Path

import pytest

from tests.conftest import Idx
from tests.idx.files import documents, events, ids, make, result, sync, text_of
from tests.idx.preparation import index_files, indexed
from tests.systems import has_modes, has_pipes_as_files
from tests.unprivileged import UNPRIVILEGED

pytestmark = pytest.mark.usefixtures("empty_index")


def age(file: Path, seconds: int = 60) -> None:
    """Make a file look as if it had been changed a while ago, as most have been."""
    os.utime(file, ns=(0, file.stat().st_mtime_ns - seconds * 1_000_000_000))


def test_new_changed_and_vanished_files_are_found(idx: Idx) -> None:
    papers = make(idx.folder / "papers", "a.txt", "b/c.txt", "d.txt")
    assert sync(idx, "papers") == {"added": 3, "chunks": 3}
    (papers / "a.txt").write_text("another text")
    (papers / "b" / "c.txt").unlink()
    make(papers, "e.txt")
    assert sync(idx, "papers") == {
        "added": 1,
        "updated": 1,
        "deleted": 1,
        "skipped": 1,
        "chunks": 2,
    }
    assert ids(idx.index) == ["a.txt", "d.txt", "e.txt"]
    assert text_of(idx.index, "a.txt") == "another text"


def test_the_plan_is_told_before_and_the_result_after(idx: Idx) -> None:
    make(idx.folder / "papers", "a.txt")
    plan, end = idx("sync", "papers").stdout.splitlines()
    assert plan == "Plan: 1 to add, 0 to update, 0 to delete, 0 unchanged"
    assert end.startswith("Added 1, updated 0, deleted 0, skipped 0, failed 0; 1 chunk in ")
    make(idx.folder / "papers", "b.txt")
    told = events(idx("sync", "papers", "--json").stdout)
    # Where a sync takes long, it commits more than once.
    names = dict.fromkeys(event["event"] for event in told)
    assert [*names] == ["planned", "indexed", "committed", "finished"]
    assert told[0]["add"] == 1
    assert told[1]["source_document"] == "b.txt"


def test_a_dry_run_shows_the_plan_and_does_nothing(idx: Idx) -> None:
    papers = indexed(idx.index, "a.txt", "b.txt", "c.txt")
    (papers / "a.txt").unlink()
    (papers / "b.txt").write_text("changed")
    make(papers, "d.txt")
    assert idx("sync", "papers", "--dry-run").stdout.splitlines() == [
        "ADD    d.txt",
        "UPDATE b.txt",
        "DELETE a.txt",
        "Plan: 1 to add, 1 to update, 1 to delete, 1 unchanged",
    ]
    plan = idx.json("sync", "papers", "--dry-run")
    assert (plan["add"], plan["update"], plan["delete"], plan["skip"]) == (
        ["d.txt"],
        ["b.txt"],
        ["a.txt"],
        1,
    )
    assert ids(idx.index) == ["a.txt", "b.txt", "c.txt"]


@has_modes
def test_an_unchanged_file_is_not_opened(idx: Idx) -> None:
    papers = make(idx.folder / "papers", "a.txt")
    age(papers / "a.txt")
    index_files(idx.index, "papers")
    (papers / "a.txt").chmod(0)
    assert result(idx("sync", "papers", "--json", prefix=UNPRIVILEGED).stdout) == {"skipped": 1}


@has_modes
def test_a_file_that_only_looks_changed_is_compared_once_and_not_read_again(idx: Idx) -> None:
    papers = indexed(idx.index, "a.txt")
    before = documents(idx.index)
    age(papers / "a.txt")
    assert sync(idx, "papers") == {"skipped": 1}
    # Its new time is known now: it is not even opened.
    (papers / "a.txt").chmod(0)
    assert result(idx("sync", "papers", "--json", prefix=UNPRIVILEGED).stdout) == {"skipped": 1}
    assert documents(idx.index) == before


def test_a_change_within_the_clocks_tick_is_seen(idx: Idx) -> None:
    file = make(idx.folder / "papers", "a.txt") / "a.txt"
    # However late reading begins, a later change may bear this time, too.
    age(file, seconds=-60)
    index_files(idx.index, "papers")
    before = file.stat()
    file.write_text("TEXT OF A.TXT")
    os.utime(file, ns=(0, before.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert sync(idx, "papers") == {"updated": 1, "chunks": 1}


def test_sync_without_paths_takes_the_remembered_folders(idx: Idx) -> None:
    make(idx.folder, "papers/a.txt", "notes/b.md", "notes/c.txt")
    assert "there are no folders: name them, or remember them with" in idx("sync", code=1).stderr
    idx("folders", "add", "papers")
    idx("folders", "add", "notes", "--include", "*.md")
    assert sync(idx) == {"added": 2, "chunks": 2}
    assert ids(idx.index) == ["notes/b.md", "papers/a.txt"]


@pytest.mark.soak
def test_two_folders_never_collide_however_they_come(idx: Idx) -> None:
    make(idx.folder, "one/a.txt", "two/a.txt", "three/two/a.txt", "other/two/a.txt")
    sync(idx, "one")
    sync(idx, "two")
    sync(idx, "three", "other/two")
    assert ids(idx.index) == ["a.txt", "other/two/a.txt", "three/two/a.txt", "two/a.txt"]
    # A file of the first folder, which has no name before its ids, where another's begin.
    make(idx.folder / "one", "two/a.txt")
    sync(idx, "one")
    assert "./two/a.txt" in ids(idx.index)
    assert "text of two/a.txt" in idx("show", "./two/a.txt").stdout
    assert sync(idx, "one", "two", "three", "other/two") == {"skipped": 5}


@pytest.mark.soak
def test_folders_in_folders_have_each_file_once(idx: Idx) -> None:
    make(idx.folder / "all", "a.txt", "inner/b.txt", "inner/c/d.txt")
    sync(idx, "all/inner")
    assert ids(idx.index) == ["b.txt", "c/d.txt"]
    assert sync(idx, "all") == {"added": 1, "skipped": 2, "chunks": 1}
    assert ids(idx.index) == ["all/a.txt", "b.txt", "c/d.txt"]
    (idx.folder / "all" / "inner" / "c" / "d.txt").unlink()
    assert sync(idx, "all/inner/c") == {"deleted": 1}


@has_pipes_as_files
@pytest.mark.parametrize("command", ["add", "sync"])
def test_a_named_file_that_its_folder_skips_is_no_silent_success(idx: Idx, command: str) -> None:
    papers = make(
        idx.folder / "papers",
        *("a.txt", ".env", ".hidden", ".git/c.txt", "left.log", "old/b.txt", "~$a.txt"),
    )
    (papers / ".gitignore").write_text("*.log\nold/")
    os.mkfifo(papers / "pipe")
    index_files(idx.index, "papers")
    names = (".env", ".hidden", ".git", "left.log", "pipe", "old/b.txt", "~$a.txt")
    told = idx(command, *(papers / name for name in names), code=1).stderr.splitlines()
    skipped = "is skipped: it is hidden, a secret"
    silent = [
        name for name in names if not any(f"papers/{name}: {skipped}" in line for line in told)
    ]
    assert silent == []
    assert ids(idx.index) == ["a.txt"]


@pytest.mark.parametrize("command", ["add", "sync"])
def test_a_misspelled_path_in_an_indexed_folder_is_named(idx: Idx, command: str) -> None:
    papers = indexed(idx.index, "a.txt")
    for named in ([papers / "b.txt"], [papers, papers / "b.txt"]):
        failed = idx(command, *named, code=1)
        assert f"{Path('papers', 'b.txt')}: there is no such file or folder" in failed.stderr
    (papers / "a.txt").unlink()
    make(papers, "c.txt")
    if command == "sync":
        # This is how a file that is gone leaves the index.
        assert sync(idx, "papers/a.txt") == {"deleted": 1}
        assert ids(idx.index) == []
    else:
        failed = idx("add", papers / "a.txt", code=1)
        assert f"{Path('papers', 'a.txt')}: there is no such file or folder" in failed.stderr
        assert ids(idx.index) == ["a.txt"]


@has_modes
def test_a_path_out_of_reach_is_named_and_the_others_are_done(idx: Idx) -> None:
    make(idx.folder, "papers/a.txt", "closed/known/b.txt", "closed/new/c.txt")
    index_files(idx.index, "papers", "closed/known")
    make(idx.folder, "papers/d.txt")
    (idx.folder / "closed").chmod(0)
    arguments = ("papers", "closed/known", "closed/new")
    failed = idx("sync", *arguments, "--json", code=1, prefix=UNPRIVILEGED)
    assert result(failed.stdout) == {"added": 1, "skipped": 1, "failed": 3, "chunks": 1}
    assert "closed/known: cannot be listed: Permission denied" in failed.stderr
    assert "closed/new: cannot be examined: Permission denied" in failed.stderr
    (idx.folder / "closed").chmod(0o700)
    assert ids(idx.index) == ["known/b.txt", "papers/a.txt", "papers/d.txt"]


def test_an_index_and_its_documents_can_move_together(idx: Idx) -> None:
    make(idx.folder / "disk" / "papers", "a.txt")
    shutil.move(idx.index, idx.folder / "disk" / "index")
    before = idx.folder / "disk" / "index"
    index_files(before, "papers")
    (idx.folder / "disk").rename(idx.folder / "other")
    after = idx.folder / "other" / "index"
    (document,) = idx.json("list", "-i", after)["documents"]
    assert document["file_path"] == (idx.folder / "other" / "papers" / "a.txt").as_posix()
    assert result(idx("sync", "other/papers", "-i", after, "--json").stdout) == {"skipped": 1}
    found = idx("search", "text", "-i", after, "--filter", f"file_path={document['file_path']}")
    assert f"\n   {document['file_path']}, line 1\n" in found.stdout


def test_strict_stops_at_the_first_file_that_cannot_be_read(idx: Idx) -> None:
    papers = make(idx.folder / "papers", "b.txt", "c.txt")
    (papers / "a.pdf").write_bytes(b"%PDF-1.7 nothing")
    stopped = sync(idx, "papers", "--strict", "--workers", "1", code=1)
    assert stopped == {"failed": 1}
    assert sync(idx, "papers", code=0) == {"added": 2, "skipped": 1, "chunks": 2}
