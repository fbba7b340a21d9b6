"""`idx purge`: an index without documents, only if somebody says yes."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from shared import Document
from tests.conftest import Idx, add_documents
from tests.idx.contents import contents
from tests.idx.files import ids, make, sync
from tests.idx.preparation import index_files
from tests.idx.raw_index import files_of_lucene
from tests.programs import PROGRAMS, Started

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
    assert json.loads(idx("list", "--json").stdout)["total_documents"] == 0
    assert json.loads(idx("failures", "--json").stdout)["total"] == 0
    figures = json.loads(idx("stats", "--json").stdout)
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
