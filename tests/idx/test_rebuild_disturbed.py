"""`idx rebuild` while others read and write, and when it is stopped or cannot go on."""

import asyncio
import random
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from shared import Document, Index, Searcher
from shared.model.schema import SCHEMA_VERSION
from shared.reading.open_index import OpenIndex
from shared.storage.lock import holder
from tests.conftest import Connect, Idx
from tests.idx.contents import contents
from tests.idx.raw_index import files_of_lucene, mark_as, stored
from tests.programs import PROGRAMS, Started
from tests.server.tool_answers import answer, error
from tests.systems import sends_signals
from tests.waiting import wait_for

LONG = " ".join(f"word{number}" for number in range(400))

SLOWLY = """
import sys, time
import shared.java.vm, shared.maintenance.rebuild
from idx.__main__ import main
documents = shared.maintenance.rebuild.stored_documents
def slowly(reader):
    for document in documents(reader):
        time.sleep({})
        yield document
shared.maintenance.rebuild.stored_documents = slowly
main()
"""


@pytest.fixture(scope="module")
def hundred(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of a hundred documents in several segments, some of them deleted; copy it."""
    path = tmp_path_factory.mktemp("rebuild") / "index"
    with Index(path, create=True) as index:
        for number in range(100):
            index.add(Document(f"d{number:02}", "Title", f"common {LONG} {number}", {"n": number}))
            if number % 40 == 0:
                index.commit()
        for number in range(0, 100, 10):
            index.delete(f"d{number:02}")
    return path


@pytest.fixture
def filled(hundred: Path, index_path: Path) -> Path:
    return shutil.copytree(hundred, index_path)


def start(path: Path, seconds: float = 0.02) -> Started:
    """A rebuild that takes a while for each document; it runs when this returns."""
    process = Started(sys.executable, "-c", SLOWLY.format(seconds), "rebuild", "-i", path)
    wait_for(lambda: str(process.pid) in holder(path) or process.poll() is not None, every=0.002)
    return process


@pytest.mark.soak
def test_killed_at_any_moment_it_leaves_one_whole_index(idx: Idx, filled: Path) -> None:
    mark_as(filled, 4)
    before = stored(filled)
    assert len(before) == 180
    with start(filled, 0) as process:
        began = time.monotonic()
        assert process.wait() == 0
        seconds = time.monotonic() - began
    mark_as(filled, 4)
    chosen = random.Random(7)  # noqa: S311 - moments
    killed = 0
    for _ in range(40):
        with start(filled, 0) as process:
            time.sleep(chosen.uniform(0, seconds))
            process.kill()
            killed += process.wait() == -signal.SIGKILL
        # Of whichever version it is.
        assert stored(filled) == before
        assert holder(filled).startswith("a process that has just ended")
    assert killed > 10
    assert idx("rebuild").stdout == "Rebuilt 90 documents as 180 chunks (schema version 5)\n"
    assert stored(filled) == before
    assert {file.name for file in filled.iterdir()} == {*files_of_lucene(filled), "write.lock"}


@pytest.mark.soak
def test_a_second_writer_waits_or_is_told(idx: Idx, filled: Path) -> None:
    with start(filled, 0.05) as process:
        failed = idx("add", "-d", "b", "-t", "B", "-c", "text", "--wait", "0.1", code=1)
        assert f"locked by another writer, process {process.pid} (" in failed.stderr
        failed = idx("rebuild", "--wait", "0.1", code=1)
        assert f"locked by another writer, process {process.pid} (" in failed.stderr
        idx("add", "-d", "b", "-t", "B", "-c", "text", "--wait", "60")
        assert process.wait() == 0
    with Searcher(filled) as searcher:
        assert searcher.documents().total_documents == 91
        assert searcher.chunk("b-chunk-001").content == "text"
        assert searcher.statistics().schema_version == SCHEMA_VERSION


@pytest.mark.soak
def test_it_waits_for_another_writer(idx: Idx, filled: Path) -> None:
    with Index(filled) as index:
        assert "locked by another writer" in idx("rebuild", "--wait", "0.1", code=1).stderr
        with Started(PROGRAMS / "idx", "rebuild", "-i", filled, "--wait", "60") as process:
            time.sleep(1.5)
            assert process.poll() is None
            index.add(Document("late", "Late", "text"))
            index.commit()
            index.__exit__(None, None, None)
            printed, _ = process.communicate()
    assert printed == "Rebuilt 91 documents as 181 chunks (schema version 5)\n"


@pytest.mark.soak
@sends_signals
def test_writers_of_an_older_index_are_told_at_once(idx: Idx, filled: Path) -> None:
    mark_as(filled, 4)
    with start(filled) as process:
        failed = idx("add", "-d", "b", "-t", "B", "-c", "text", code=1)
        assert "idx rebuild --index-path" in failed.stderr
        assert process.wait() == 0
    idx("add", "-d", "b", "-t", "B", "-c", "text")


@pytest.mark.soak
async def test_a_running_server_answers_all_the_time(filled: Path, connect: Connect) -> None:
    async with connect() as client:

        async def ask() -> dict[str, Any]:
            return answer(await client.call_tool("Search", {"query": "common", "limit": 100}))

        before = await ask()
        assert before["totalHits"] == 90
        for _ in range(2):
            process = await asyncio.to_thread(start, filled, 0.01)
            answers = 0
            with process:
                while process.poll() is None:
                    assert without_scores(await ask()) == without_scores(before)
                    answers += 1
            assert process.returncode == 0
            assert answers > 10
            assert without_scores(await ask()) == without_scores(before)
        # The index that it answers from is the new one.
        with Index(filled) as index:
            index.delete("d01")
        assert (await ask())["totalHits"] == 89


def without_scores(found: dict[str, Any]) -> list[dict[str, Any]]:
    # They depend on how often a word is in the index, deleted documents included.
    return [{**hit, "score": None} for hit in found["results"]]


@pytest.mark.soak
async def test_a_server_names_the_command_and_goes_on_after_it(
    idx: Idx, filled: Path, connect: Connect
) -> None:
    mark_as(filled, 4)
    async with connect() as client:
        for tool, arguments in (("Search", {"query": "common"}), ("ListDocuments", {})):
            refused = error(await client.call_tool(tool, arguments))
            assert f"idx rebuild --index-path {filled}" in refused
        await asyncio.to_thread(idx, "rebuild")
        found = answer(await client.call_tool("Search", {"query": "common"}))
    assert found["totalHits"] == 90


def test_readers_of_the_old_index_finish_their_work(idx: Idx, filled: Path) -> None:
    before = contents(filled)
    with OpenIndex(filled, "command").newest() as old:
        idx("rebuild")
        fields = old.storedFields()
        count = old.getIndexReader().maxDoc()
        assert None not in [fields.document(number).get("content") for number in range(count)]
        assert idx.json("stats")["deleted_chunks"] == 0
    assert contents(filled) == before
