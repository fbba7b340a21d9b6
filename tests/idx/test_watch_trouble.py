"""`idx watch` where something is in the way: folders that come and go, limits, other writers."""

import itertools
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from shared import Document, Index
from tests.conftest import Idx
from tests.idx.files import ids, make, result
from tests.idx.watched import Watch, texts
from tests.unprivileged import UNPRIVILEGED

FEW_WATCHES = ("unshare", "-r", "sh", "-c", 'echo 3 >/proc/sys/user/max_inotify_watches; exec "$@"')
"""What to put before a command, with another word, for which few folders can be watched."""


@pytest.mark.soak
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_in_the_middle_leaves_what_was_done(
    idx: Idx, empty_index: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    papers = make(tmp_path / "papers", "first.txt")
    with Watch(tmp_path, "papers", "--workers", "1") as watch:
        watch.until_event("watching")
        make(papers, *(f"{number}.txt" for number in range(1_500)))
        watch.until_event("indexed", 100)
        assert watch.end(number) == code
        indexed = {
            event["source_document"] for event in watch.events if event["event"] == "indexed"
        }
    assert 100 <= len(indexed) < 1_501
    kept = ids(empty_index)
    assert indexed <= {*kept}
    told = f"Interrupted: {len(kept):,} documents committed; run the same command to continue.\n"
    assert watch.errors == [told]
    end = result(idx("sync", "papers", "--json").stdout)
    assert end["added"] == 1_501 - len(kept)
    assert len(ids(empty_index)) == 1_501


@pytest.mark.soak
def test_other_writers_work_while_a_watch_runs(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    papers = make(tmp_path / "papers", "a.txt")
    with Watch(tmp_path, "papers", "--wait", "0.1") as watch:
        watch.until_event("watching")
        idx("add", "-d", "by-hand", "-t", "T", "-c", "text")
        with Index(empty_index) as other:
            other.add(Document(id="by-other", title="T", content="text"))
            make(papers, "b.txt")
            watch.until_error("is locked by another writer")
        watch.until_event("indexed", source_document="b.txt")
    assert ids(empty_index) == ["a.txt", "b.txt", "by-hand", "by-other"]


def test_a_missing_folder_is_waited_for_and_one_that_vanishes_deletes_nothing(
    empty_index: Path, tmp_path: Path
) -> None:
    make(tmp_path / "notes", "n.txt")
    with Watch(tmp_path, "papers", "notes") as watch:
        watch.until_error("papers: there is no such file or folder")
        watch.until_event("watching", folders=1)
        make(tmp_path / "papers", "a.txt", "sub/b.txt")
        expected = {
            "notes/n.txt": "text of n.txt",
            "papers/a.txt": "text of a.txt",
            "papers/sub/b.txt": "text of sub/b.txt",
        }
        watch.until(lambda: {*texts(empty_index).values()} == {*expected.values()}, "a, b and n")
        known = texts(empty_index)
        (tmp_path / "papers").rename(tmp_path / "elsewhere")
        watch.until_error("2 documents stay in the index")
        assert texts(empty_index) == known
        (tmp_path / "elsewhere").rename(tmp_path / "papers")
        make(tmp_path / "papers", "sub/c.txt")
        watch.until_event("indexed", 4)
        (tmp_path / "papers" / "sub" / "c.txt").write_text("edited")
        watch.until(lambda: "edited" in texts(empty_index).values(), "the edit")
        assert len([line for line in watch.errors if "no such file" in line]) <= 2


@pytest.mark.soak
def test_an_index_within_the_folder_is_not_followed_without_end(
    empty_index: Path, tmp_path: Path
) -> None:
    make(tmp_path, "a.txt")
    (tmp_path / "link").symlink_to("lucene-index")
    with Watch(tmp_path, ".", "--follow-links", "--hidden") as watch:
        watch.until_event("watching")
        make(tmp_path, "b.txt")
        watch.until_event("indexed", source_document="b.txt")
        make(tmp_path, "c.txt")
        watch.until_event("indexed", source_document="c.txt")
        watch.until_event("finished", 3)
        assert len([event for event in watch.events if event["event"] == "planned"]) == 3


def test_followed_links_are_followed(empty_index: Path, tmp_path: Path) -> None:
    papers = make(tmp_path / "papers", "a.txt")
    make(tmp_path, "outside/b.txt")
    (papers / "link").symlink_to(tmp_path / "outside")
    with Watch(tmp_path, "papers", "--follow-links") as watch:
        watch.until_event("indexed", source_document="link/b.txt")
        watch.until_event("watching")
        make(tmp_path, "outside/c.txt")
        watch.until_event("indexed", source_document="link/c.txt")


@pytest.mark.soak
def test_a_folder_that_may_not_be_read_hides_no_other(empty_index: Path, tmp_path: Path) -> None:
    papers = make(tmp_path / "papers", "a/a.txt", "b/b.txt", "c/c.txt")
    (papers / "b").chmod(0)
    with Watch(tmp_path, "papers", prefix=UNPRIVILEGED) as watch:
        watch.until_error("b: cannot be listed: Permission denied")
        watch.until_event("watching")
        make(papers, "c/new.txt")
        watch.until_event("indexed", source_document="c/new.txt")
        (papers / "b").chmod(0o700)
        watch.until_event("indexed", source_document="b/b.txt")
        (papers / "b" / "b.txt").write_text("edited")
        watch.until_event("indexed", source_document="b/b.txt", action="updated")


@pytest.mark.soak
def test_the_limit_on_watches_is_named_and_does_not_end_the_watch(
    empty_index: Path, tmp_path: Path
) -> None:
    if subprocess.run([*FEW_WATCHES, "sh", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no namespace for users can be made here")
    papers = make(tmp_path / "papers", "a/a.txt", "b/b.txt", "c/c.txt")
    with Watch(tmp_path, "papers", prefix=(*FEW_WATCHES, "sh")) as watch:
        watch.until_error("4 folders cannot be watched: OS file watch limit reached")
        watch.until_error("sysctl")
        watch.until_event("watching")
        shutil.rmtree(papers / "c")
    with Watch(tmp_path, "papers", prefix=(*FEW_WATCHES, "sh")) as watch:
        watch.until_event("watching")
        assert watch.errors == []
        make(papers, "a/new.txt")
        watch.until_event("indexed", source_document="a/new.txt")
        # The folder that is one too many costs the others nothing but time.
        make(papers, "d/new.txt")
        watch.until_event("indexed", source_document="d/new.txt")
        watch.until_error("folders cannot be watched")


@pytest.mark.soak
def test_what_happens_while_the_system_drops_events_is_found(
    empty_index: Path, tmp_path: Path
) -> None:
    papers = make(tmp_path / "papers", "a.txt", "b.txt")
    queued = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    with Watch(tmp_path, "papers") as watch:
        watch.until_event("watching")
        watch.process.send_signal(signal.SIGSTOP)
        for file, _ in zip(itertools.cycle(papers.iterdir()), range(queued + 1), strict=False):
            os.utime(file)
        make(papers, "sub/c.txt")
        watch.process.send_signal(signal.SIGCONT)
        watch.until_event("indexed", source_document="sub/c.txt")
        (papers / "sub" / "c.txt").write_text("edited")
        watch.until_event("indexed", source_document="sub/c.txt", action="updated")


@pytest.mark.soak
def test_where_the_system_tells_nothing_files_are_looked_at(
    empty_index: Path, tmp_path: Path
) -> None:
    papers = make(tmp_path / "papers", "sub/a.txt")
    with Watch(tmp_path, "papers", environment={"WATCHFILES_FORCE_POLLING": "1"}) as watch:
        watch.until_event("watching")
        make(papers, "sub/b.txt", "new/c.txt")
        watch.until_event("indexed", source_document="new/c.txt")
        (papers / "new" / "c.txt").write_text("edited")
        watch.until_event("indexed", source_document="new/c.txt", action="updated")
        (papers / "sub" / "a.txt").unlink()
        watch.until_event("deleted", source_document="sub/a.txt")


@pytest.mark.soak
def test_a_new_index_in_the_place_of_the_old_gets_the_same_ids(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    papers = make(tmp_path / "papers", "sub/a.txt")
    with Watch(tmp_path, "papers") as watch:
        watch.until_event("watching")
        shutil.rmtree(empty_index)
        idx("init")
        make(papers, "sub/b.txt")
        watch.until_event("indexed", source_document="sub/b.txt")


def test_only_folders_can_be_watched(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    make(tmp_path, "a.txt")
    refused = idx("watch", "a.txt", code=1)
    assert "a.txt: is not a folder; only folders can be watched" in refused.stderr


def test_an_index_that_vanishes_ends_the_watch(empty_index: Path, tmp_path: Path) -> None:
    papers = make(tmp_path / "papers", "a.txt")
    with Watch(tmp_path, "papers") as watch:
        watch.until_event("watching")
        shutil.rmtree(empty_index)
        make(papers, "b.txt")
        assert watch.wait_for_end() == 1
        assert "there is no index at" in watch.errors[-1]


def test_people_see_what_changes(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    make(tmp_path / "papers", "a.txt")
    with Watch(tmp_path, "papers", as_json=False) as watch:
        watch.until_error("Watching 1 folder; Ctrl-C ends it.")
        assert watch.lines == ["added a.txt (1 chunk)\n"]
