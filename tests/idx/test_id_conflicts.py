"""The ids of what is found in folders, and two sources of one id."""

import os

import pytest

from shared import Document, Index
from tests.conftest import Idx
from tests.idx.files import documents, ids, make, result, sync, text_of
from tests.systems import has_modes, makes_links
from tests.unprivileged import UNPRIVILEGED

pytestmark = pytest.mark.usefixtures("empty_index")


def test_a_file_of_a_folder_does_not_replace_what_was_added_by_its_id(idx: Idx) -> None:
    papers = make(idx.folder / "papers", "notes.txt", "other.txt")
    idx("add", "-d", "notes.txt", "-t", "Notes", "-c", "written by hand")
    failed = idx("sync", "papers", code=1)
    assert failed.stderr == (
        f"Error: {papers}/notes.txt: has the same id as a document that was added by its id, "
        "'notes.txt'; to index this file instead: idx delete notes.txt\n"
    )
    assert [document.title for document in documents(idx.index)] == ["Notes", "other.txt"]
    idx("delete", "notes.txt")
    assert sync(idx, "papers") == {"added": 1, "skipped": 1, "chunks": 1}


def test_nor_in_an_index_of_many_documents(idx: Idx) -> None:
    make(idx.folder / "papers", "d000", "d299", "new.txt")
    with Index(idx.index) as index:
        for number in range(300):
            index.add(Document(f"d{number:03}", "Title", "text"))
        # Its term is there until a merge.
        index.delete("d299")
    failed = idx("sync", "papers", "--json", code=1)
    assert result(failed.stdout) == {"added": 2, "failed": 1, "chunks": 2}


@makes_links
def test_a_file_named_by_itself_does_not_replace_another_one(idx: Idx) -> None:
    make(idx.folder, "a/report.txt", "b/report.txt", "papers/lease.txt", "c/lease.txt")
    (idx.folder / "link").symlink_to("a")
    idx("add", "a/report.txt", "papers")
    refused = idx("add", "b/report.txt", "c/lease.txt", code=1)
    assert refused.stderr.splitlines() == [
        f"Error: {idx.folder}/{file}: has the same id as {idx.folder}/{other}, {name!r}; "
        f"to index this file instead: idx delete {name}"
        for file, other, name in (
            ("b/report.txt", "a/report.txt", "report.txt"),
            ("c/lease.txt", "papers/lease.txt", "lease.txt"),
        )
    ]
    assert "Added 0, updated 1" in idx("add", "link/report.txt").stdout
    assert sync(idx, "papers") == {"skipped": 1}


@pytest.mark.soak
def test_a_file_is_taken_over_by_its_folder(idx: Idx) -> None:
    make(idx.folder / "papers", "a.txt", "b.txt", "-c.txt")
    idx("add", "papers/a.txt")
    assert sync(idx, "papers") == {"added": 2, "updated": 1, "chunks": 3}
    idx("add", "-d", "-c.txt", "-t", "C", "-c", "text")
    assert "instead: idx delete -- -c.txt" in idx("sync", "papers", code=1).stderr
    assert sync(idx, "papers/a.txt") == {"skipped": 1}


def test_paths_of_one_command_do_not_replace_each_other(idx: Idx) -> None:
    make(idx.folder, "papers/a.txt", "b/a.txt", "one/same.txt", "two/same.txt")
    refused = idx("add", "papers", "b/a.txt", "one/same.txt", "two/same.txt", code=1)
    assert f"b/a.txt: has the same id as {idx.folder}/papers/a.txt" in refused.stderr
    assert f"two/same.txt: has the same id as {idx.folder}/one/same.txt" in refused.stderr
    assert text_of(idx.index, "same.txt") == "text of one/same.txt"


@pytest.mark.soak
def test_the_name_of_a_folder_is_none_that_ids_begin_with(idx: Idx) -> None:
    make(idx.folder, "papers/a.txt", "rented/lease")
    idx("add", "-d", "rented/lease", "-t", "Lease", "-c", "written by hand")
    assert sync(idx, "papers", "rented") == {"added": 2, "chunks": 2}
    assert ids(idx.index) == ["papers/a.txt", "rented/lease", f"{idx.folder.name}/rented/lease"]


def test_the_id_is_the_path_within_the_folder(idx: Idx) -> None:
    make(idx.folder / "papers", "a.txt", "deep/er/b.txt")
    added = idx("add", "papers")
    assert "Added 2, updated 0, deleted 0, skipped 0, failed 0; 2 chunks" in added.stdout
    assert added.stderr == ""
    assert ids(idx.index) == ["a.txt", "deep/er/b.txt"]


def test_several_folders_have_their_names_before_the_ids(idx: Idx) -> None:
    make(idx.folder, "one/papers/a.txt", "two/papers/a.txt", "notes/a.txt", "single.txt")
    idx("add", "one/papers", "two/papers", "notes", "single.txt")
    assert ids(idx.index) == ["notes/a.txt", "one/papers/a.txt", "single.txt", "two/papers/a.txt"]


def test_names_of_every_kind_are_ids(idx: Idx) -> None:
    names = ["عربي.txt", "line\nfeed.txt", "quote'\".txt", "🦦.txt"]
    make(idx.folder / "papers", *names)
    (idx.folder / "papers" / os.fsdecode(b"bad\xff.txt")).write_text("text")
    idx("add", "papers")
    assert sorted(ids(idx.index)) == sorted([*names, "bad\\xff.txt"])
    assert "text" in idx("show", "bad\\xff.txt").stdout


def test_two_names_that_are_spelled_alike_do_not_replace_each_other(idx: Idx) -> None:
    make(idx.folder / "papers", "bad\\xff.txt")
    (idx.folder / "papers" / os.fsdecode(b"bad\xff.txt")).write_text("other text")
    assert "has the same id as" in idx("add", "papers", code=1).stderr
    assert ids(idx.index) == ["bad\\xff.txt"]


@has_modes
def test_a_bad_file_or_folder_costs_only_itself(idx: Idx) -> None:
    folder = make(idx.folder / "papers", "a.txt", "closed/b.txt", "c.txt")
    (folder / "image.txt").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "closed").chmod(0)
    failed = idx("add", "papers", code=1, prefix=UNPRIVILEGED)
    assert "Added 2, updated 0, deleted 0, skipped 0, failed 2" in failed.stdout
    assert "papers/closed: cannot be listed: Permission denied" in failed.stderr
    assert "papers/image.txt: is" in failed.stderr
    (folder / "closed").chmod(0o700)


@makes_links
def test_the_options_reach_the_crawl(idx: Idx) -> None:
    make(idx.folder / "papers", "a.md", "b.txt", ".c.md", "old/d.md")
    (idx.folder / "papers" / "e.md").symlink_to(idx.folder / "papers" / "b.txt")
    idx("add", "papers", "--include", "*.md", "--exclude", "old/", "--hidden", "--follow-links")
    assert ids(idx.index) == [".c.md", "a.md", "e.md"]
