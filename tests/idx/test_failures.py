"""`idx failures` and what a run says: what is not in the index and why, and when it is tried."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from shared import Searcher
from shared.model.failures import FILE_NAME, Failure, load_failures, save_failures
from tests.conftest import Idx
from tests.idx.files import events, ids, make, result, sync
from tests.idx.preparation import index_files
from tests.idx.test_add_files import make_image, pdf_of
from tests.systems import has_mode, makes_links

pytestmark = pytest.mark.usefixtures("empty_index")

DAMAGED = b"%PDF-1.7 nothing"


def failures(index: Path) -> dict[str, tuple[str, str]]:
    """Kind and reason of each failure, in the order in which they are listed."""
    with Searcher(index) as searcher:
        answer = searcher.failures()
    assert answer.total == len(answer.failures)
    return {failure.source_document: (failure.kind, failure.reason) for failure in answer.failures}


@pytest.fixture
def papers(empty_index: Path, tmp_path: Path) -> Path:
    """A folder with a good file and one of each kind of failure, synchronized once."""
    papers = make(tmp_path / "papers", "good.txt", "z/")
    (papers / "z" / "damaged.pdf").write_bytes(DAMAGED)
    (papers / "locked.pdf").write_bytes(pdf_of(["secret"], password="word"))
    (papers / "blank.txt").write_text(" \n")
    make_image(papers / "image.png")
    index_files(empty_index, papers)
    return papers


def test_each_file_is_listed_with_kind_and_reason(idx: Idx, papers: Path) -> None:
    found = failures(idx.index)
    assert list(found) == ["blank.txt", "image.png", "locked.pdf", "z/damaged.pdf"]
    assert found["blank.txt"] == ("empty", "has no text")
    assert found["image.png"][0] == "unsupported"
    assert "is a picture" in found["image.png"][1]
    assert found["locked.pdf"] == ("failed", "protected by a password; give it with --pdf-password")
    assert found["z/damaged.pdf"][0] == "failed"
    assert "is a damaged PDF" in found["z/damaged.pdf"][1]
    answer = idx.json("failures")
    assert answer["total"] == 4
    assert [failure["source_document"] for failure in answer["failures"]] == list(found)
    *_, last = answer["failures"]
    assert last["file_path"] == (papers / "z" / "damaged.pdf").as_posix()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", last["tried"])
    table = idx("failures").stdout
    assert str(papers / "locked.pdf") in table
    assert table.endswith("4 files\n")
    listed = idx("failures", "--unsupported", "--plain").stdout.splitlines()
    assert listed == [(papers / "image.png").as_posix()]


def test_unchanged_ones_are_not_tried_again_unless_asked_for(idx: Idx, papers: Path) -> None:
    before = (idx.index / FILE_NAME).read_text()
    told = idx("sync", "papers")
    assert "1 unchanged, 4 unreadable before (idx failures; again: --retry)" in told.stdout
    assert not told.stderr
    assert sync(idx, "papers") == {"skipped": 5}
    assert (idx.index / FILE_NAME).read_text() == before
    assert sync(idx, "papers", "--retry", code=1) == {
        "skipped": 1,
        "failed": 2,
        "unsupported": 1,
        "empty": 1,
    }
    assert len(failures(idx.index)) == 4
    assert sync(idx, "papers", "--retry", "--pdf-password", "word", code=1)["added"] == 1
    assert "locked.pdf" not in failures(idx.index)


def test_changed_ones_are_tried_again(idx: Idx, papers: Path) -> None:
    (papers / "z" / "damaged.pdf").write_bytes(pdf_of(["mended"]))
    (papers / "blank.txt").write_text("no longer blank")
    (papers / "locked.pdf").write_bytes(DAMAGED)
    assert sync(idx, "papers", code=1) == {"added": 2, "chunks": 2, "failed": 1, "skipped": 2}
    assert list(failures(idx.index)) == ["image.png", "locked.pdf"]
    assert "is a damaged PDF" in failures(idx.index)["locked.pdf"][1]


def test_ones_with_another_time_only_are_tried_again(idx: Idx, papers: Path) -> None:
    os.utime(papers / "locked.pdf", ns=(0, 1_000_000_000))
    assert sync(idx, "papers", code=1) == {"failed": 1, "skipped": 4}


def test_a_failure_goes_with_its_file(idx: Idx, papers: Path) -> None:
    (papers / "image.png").unlink()
    (papers / "z" / "damaged.pdf").rename(papers / "z" / "moved.pdf")
    assert sync(idx, "papers", "--exclude", "blank.txt", code=1) == {"failed": 1, "skipped": 2}
    assert list(failures(idx.index)) == ["locked.pdf", "z/moved.pdf"]


def test_a_failure_of_a_file_named_by_itself_goes_with_it(idx: Idx, papers: Path) -> None:
    (idx.folder / "single.pdf").write_bytes(b"%PDF-1.7 damaged")
    idx("add", "single.pdf", code=1)
    sync(idx, "papers")
    assert "single.pdf" in failures(idx.index)
    (idx.folder / "single.pdf").unlink()
    sync(idx, "papers")
    assert [*failures(idx.index)] == ["blank.txt", "image.png", "locked.pdf", "z/damaged.pdf"]


def test_failures_outside_of_the_paths_of_a_sync_stay(idx: Idx, papers: Path) -> None:
    (papers / "image.png").unlink()
    (papers / "z" / "damaged.pdf").unlink()
    idx("sync", "papers/z")
    assert list(failures(idx.index)) == ["blank.txt", "image.png", "locked.pdf"]


def test_a_failure_stays_where_nothing_proves_that_its_file_is_gone(idx: Idx, papers: Path) -> None:
    papers.rename(papers.with_name("elsewhere"))
    sync(idx, "papers", code=1)
    assert len(failures(idx.index)) == 4
    sync(idx, "papers", "--prune-missing")
    assert failures(idx.index) == {}
    assert ids(idx.index) == []


@pytest.mark.soak
def test_an_older_version_stays_searchable_until_the_file_is_emptied_or_deleted(
    idx: Idx, papers: Path
) -> None:
    (papers / "good.txt").write_bytes(DAMAGED)
    assert sync(idx, "papers", code=1) == {"failed": 1, "skipped": 4}
    assert "good.txt" in failures(idx.index)
    assert "**text** of good.txt" in idx("search", "text").stdout
    assert sync(idx, "papers") == {"skipped": 5}
    assert ids(idx.index) == ["good.txt"]
    (papers / "good.txt").write_text("")
    emptied = events(idx("sync", "papers", "--json").stdout)
    assert [event["event"] for event in emptied[1:3]] == ["notindexed", "deleted"]
    assert emptied[2]["source_document"] == "good.txt"
    assert (emptied[-1]["empty"], emptied[-1]["deleted"]) == (1, 1)
    assert ids(idx.index) == []
    assert failures(idx.index)["good.txt"] == ("empty", "has no text")


@pytest.mark.soak
def test_a_file_that_is_as_it_was_once_more_is_no_failure(idx: Idx, papers: Path) -> None:
    good = papers / "good.txt"
    os.utime(good, ns=(0, 1_000_000_000))
    sync(idx, "papers")
    good.write_bytes(DAMAGED)
    sync(idx, "papers", code=1)
    good.write_text("text of good.txt")
    os.utime(good, ns=(0, 1_000_000_000))
    assert sync(idx, "papers") == {"skipped": 5}
    assert "good.txt" not in failures(idx.index)


@pytest.mark.soak
def test_failures_that_cannot_be_read_any_more_are_found_again(idx: Idx, papers: Path) -> None:
    listed = failures(idx.index)
    file = idx.index / FILE_NAME
    file.unlink()
    sync(idx, "papers", code=1)
    assert failures(idx.index) == listed


def test_an_index_without_failures_has_none(idx: Idx) -> None:
    assert failures(idx.index) == {}
    assert idx("failures").stdout.endswith("0 files\n")
    assert "there is no index at" in idx("failures", "-i", "nowhere", code=1).stderr


def test_failures_are_kept_as_they_are(tmp_path: Path) -> None:
    folder = make(tmp_path / "folder")
    kept: dict[str, Any] = {
        "a\n\x80": Failure("b/", "ü\n", "failed", 'says "no"', 2**40, 10**19, "2025-03-01"),
        "c": Failure(None, "/c", "empty", "", 0, 0, ""),
    }
    save_failures(folder, kept)
    assert load_failures(folder) == kept
    assert has_mode(folder / FILE_NAME, 0o600)
    (folder / f"{FILE_NAME}.new").write_text("left behind by a killed run")
    save_failures(folder, {})
    assert load_failures(folder) == {}
    assert [file.name for file in folder.iterdir()] == [FILE_NAME]


@makes_links
def test_a_link_in_the_index_leads_no_failure_elsewhere(tmp_path: Path) -> None:
    letter, index = tmp_path / "letter.txt", tmp_path / "index"
    letter.write_text("Dear Ann")
    index.mkdir()
    for name in (FILE_NAME, f"{FILE_NAME}.new"):
        (index / name).symlink_to(letter)
    save_failures(index, {"c": Failure(None, "/c", "empty", "", 0, 0, "")})
    assert letter.read_text() == "Dear Ann"
    assert [*load_failures(index)] == ["c"]


def test_many_empty_files_are_named_ten_times_and_then_counted(idx: Idx) -> None:
    papers = make(idx.folder / "papers", "a.txt", *(f"{number}/" for number in range(25)))
    for number in range(25):
        (papers / str(number) / "__init__.py").touch()
    done = idx("sync", "papers", "--json")
    assert [event["event"] for event in events(done.stdout)].count("notindexed") == 25
    told = done.stderr.splitlines()
    assert len(told) == 11
    assert all(line.endswith("/__init__.py: has no text") for line in told[:10])
    assert told[10] == "Warning: and 15 more empty files; list them with: idx failures"
    assert idx("failures").stdout.count("__init__.py") == 25


def test_ten_empty_files_are_all_named(idx: Idx) -> None:
    papers = make(idx.folder / "papers")
    for number in range(10):
        (papers / f"{number}.txt").touch()
    told = idx("sync", "papers").stderr.splitlines()
    assert len(told) == 10
    assert not any("more" in line for line in told)


def test_files_read_in_part_are_listed_until_they_are_whole(idx: Idx) -> None:
    papers = make(idx.folder / "papers")
    for number in range(11):
        (papers / f"{number}.pdf").write_bytes(pdf_of(["text", ""]))
    told = idx("sync", "papers").stderr.splitlines()
    assert len(told) == 11
    assert told[10] == "Warning: and 1 more file read only in part; list them with: idx failures"
    listed = idx("failures").stdout
    assert listed.count("1 page has no text (2)") == 11
    assert "partial" in listed
    assert result(idx("sync", "papers", "--json").stdout) == {"skipped": 11}
    assert idx("failures").stdout == listed
    for number in range(1, 11):
        (papers / f"{number}.pdf").unlink()
    (papers / "0.pdf").write_bytes(pdf_of(["text", "more text"]))
    index_files(idx.index, "papers")
    assert idx("failures").stdout.endswith("0 files\n")


def test_a_file_read_in_part_comes_back_after_it_was_deleted(idx: Idx) -> None:
    (make(idx.folder / "papers") / "a.pdf").write_bytes(pdf_of(["text", ""]))
    idx("sync", "papers")
    idx("delete", "a.pdf")
    assert result(idx("sync", "papers", "--json").stdout) == {"added": 1, "chunks": 1}


@pytest.mark.parametrize("command", ["add", "sync"])
def test_every_message_names_files_by_their_absolute_paths(idx: Idx, command: str) -> None:
    papers = make(idx.folder / "papers")
    (papers / "empty.txt").touch()
    (papers / "part.pdf").write_bytes(pdf_of(["text", ""]))
    (papers / "damaged.pdf").write_bytes(b"%PDF-1.7 nothing")
    make_image(idx.folder / "image.png")
    told = idx(command, "papers", "image.png", "nowhere", code=1).stderr.splitlines()
    named = [line.split(": ")[1] for line in told]
    within = ("damaged.pdf", "empty.txt", "part.pdf")
    names = ("image.png", "nowhere", *(f"papers/{name}" for name in within))
    assert sorted(named) == [f"{idx.folder}/{name}" for name in names]


def test_a_document_of_one_file_names_it_by_its_absolute_path(idx: Idx) -> None:
    (idx.folder / "part.pdf").write_bytes(pdf_of(["text", ""]))
    added = idx("add", "-d", "part", "-t", "Part", "-f", "part.pdf")
    assert added.stderr.startswith(f"Warning: {idx.folder}/part.pdf: ")
    failed = idx("add", "-d", "none", "-t", "None", "-f", "none.pdf", code=1)
    assert failed.stderr.startswith(f"Error: {idx.folder}/none.pdf: ")
