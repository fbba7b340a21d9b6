"""Folders of the index that were renamed, moved or deleted: named, and found at their new place."""

import shutil
from pathlib import Path

import pytest

from shared.settings.current import configuration_file
from tests.configured import write
from tests.conftest import Idx
from tests.idx.files import documents, events, ids, make, result, sync
from tests.idx.preparation import index_files, indexed

pytestmark = pytest.mark.usefixtures("empty_index")


@pytest.fixture
def papers(empty_index: Path, tmp_path: Path) -> Path:
    """A folder of the index, the second one, so that its ids have a prefix."""
    make(tmp_path, "notes/n.txt")
    index_files(empty_index, "notes")
    return indexed(empty_index, "a.txt", "b/c.txt", "b/d.txt", "e.txt")


def test_a_missing_folder_is_named_by_every_sync_with_what_to_do(idx: Idx, papers: Path) -> None:
    shutil.rmtree(papers)
    done = idx("sync", "notes")
    assert done.stderr == (
        f"Warning: {papers}: is missing, and so are the files of 4 documents in the index; if the "
        f"folder was renamed or moved: idx sync NEW --moved-from {papers}; if it is gone for good: "
        f"idx sync --prune-missing {papers}\n"
    )
    told = events(idx("sync", "notes", "--json").stdout)
    (missing,) = [event for event in told if event["event"] == "missingfolder"]
    assert (missing["path"], missing["documents"]) == (str(papers), 4)
    assert f"idx sync NEW --moved-from {papers}" in idx("sync", "papers", code=1).stderr
    sync(idx, "--prune-missing", "papers")
    assert idx("sync", "notes").stderr == ""


def test_a_renamed_folder_keeps_its_documents(idx: Idx, papers: Path) -> None:
    before = ids(idx.index)
    papers.rename(idx.folder / "new papers")
    assert sync(idx, "new papers", "--moved-from", "papers") == {"skipped": 4}
    assert ids(idx.index) == before
    assert documents(idx.index)[-1].file_path == f"{idx.folder}/new papers/e.txt"
    assert sync(idx, "new papers") == {"skipped": 4}
    assert idx("sync", "notes").stderr == ""


def test_real_changes_are_found_in_the_run_that_takes_the_place(idx: Idx, papers: Path) -> None:
    # A copy, whose files have other times.
    shutil.copytree(papers, idx.folder / "moved", copy_function=shutil.copyfile)
    shutil.rmtree(papers)
    (idx.folder / "moved" / "a.txt").write_text("changed")
    (idx.folder / "moved" / "e.txt").unlink()
    make(idx.folder / "moved", "f.txt")
    assert sync(idx, "moved", "--moved-from", papers) == {
        "added": 1,
        "updated": 1,
        "deleted": 1,
        "skipped": 2,
        "chunks": 2,
    }
    assert ids(idx.index) == [
        "n.txt",
        "papers/a.txt",
        "papers/b/c.txt",
        "papers/b/d.txt",
        "papers/f.txt",
    ]


def test_a_folder_can_be_indexed_beside_the_one_it_looks_like(idx: Idx, papers: Path) -> None:
    papers.rename(idx.folder / "moved")
    told = idx("sync", "moved")
    assert "Added 4," in told.stdout
    assert f"idx sync NEW --moved-from {papers}" in told.stderr
    assert sync(idx, "moved") == {"skipped": 4}
    # And even then it can take the place, which leaves each file once.
    done = sync(idx, "moved", "--moved-from", "papers")
    assert done == {"deleted": 4, "skipped": 4}
    assert ids(idx.index) == [
        "n.txt",
        "papers/a.txt",
        "papers/b/c.txt",
        "papers/b/d.txt",
        "papers/e.txt",
    ]


def test_a_dry_run_changes_nothing(idx: Idx, papers: Path) -> None:
    papers.rename(idx.folder / "moved")
    plan = idx.json("sync", "moved", "--dry-run", "--moved-from", "papers")
    assert (plan["add"], plan["delete"], plan["skip"]) == ([], [], 4)
    assert documents(idx.index)[-1].file_path == (papers / "e.txt").as_posix()


def test_the_configuration_follows_a_moved_folder_with_its_patterns(idx: Idx) -> None:
    make(idx.folder / "papers", "a.txt", "b.txt", "old/c.txt")
    make(idx.folder / "notes", "n.txt")
    file = write(
        f"# mine\nfolders = [\n  '{idx.folder}/notes',\n"
        f"  {{path = '{idx.folder}/papers', exclude = ['old/']}},  # the papers\n]\n"
    )
    sync(idx)
    (idx.folder / "papers").rename(idx.folder / "moved")
    done = idx("sync", "moved", "--moved-from", "papers", "--json")
    assert result(done.stdout) == {"skipped": 2}
    assert f"{file} names {idx.folder}/moved in place of {idx.folder}/papers now" in done.stderr
    assert sync(idx) == {"skipped": 3}
    text = configuration_file().read_text()
    assert text.startswith("# mine\n")
    assert "# the papers" in text
    assert str(idx.folder / "papers") not in text


def test_a_folder_remembered_by_its_path_only_is_followed_too(idx: Idx) -> None:
    make(idx.folder, "papers/a.txt", "notes/n.txt")
    write(f"folders = ['{idx.folder}/papers', '{idx.folder}/notes']")
    index_files(idx.index, "papers", "notes")
    (idx.folder / "papers").rename(idx.folder / "moved")
    # Also if it is remembered by its new path already, and no path is named.
    idx("folders", "add", "moved")
    idx("sync", "moved", "--moved-from", "papers")
    listed = idx.json("folders", "list")
    assert [entry["path"] for entry in listed] == [f"{idx.folder}/notes", f"{idx.folder}/moved"]
    assert sync(idx) == {"skipped": 2}


def test_folders_of_the_index_within_a_moved_one_move_with_it(idx: Idx) -> None:
    make(idx.folder / "all", "a.txt", "b.txt", "inner/c.txt")
    index_files(idx.index, "all/inner")
    index_files(idx.index, "all")
    before = ids(idx.index)
    (idx.folder / "all").rename(idx.folder / "moved")
    assert sync(idx, "moved", "--moved-from", "all") == {"skipped": 3}
    assert ids(idx.index) == before
    assert sync(idx, "moved/inner") == {"skipped": 1}


def test_a_move_that_cannot_be_is_refused_with_the_reason(idx: Idx, papers: Path) -> None:
    make(idx.folder, "other/a.txt", "notes/in/a.txt")
    unknown = idx("sync", "other", "--moved-from", "nowhere", code=1).stderr
    assert (
        f"nowhere: is not a folder of the index; its folders: {idx.folder}/notes, {papers}"
        in unknown
    )
    there = idx("sync", "other", "--moved-from", "papers", code=1).stderr
    assert f"{papers}: still exists" in there
    shutil.rmtree(papers)
    part = idx("sync", "notes/in", "--moved-from", "papers", code=1).stderr
    assert f"notes/in: lies in {idx.folder}/notes, a folder of the index" in part
    none = idx("sync", "missing", "--moved-from", "papers", code=1).stderr
    assert "missing: is not a folder" in none
    idx("sync", "other", "notes", "--moved-from", "papers", code=2)
