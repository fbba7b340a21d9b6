"""`idx watch`: whatever happens in a folder, the index follows."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared import create
from tests.idx.files import make
from tests.idx.watched import Watch


@pytest.fixture(scope="module")
def watch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watch]:
    """One watch of the folder `papers`, in which each test has a folder of its own."""
    folder = tmp_path_factory.mktemp("watched")
    (folder / "papers").mkdir()
    create(folder / "lucene-index")
    with Watch(folder, "papers", environment={"XDG_CONFIG_HOME": str(folder / "none")}) as watch:
        watch.until_event("watching", folders=1)
        yield watch


@pytest.fixture
def papers(watch: Watch, request: pytest.FixtureRequest) -> Path:
    """The test's own folder, with a file in it that the index has."""
    folder: Path = watch.index.parent / "papers" / request.node.name
    make(folder, "there.txt")
    watch.until_texts({"there.txt": "text of there.txt"}, f"{folder.name}/")
    return folder


def test_new_changed_and_deleted_files_are_followed(watch: Watch, papers: Path) -> None:
    prefix = f"{papers.name}/"
    make(papers, "new.txt")
    watch.until_texts({"there.txt": "text of there.txt", "new.txt": "text of new.txt"}, prefix)
    (papers / "new.txt").write_text("edited")
    watch.until_texts({"there.txt": "text of there.txt", "new.txt": "edited"}, prefix)
    (papers / "there.txt").unlink()
    watch.until_texts({"new.txt": "edited"}, prefix)


def test_an_editors_save_by_rename_is_an_update(watch: Watch, papers: Path) -> None:
    name = f"{papers.name}/there.txt"
    before = len(watch.events)
    (papers / "there.txt~").write_text("saved")
    (papers / "there.txt~").rename(papers / "there.txt")
    watch.until_texts({"there.txt": "saved"}, f"{papers.name}/")
    actions = [
        (event["event"], event["source_document"])
        for event in watch.events[before:]
        if "source_document" in event
    ]
    assert actions == [("indexed", name)]


def test_files_in_new_folders_are_followed(watch: Watch, papers: Path) -> None:
    prefix = f"{papers.name}/"
    expected = {"there.txt": "text of there.txt", "a/b/c.txt": "text of a/b/c.txt"}
    make(papers, "a/b/c.txt")
    watch.until_texts(expected, prefix)
    (papers / "a" / "b" / "c.txt").write_text("edited")
    make(papers, "a/b/d.txt")
    watch.until_texts({**expected, "a/b/c.txt": "edited", "a/b/d.txt": "text of a/b/d.txt"}, prefix)


@pytest.mark.soak
def test_a_moved_folder_is_followed_in_within_and_out(
    watch: Watch, papers: Path, tmp_path: Path
) -> None:
    prefix = f"{papers.name}/"
    there = {"there.txt": "text of there.txt"}
    make(tmp_path, "folder/a.txt", "folder/deep/b.txt")
    (tmp_path / "folder").rename(papers / "folder")
    texts = {"a.txt": "text of folder/a.txt", "deep/b.txt": "text of folder/deep/b.txt"}
    watch.until_texts(there | {f"folder/{name}": text for name, text in texts.items()}, prefix)
    (papers / "folder").rename(papers / "other")
    watch.until_texts(there | {f"other/{name}": text for name, text in texts.items()}, prefix)
    (papers / "other" / "deep" / "b.txt").write_text("edited")
    texts["deep/b.txt"] = "edited"
    watch.until_texts(there | {f"other/{name}": text for name, text in texts.items()}, prefix)
    (papers / "other").rename(tmp_path / "gone")
    watch.until_texts(there, prefix)
    # What left is no longer watched; a folder that takes its place is.
    (tmp_path / "gone" / "a.txt").write_text("edited elsewhere")
    make(papers, "other/c.txt")
    watch.until_texts({**there, "other/c.txt": "text of other/c.txt"}, prefix)


def test_a_file_that_is_being_written_ends_up_whole(watch: Watch, papers: Path) -> None:
    lines = [f"line {number}\n" for number in range(20)]
    with (papers / "growing.txt").open("w") as file:
        for line in lines:
            file.write(line)
            file.flush()
            time.sleep(0.1)
    watch.until_texts(
        {"growing.txt": "".join(lines), "there.txt": "text of there.txt"}, f"{papers.name}/"
    )


@pytest.mark.soak
def test_a_changed_ignore_file_takes_away_and_gives_back(watch: Watch, papers: Path) -> None:
    prefix = f"{papers.name}/"
    make(papers, "a.log", "logs/b.txt")
    everything = {
        "there.txt": "text of there.txt",
        "a.log": "text of a.log",
        "logs/b.txt": "text of logs/b.txt",
    }
    watch.until_texts(everything, prefix)
    (papers / ".gitignore").write_text("*.log\nlogs/\n")
    watch.until_texts({"there.txt": "text of there.txt"}, prefix)
    (papers / "logs" / "b.txt").write_text("edited while ignored")
    (papers / ".gitignore").unlink()
    everything["logs/b.txt"] = "edited while ignored"
    watch.until_texts(everything, prefix)
    (papers / "logs" / "b.txt").write_text("edited")
    watch.until_texts({**everything, "logs/b.txt": "edited"}, prefix)


@pytest.mark.soak
def test_what_is_skipped_is_not_looked_at(watch: Watch, papers: Path) -> None:
    make(papers, ".git/config", "build/")
    (papers / ".gitignore").write_text("build/\n")
    make(papers, "first.txt")
    watch.until_event("indexed", source_document=f"{papers.name}/first.txt")
    before = len(watch.events)
    make(papers, ".git/index", "build/out.txt")
    # Longer than it takes to be quiet: that would be a look of its own.
    time.sleep(1)
    make(papers, "last.txt")
    watch.until_event("indexed", source_document=f"{papers.name}/last.txt")
    plans = [event for event in watch.events[before:] if event["event"] == "planned"]
    assert all(plan["add"] or plan["skip"] for plan in plans)


def test_a_link_out_of_the_folder_gives_nothing(watch: Watch, papers: Path, tmp_path: Path) -> None:
    make(tmp_path, "outside/stranger.txt")
    before = len(watch.events)
    (papers / "folder").symlink_to(tmp_path / "outside")
    (papers / "file.txt").symlink_to(tmp_path / "outside" / "stranger.txt")
    make(papers, "a.txt")
    watch.until_event("indexed", source_document=f"{papers.name}/a.txt")
    make(tmp_path, "outside/stranger-2.txt")
    (papers / "a.txt").write_text("edited")
    expected = {"there.txt": "text of there.txt", "a.txt": "edited"}
    watch.until_texts(expected, f"{papers.name}/")
    assert "stranger" not in str(watch.events[before:])


@pytest.mark.soak
def test_names_that_are_no_utf8_are_followed(watch: Watch, papers: Path) -> None:
    there = {"there.txt": "text of there.txt"}
    name = os.fsencode(papers) + b"/caf\xe9.txt"
    Path(os.fsdecode(name)).write_text("in Latin-1")
    watch.until_texts({**there, r"caf\xe9.txt": "in Latin-1"}, f"{papers.name}/")
    Path(os.fsdecode(name)).unlink()
    (papers / "there.txt").write_text("edited")
    watch.until_texts({"there.txt": "edited"}, f"{papers.name}/")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_quiet_watch(
    empty_index: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    make(tmp_path, "papers/a.txt")
    with Watch(tmp_path, "papers") as watch:
        watch.until_event("watching")
        assert watch.end(number) == code
        told = "Interrupted: 1 document committed; run the same command to continue.\n"
        assert watch.errors == [told]
