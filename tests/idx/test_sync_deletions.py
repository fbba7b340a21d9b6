"""What `idx sync` deletes with proof that a file is gone, and brings back after `idx delete`."""

import shutil

import pytest

from shared import Document
from tests.configured import write
from tests.conftest import Idx, add_documents
from tests.idx.files import ids, make, result, sync
from tests.idx.preparation import index_files, indexed
from tests.idx.volumes import mount, unmount
from tests.systems import has_modes
from tests.unprivileged import UNPRIVILEGED

pytestmark = pytest.mark.usefixtures("empty_index")


def test_only_what_is_in_the_paths_is_deleted(idx: Idx) -> None:
    papers = indexed(idx.index, "a/b.txt", "c/d.txt", "e.txt")
    for name in ("a/b.txt", "c/d.txt", "e.txt"):
        (papers / name).unlink()
    make(papers, "f.txt")
    assert sync(idx, "papers/a") == {"deleted": 1}
    assert sync(idx, "papers/e.txt") == {"deleted": 1}
    assert ids(idx.index) == ["c/d.txt"]


def test_documents_of_other_origin_stay(idx: Idx) -> None:
    papers = make(idx.folder / "papers", "a.txt", "b.txt")
    make(idx.folder, "single.txt")
    add_documents(idx.index, Document("by-hand", "T", "text"))
    index_files(idx.index, "single.txt")
    index_files(idx.index, "papers")
    (papers / "a.txt").unlink()
    assert sync(idx, "papers") == {"deleted": 1, "skipped": 1}
    assert ids(idx.index) == ["b.txt", "by-hand", "single.txt"]


def test_what_is_newly_skipped_leaves_the_index(idx: Idx) -> None:
    papers = indexed(idx.index, "a.txt", "b.log", "old/c.txt", "d.txt")
    (papers / ".gitignore").write_text("*.log")
    assert sync(idx, "papers", "--exclude", "old/") == {"deleted": 2, "skipped": 2}
    assert ids(idx.index) == ["a.txt", "d.txt"]


def test_a_missing_folder_deletes_nothing(idx: Idx) -> None:
    papers = indexed(idx.index, "a.txt", "b.txt")
    papers.rename(idx.folder / "elsewhere")
    failed = idx("sync", "papers", code=1)
    assert "papers: cannot be listed: No such file or directory" in failed.stderr
    assert "2 documents stay in the index" in failed.stderr
    assert f"delete them anyway with: idx sync --prune-missing {papers}\n" in failed.stderr
    assert ids(idx.index) == ["a.txt", "b.txt"]
    assert sync(idx, "papers", "--prune-missing") == {"deleted": 2}
    assert ids(idx.index) == []


@pytest.mark.soak
def test_of_a_missing_folder_a_part_can_be_given_up(idx: Idx) -> None:
    papers = make(idx.folder / "papers", "a.txt", "su b/b.txt")
    sync(idx, "papers")
    papers.rename(idx.folder / "elsewhere")
    failed = idx("sync", "papers/su b", code=1)
    assert f"with: idx sync --prune-missing '{papers}/su b'\n" in failed.stderr
    assert sync(idx, "papers/su b", "--prune-missing") == {"deleted": 1}
    assert ids(idx.index) == ["a.txt"]
    # The folder is still known.
    assert sync(idx, "papers", "--prune-missing") == {"deleted": 1}


def test_a_part_of_a_folder_with_nothing_in_it_deletes_nothing(idx: Idx) -> None:
    papers = make(idx.folder / "papers", "a.txt", "sub/b.txt")
    (papers / "broken.pdf").write_bytes(b"%PDF-1.7")
    idx("sync", "papers", code=1)
    shutil.rmtree(papers)
    # As a mount point is left on which nothing is mounted.
    papers.mkdir()
    for part in ("papers/sub", "papers/a.txt"):
        failed = idx("sync", part, code=1)
        assert "is empty, but 1 document was made of files in it" in failed.stderr
    idx("sync", "papers", code=1)
    assert ids(idx.index) == ["a.txt", "sub/b.txt"]
    assert "broken.pdf" in idx("failures").stdout
    (papers / "c.txt").write_text("now it is there")
    assert sync(idx, "papers/sub") == {"deleted": 1}


def test_an_emptied_folder_deletes_nothing(idx: Idx) -> None:
    papers = indexed(idx.index, "a.txt", "sub/b.txt")
    shutil.rmtree(papers)
    (papers / "sub").mkdir(parents=True)
    failed = idx("sync", "papers", code=1)
    assert "papers: is empty, but 2 documents were made of files in it" in failed.stderr
    assert ids(idx.index) == ["a.txt", "sub/b.txt"]
    assert sync(idx, "papers", "--prune-missing") == {"deleted": 2}


@has_modes
def test_a_folder_that_cannot_be_listed_deletes_nothing_of_its_own(idx: Idx) -> None:
    papers = indexed(idx.index, "closed/a.txt", "closed/deep/b.txt", "c.txt", "d.txt")
    (papers / "closed").chmod(0)
    (papers / "c.txt").unlink()
    failed = idx("sync", "papers", "--json", code=1, prefix=UNPRIVILEGED)
    assert result(failed.stdout) == {"deleted": 1, "skipped": 1, "failed": 2}
    assert "closed: cannot be listed: Permission denied" in failed.stderr
    (papers / "closed").chmod(0o700)
    assert ids(idx.index) == ["closed/a.txt", "closed/deep/b.txt", "d.txt"]


def test_the_documents_of_a_forgotten_folder_can_be_deleted(idx: Idx) -> None:
    make(idx.folder, "papers/a.txt", "notes/b.txt", "gone/c.txt")
    idx("folders", "add", "papers", "notes", "gone")
    index_files(idx.index, "papers", "notes", "gone")
    shutil.rmtree(idx.folder / "gone")
    told = idx("folders", "remove", "papers", "gone").stderr
    assert "idx sync --exclude '*' --prune-missing" in told
    assert sync(idx, "papers", "gone", "--exclude", "*", "--prune-missing") == {"deleted": 2}
    assert ids(idx.index) == ["notes/b.txt"]


def test_a_missing_folder_can_be_given_up_in_any_order(idx: Idx) -> None:
    make(idx.folder, "papers/", "notes/b.txt")
    index_files(idx.index, "papers")
    index_files(idx.index, "notes")
    make(idx.folder, "papers/notes/a.txt")
    index_files(idx.index, "papers")
    assert ids(idx.index) == ["./notes/a.txt", "notes/b.txt"]
    shutil.rmtree(idx.folder / "notes")
    assert sync(idx, "notes", "papers", "--prune-missing") == {"deleted": 1, "skipped": 1}
    assert sync(idx, "papers") == {"deleted": 1, "added": 1, "chunks": 1}
    assert ids(idx.index) == ["notes/a.txt"]


def test_files_that_moved_to_another_volume_are_as_safe_as_others_on_it(idx: Idx) -> None:
    papers = indexed(idx.index, "a.txt", "volume/b.txt", "volume/c.txt")
    moved = (papers / "volume").rename(idx.folder / "moved")
    volume = mount(papers / "volume", "1m")
    try:
        shutil.copytree(moved, volume, dirs_exist_ok=True)
        (volume / "c.txt").touch()
        assert sync(idx, "papers") == {"skipped": 3}
    finally:
        unmount(volume)
    assert result(idx("sync", "papers", "--json", code=1).stdout) == {"skipped": 1, "failed": 2}
    assert ids(idx.index) == ["a.txt", "volume/b.txt", "volume/c.txt"]
    shutil.copytree(moved, volume, dirs_exist_ok=True)
    assert sync(idx, "papers") == {"skipped": 3}
    shutil.rmtree(volume)
    assert sync(idx, "papers") == {"skipped": 1, "deleted": 2}


def test_a_volume_that_is_not_mounted_deletes_nothing(idx: Idx) -> None:
    papers = make(idx.folder / "papers", "a.txt", "b.txt")
    volume = mount(papers / "volume", "1m")
    try:
        make(volume, "c.txt", "deep/d.txt")
        index_files(idx.index, "papers")
        (papers / "b.txt").unlink()
    finally:
        unmount(volume)
    failed = idx("sync", "papers", "--json", code=1)
    assert result(failed.stdout) == {"deleted": 1, "skipped": 1, "failed": 2}
    assert (
        "volume/c.txt: lies on a volume that is not mounted; 2 documents were made" in failed.stderr
    )
    assert ids(idx.index) == ["a.txt", "volume/c.txt", "volume/deep/d.txt"]
    mount(volume, "1m")
    try:
        make(volume, "c.txt")
        assert sync(idx, "papers") == {"deleted": 1, "skipped": 2}
    finally:
        unmount(volume)


def test_a_document_that_the_next_sync_brings_back_is_told(idx: Idx) -> None:
    papers = indexed(idx.index, "a b.txt", "c.txt", "d.txt", "e.txt")
    done = idx("delete", "a b.txt")
    assert done.stdout == "Deleted document 'a b.txt' (1 chunks)\n"
    assert done.stderr == (
        "Warning: the next idx sync adds 1 document again, because the file still exists: "
        f"{papers}/a b.txt; to keep it out, add the line /a b.txt to {papers}/.idxignore\n"
    )
    (papers / "e.txt").unlink()
    told = idx("delete", "c.txt", "d.txt", "e.txt").stderr
    assert "the next idx sync adds 2 documents again" in told
    assert told.endswith(f"to keep this one out, add the line /c.txt to {papers}/.idxignore\n")
    (papers / ".idxignore").write_text("/a b.txt\n")
    assert sync(idx, "papers") == {"added": 2, "chunks": 2}


@pytest.mark.parametrize("name", ["a[1]*?.txt", "back\\slash.txt", "!first.txt", "#x", "end.txt "])
def test_the_line_that_is_named_keeps_the_file_out_and_no_other(idx: Idx, name: str) -> None:
    papers = indexed(idx.index, name, "a1x.txt", "slash.txt", "deep/a1x.txt")
    told = idx("delete", "--", name).stderr
    line = told.partition("add the line ")[2].partition(f" to {papers}")[0]
    (papers / ".idxignore").write_text(f"{line}\n")
    assert sync(idx, "papers") == {"skipped": 3}
    assert name not in ids(idx.index)


def test_what_no_sync_brings_back_is_deleted_without_a_word(idx: Idx) -> None:
    papers = make(idx.folder / "papers", "a.txt", "gone.txt", "b.log", "c.txt")
    make(idx.folder, "single.txt")
    write(f"folders = [{{path = '{papers}', exclude = ['b.*']}}]\nexclude = ['/c.txt']")
    add_documents(idx.index, Document("by-hand", "T", "text"))
    index_files(idx.index, "single.txt")
    index_files(idx.index, "papers")
    (papers / "gone.txt").unlink()
    for name in ("by-hand", "single.txt", "gone.txt"):
        assert idx("delete", name).stderr == ""
    write("")
    index_files(idx.index, "papers")
    write(f"folders = [{{path = '{papers}', exclude = ['b.*']}}]\nexclude = ['/c.txt']")
    assert idx("delete", "b.log", "c.txt").stderr == ""
