"""A writer that is suspended while it holds the lock: nobody else writes, everybody reads."""

import signal
import time
from pathlib import Path
from typing import Final

import pytest

from shared import Document
from tests.conftest import Connect, Idx, add_documents
from tests.idx.test_index_errors import is_locked
from tests.programs import PROGRAMS, Started
from tests.server.tool_answers import answer
from tests.systems import sends_signals
from tests.waiting import wait_for

pytestmark = pytest.mark.soak

SECONDS: Final = 120

ADD: Final = ("add", "-d", "second", "-t", "Second", "-c", "text")


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
