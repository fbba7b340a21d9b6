"""Writers stopped or suspended by a signal: the index is as it was, and the next one writes."""

import signal
import sys
import time
from pathlib import Path
from typing import Final

import pytest

from shared import Document
from shared.maintenance.backup import backup
from shared.storage.lock import holder
from tests.conftest import Connect, Idx, add_documents
from tests.idx.contents import contents
from tests.idx.files import files
from tests.idx.raw_index import files_of_lucene, stored
from tests.idx.segments import fill
from tests.idx.test_index_errors import is_locked
from tests.idx.test_rebuild_disturbed import SLOWLY
from tests.programs import PROGRAMS, Started
from tests.server.tool_answers import answer
from tests.systems import STOPS, sends_signals
from tests.waiting import wait_for

ARGUMENTS: Final = {"optimize": (), "rebuild": (), "restore": ("copy", "--yes")}


@pytest.fixture
def filled(empty_index: Path) -> Path:
    fill(empty_index)
    backup(empty_index, empty_index.parent / "copy")
    add_documents(empty_index, Document("later", "Later", "text"))
    return empty_index


def start(name: str, path: Path) -> Started:
    """A run that writes when this returns, or is about to."""
    before = {file.name for file in path.iterdir()}
    slowly = (sys.executable, "-c", SLOWLY.format(0.02))
    program = slowly if name == "rebuild" else (PROGRAMS / "idx",)
    run = Started(*program, name, *ARGUMENTS[name], "-i", path, cwd=path.parent)

    def writes() -> bool:
        if name == "optimize":
            return not {file.name for file in path.iterdir()} <= before
        return str(run.pid) in holder(path)

    wait_for(lambda: run.poll() is not None or writes(), every=0.002)
    if name == "rebuild":
        time.sleep(0.5)
    return run


@pytest.mark.parametrize(
    ("name", "stop", "code"),
    [
        *(pytest.param("optimize", *stop, marks=pytest.mark.soak) for stop in STOPS),
        *(("rebuild", *stop) for stop in STOPS),
        # Killed, it may be the one or the other: see test_killed.py.
        *(("restore", *stop) for stop in STOPS[:2]),
    ],
)
def test_the_index_is_as_it_was(
    idx: Idx, filled: Path, name: str, stop: signal.Signals, code: int
) -> None:
    before, chunks = files(filled), stored(filled)
    with start(name, filled) as run:
        run.send_signal(stop)
        _, errors = run.communicate()
    assert run.returncode == code
    assert "Traceback" not in errors
    assert "Exception" not in errors
    if stop != signal.SIGKILL:
        assert files(filled) == before
    assert stored(filled) == chunks
    assert holder(filled).startswith("a process that has just ended")
    idx("add", "-d", "next", "-t", "T", "-c", "text")
    assert {file.name for file in filled.iterdir()} == {*files_of_lucene(filled), "write.lock"}
    idx(name, *ARGUMENTS[name])
    assert {file.name for file in filled.iterdir()} == {*files_of_lucene(filled), "write.lock"}
    if name == "restore":
        assert contents(filled) == contents(filled.parent / "copy")
    else:
        assert len(stored(filled)) == len(chunks) + 1


SECONDS: Final = 120

ADD: Final = ("add", "-d", "second", "-t", "Second", "-c", "text")


@pytest.mark.soak
@sends_signals
async def test_a_writer_is_suspended_for_minutes(
    idx: Idx, empty_index: Path, connect: Connect
) -> None:
    add_documents(empty_index, Document("before", "Before", "text"))
    async with connect() as client:
        with Started(PROGRAMS / "idx", "bulk", "-i", empty_index, "-j", "-") as first:
            wait_for(lambda: is_locked(empty_index))
            first.stdin.write('{"Id": "first", "Title": "First", "Content": "text"}\n')
            first.stdin.flush()
            time.sleep(1)
            first.send_signal(signal.SIGSTOP)
            until = time.monotonic() + SECONDS
            failed = idx(*ADD, "--wait", "1", code=1)
            assert f"is locked by another writer, process {first.pid} (" in failed.stderr
            assert "idx bulk" in failed.stderr
            assert "), which is suspended (waited 1 s)" in failed.stderr
            assert f"process {first.pid} (" in idx("unlock", code=1).stderr
            with Started(PROGRAMS / "idx", *ADD, "-i", empty_index, "--wait", "600") as second:
                while time.monotonic() < until:
                    found = answer(await client.call_tool("Search", {"query": "text"}))
                    assert [hit["source_document"] for hit in found["results"]] == ["before"]
                    time.sleep(5)
                assert second.poll() is None
                first.send_signal(signal.SIGCONT)
                first.stdin.close()
                assert first.wait() == 0
                second.communicate()
            assert second.returncode == 0
        found = answer(await client.call_tool("Search", {"query": "text"}))
        assert found["totalHits"] == 3
    listed = idx.json("list")["documents"]
    assert [entry["source_document"] for entry in listed] == ["before", "first", "second"]
    idx("check")
