"""What a run says of files that it could not read, or only in part: not too much, and where."""

import subprocess
from pathlib import Path

import pytest

from tests.conftest import Idx
from tests.idx.files import events, make, result
from tests.idx.preparation import index_files
from tests.idx.test_add_files import make_image, pdf_of


def messages(done: subprocess.CompletedProcess[str]) -> list[str]:
    return done.stderr.splitlines()


def test_many_empty_files_are_named_ten_times_and_then_counted(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    papers = make(tmp_path / "papers", "a.txt", *(f"{number}/" for number in range(25)))
    for number in range(25):
        (papers / str(number) / "__init__.py").touch()
    told = messages(idx("sync", "papers"))
    assert len(told) == 11
    assert all(line.endswith("/__init__.py: has no text") for line in told[:10])
    assert told[10] == "Warning: and 15 more empty files; list them with: idx failures"
    assert idx("failures").stdout.count("__init__.py") == 25


def test_every_empty_file_is_an_event(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    papers = make(tmp_path / "papers")
    for number in range(12):
        (papers / f"{number}.txt").touch()
    done = idx("sync", "papers", "--json")
    named = [event for event in events(done.stdout) if event["event"] == "notindexed"]
    assert len(named) == 12
    assert messages(done)[-1].startswith("Warning: and 2 more empty files; ")


def test_ten_empty_files_are_all_named(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    papers = make(tmp_path / "papers")
    for number in range(10):
        (papers / f"{number}.txt").touch()
    told = messages(idx("sync", "papers"))
    assert len(told) == 10
    assert not any("more" in line for line in told)


def test_files_read_in_part_are_listed_until_they_are_whole(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    papers = make(tmp_path / "papers")
    for number in range(11):
        (papers / f"{number}.pdf").write_bytes(pdf_of(["text", ""]))
    told = messages(idx("sync", "papers"))
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
    index_files(empty_index, "papers")
    assert idx("failures").stdout.endswith("0 files\n")


def test_a_file_read_in_part_comes_back_after_it_was_deleted(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    (make(tmp_path / "papers") / "a.pdf").write_bytes(pdf_of(["text", ""]))
    idx("sync", "papers")
    idx("delete", "a.pdf")
    assert result(idx("sync", "papers", "--json").stdout) == {"added": 1, "chunks": 1}


@pytest.mark.parametrize("command", ["add", "sync"])
def test_every_message_names_files_by_their_absolute_paths(
    idx: Idx, empty_index: Path, tmp_path: Path, command: str
) -> None:
    papers = make(tmp_path / "papers")
    (papers / "empty.txt").touch()
    (papers / "part.pdf").write_bytes(pdf_of(["text", ""]))
    (papers / "damaged.pdf").write_bytes(b"%PDF-1.7 nothing")
    make_image(tmp_path / "image.png")
    told = messages(idx(command, "papers", "image.png", "nowhere", code=1))
    named = [line.split(": ")[1] for line in told]
    assert sorted(named) == [
        f"{tmp_path}/{name}"
        for name in (
            "image.png",
            "nowhere",
            "papers/damaged.pdf",
            "papers/empty.txt",
            "papers/part.pdf",
        )
    ]


def test_a_document_of_one_file_names_it_by_its_absolute_path(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    (tmp_path / "part.pdf").write_bytes(pdf_of(["text", ""]))
    added = idx("add", "-d", "part", "-t", "Part", "-f", "part.pdf")
    assert added.stderr.startswith(f"Warning: {tmp_path}/part.pdf: ")
    failed = idx("add", "-d", "none", "-t", "None", "-f", "none.pdf", code=1)
    assert failed.stderr.startswith(f"Error: {tmp_path}/none.pdf: ")


def test_files_that_can_never_be_read_fail_the_first_sync_only(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    papers = make(tmp_path / "papers", "good.txt")
    (papers / "protected.pdf").write_bytes(pdf_of(["secret"], password="word"))
    (papers / "scan.pdf").write_bytes(pdf_of(["", ""]))
    make_image(papers / "image.png")
    idx("sync", "papers", code=1)
    again = idx("sync", "papers", code=0)
    assert "1 unchanged, 3 unreadable before" in again.stdout
    assert again.stderr == ""
    (papers / "another.pdf").write_bytes(b"%PDF-1.7 nothing")
    told = messages(idx("sync", "papers", code=1))
    assert len(told) == 1
    assert told[0].startswith(f"Error: {papers}/another.pdf: is a damaged PDF")
