"""`idx purge`, `idx optimize` and `idx unlock`: an index emptied, merged or freed."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from shared import Document, Index, IndexLockedError, Searcher
from shared.maintenance.upkeep import unlock
from shared.reading.open_index import OpenIndex
from tests.conftest import Idx, add_documents
from tests.idx.contents import contents
from tests.idx.files import files, ids, make, sync
from tests.idx.preparation import index_files
from tests.idx.raw_index import files_of_lucene, stored
from tests.idx.segments import fill
from tests.idx.test_index_errors import is_locked
from tests.programs import PROGRAMS, Started
from tests.systems import has_modes
from tests.unprivileged import UNPRIVILEGED
from tests.waiting import wait_for

if sys.platform != "win32":
    import pty


@pytest.fixture
def filled(empty_index: Path) -> Path:
    papers = make(empty_index.parent / "papers", "a.txt", "b/c.txt")
    (papers / "broken.pdf").write_text("%PDF-1.7 nothing")
    index_files(empty_index, "papers")
    add_documents(empty_index, Document("long", "Long", "word " * 700))
    return empty_index


def test_everything_goes_and_a_sync_brings_the_files_again(idx: Idx, filled: Path) -> None:
    assert idx("purge", "--yes").stdout == "Removed 3 documents (6 chunks)\n"
    assert {file.name for file in filled.iterdir()} == {*files_of_lucene(filled), "write.lock"}
    assert idx.json("list")["total_documents"] == 0
    assert idx.json("failures")["total"] == 0
    figures = idx.json("stats")
    assert (figures["folders"], figures["segments"], figures["schema_version"]) == ({}, 0, 5)
    assert sync(idx, "papers", code=1) == {"added": 2, "failed": 1, "chunks": 2}
    assert ids(filled) == ["a.txt", "b/c.txt"]


def test_the_answer_for_programs(idx: Idx, filled: Path) -> None:
    done = idx("purge", "--yes", "--json")
    assert json.loads(done.stdout) == {"deleted_documents": 3, "deleted_chunks": 6}
    assert done.stderr == ""
    done = idx("purge", "-y", "--json")
    assert json.loads(done.stdout) == {"deleted_documents": 0, "deleted_chunks": 0}


def test_without_a_terminal_and_without_yes_nothing_is_removed(idx: Idx, filled: Path) -> None:
    before = contents(filled)
    failed = idx("purge", code=1, stdin="y\n")
    (message,) = failed.stderr.splitlines()
    assert message.startswith("Error: refusing to remove all 3 doc")
    assert message.endswith(" without a terminal; pass --yes")
    assert failed.stdout == ""
    assert contents(filled) == before


@pytest.mark.parametrize(
    ("typed", "code", "left"),
    [
        pytest.param(b"y\n", 0, 0, id="yes"),
        pytest.param(b"n\n", 1, 3, id="no", marks=pytest.mark.soak),
        pytest.param(b"\n", 1, 3, id="enter"),
        pytest.param(b"\x04", 1, 3, id="end", marks=pytest.mark.soak),
        pytest.param(b"\x03", 130, 3, id="interrupt"),
    ],
)
def test_a_terminal_is_asked(filled: Path, typed: bytes, code: int, left: int) -> None:
    terminal, end = pty.openpty()
    with Started(
        PROGRAMS / "idx", "purge", "-i", filled, stdin=end, start_new_session=True
    ) as process:
        asked = process.stderr.read(len("Remove all 3 documents"))
        assert asked == "Remove all 3 documents"
        if typed == b"\x03":
            # The terminal is that of the test run, so it does not make a signal of it.
            process.send_signal(signal.SIGINT)
        else:
            os.write(terminal, typed)
        printed, errors = process.communicate()
    os.close(end)
    os.close(terminal)
    assert process.returncode == code
    assert "Traceback" not in errors
    assert ("Removed 3 documents" in printed) == (code == 0)
    assert ("Nothing was removed." in errors) == (code == 1)
    assert len(ids(filled)) == left


def test_if_the_list_of_failures_cannot_be_deleted_nothing_is_removed(
    idx: Idx, filled: Path
) -> None:
    (filled / "failures.json").unlink()
    before = {file.name: file.read_bytes() for file in filled.iterdir()}
    (filled / "failures.json").mkdir()
    failed = idx("purge", "--yes", code=1)
    (message,) = failed.stderr.splitlines()
    assert "failed: failures.json: Is a directory; the index still has its last commit" in message
    (filled / "failures.json").rmdir()
    assert {file.name: file.read_bytes() for file in filled.iterdir()} == before
    assert len(ids(filled)) == 3


@pytest.fixture
def segments(empty_index: Path) -> Path:
    fill(empty_index)
    return empty_index


def test_one_segment_is_left_and_nothing_is_lost(idx: Idx, segments: Path) -> None:
    papers = make(segments.parent / "papers", "a.txt", "b.txt")
    (papers / "broken.pdf").write_text("%PDF-1.7 nothing")
    idx("sync", "papers", code=1)
    before, shown, old = stored(segments), contents(segments), files_of_lucene(segments)
    was = idx.json("stats")
    assert was["segments"] > 2
    done = idx("optimize")
    now = idx.json("stats")
    assert done.stdout == (
        f"Merged {was['segments']} segments into 1 and removed {was['deleted_chunks']} deleted "
        f"chunks: {was['size_bytes'] / 1e6:.2f} MB before, {now['size_bytes'] / 1e6:.2f} MB now\n"
    )
    assert done.stderr == ""
    # In the order of before, by which equal hits are shown.
    assert stored(segments) == before
    assert contents(segments) == shown
    assert (now["segments"], now["deleted_chunks"]) == (1, 0)
    assert now["size_bytes"] < was["size_bytes"]
    assert now["folders"] == was["folders"]
    new = files_of_lucene(segments)
    assert new.isdisjoint(old)
    assert {file.name for file in segments.iterdir()} == {*new, "failures.json", "write.lock"}
    assert sync(idx, "papers", code=0) == {"skipped": 3}


def test_the_answer_of_optimize_for_programs(idx: Idx, segments: Path) -> None:
    was = idx.json("stats")
    done = idx("optimize", "--json")
    now = idx.json("stats")
    answer = json.loads(done.stdout)
    assert answer.pop("seconds") > 0
    assert answer == {
        "segments_before": was["segments"],
        "segments_after": 1,
        "bytes_before": was["size_bytes"],
        "bytes_after": now["size_bytes"],
        "deleted_chunks": was["deleted_chunks"],
    }


@pytest.mark.soak
def test_an_optimized_index_is_left_alone(idx: Idx, segments: Path) -> None:
    idx("optimize")
    before = files(segments)
    assert idx("optimize").stdout == "The index is already optimized; nothing was written.\n"
    answer = idx.json("optimize")
    assert answer["segments_before"] == answer["segments_after"] == 1
    assert answer["bytes_before"] == answer["bytes_after"]
    assert files(segments) == before


@pytest.mark.soak
def test_deletions_are_reason_enough(idx: Idx, segments: Path) -> None:
    idx("optimize")
    idx("delete", "d11")
    assert "Merged 1 segment into 1 and removed 6 deleted chunks" in idx("optimize").stdout
    assert idx.json("stats")["deleted_chunks"] == 0


def test_an_index_without_documents_is_optimized(idx: Idx, empty_index: Path) -> None:
    assert "nothing was written" in idx("optimize").stdout
    add_documents(empty_index, Document("a", "A", "text"))
    with Index(empty_index) as index:
        index.add(Document("b", "B", "text"))
        index.commit()
        index.delete_documents(["a", "b"])
    idx("optimize")
    assert idx.json("stats")["segments"] == 0


def test_a_reader_sees_the_one_or_the_other(idx: Idx, segments: Path) -> None:
    with Searcher(segments) as searcher, OpenIndex(segments, "command").newest() as old:
        idx("optimize")
        count = old.getIndexReader().numDocs()
        assert count == searcher.statistics().chunks
        assert searcher.statistics().segments == 1
        assert searcher.search("common", limit=1).totalHits == 54


def test_a_lock_that_a_killed_writer_left_is_removed(idx: Idx, empty_index: Path) -> None:
    with Started(PROGRAMS / "idx", "bulk", "-i", empty_index, "-j", "-") as writer:
        wait_for(lambda: is_locked(empty_index))
        writer.kill()
    assert (empty_index / "write.lock").exists()
    assert idx("unlock").stdout == "Removed the lock file; no process held it.\n"
    assert not (empty_index / "write.lock").exists()
    assert idx("unlock").stdout == "The index is not locked; there was nothing to remove.\n"
    idx("add", "-d", "a", "-t", "A", "-c", "text")


def test_the_lock_of_a_process_that_lives_stays(idx: Idx, empty_index: Path) -> None:
    with Started(PROGRAMS / "idx", "bulk", "-i", empty_index, "-j", "-") as writer:
        wait_for(lambda: is_locked(empty_index))
        failed = idx("unlock", code=1)
        (message,) = failed.stderr.splitlines()
        assert f"is locked by another writer, process {writer.pid} (" in message
        assert message.endswith("the lock ends with that process: let it end, or end it")
        assert "--wait" not in message
        assert is_locked(empty_index)
        writer.communicate('{"Id": "a", "Title": "A", "Content": "text"}')
    assert writer.returncode == 0
    assert len(ids(empty_index)) == 1


def test_the_lock_of_the_same_process_stays(idx: Idx, empty_index: Path) -> None:
    # A program that scripts both: the lock of the system would let its own process through.
    with Index(empty_index), pytest.raises(IndexLockedError, match="this process"):
        unlock(empty_index)
    assert unlock(empty_index)
    with Index(empty_index, wait=0):
        pass


def test_the_answer_of_unlock_for_programs(idx: Idx, empty_index: Path) -> None:
    (empty_index / "write.lock").touch()
    assert idx.json("unlock") == {"unlocked": True}
    assert idx.json("unlock") == {"unlocked": False}


@has_modes
def test_a_folder_that_is_read_only_is_named(idx: Idx, empty_index: Path) -> None:
    empty_index.chmod(0o555)
    failed = idx("unlock", code=1, prefix=UNPRIVILEGED)
    assert f"{empty_index} cannot be used: Permission denied" in failed.stderr
    empty_index.chmod(0o755)


def test_the_lock_file_of_another_program_stays(idx: Idx, index_path: Path) -> None:
    index_path.mkdir()
    (index_path / "write.lock").write_text("of another program")
    failed = idx("unlock", code=1)
    assert failed.stderr.startswith(f"Error: there is no index at {index_path}; create one")
    assert (index_path / "write.lock").read_text() == "of another program"


def test_the_lock_of_an_index_that_lost_its_commit_is_removed(idx: Idx, empty_index: Path) -> None:
    idx("add", "-d", "a", "-t", "A", "-c", "text")
    for commit in empty_index.glob("segments_*"):
        commit.unlink()
    assert "Removed the lock file" in idx("unlock").stdout
