"""Calls that take long, and the threads that they hold: what is said, and how they end."""

import asyncio
import os
import random
import sys
import threading
import time
from pathlib import Path

import anyio
import pytest
from mcp import Client

from server.lucene_pool import (
    _MAX_THREADS,
    MAX_ABANDONED_CALLS,
    MAX_SLOW_CALLS,
    LucenePool,
    QueryDisplacedError,
)
from shared import Document, Index, Searcher, create
from shared.errors import QueryError
from shared.java.cancellation import Cancellation
from tests.conftest import add_documents, connected
from tests.programs import run
from tests.server.tool_answers import answer, told

CHUNKS = 2_000
SLOW = " ".join(
    f'"aa bb aa bb aa {word}"~{slop}' for slop in range(100, 180) for word in ("aa", "bb")
)
"""Phrases with a slop of two words that repeat: minutes of work."""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("slow") / "index"
    create(path)
    generator = random.Random(1)  # noqa: S311 - reproducible, not secret
    with Index(path) as index:
        for number in range(CHUNKS):
            text = " ".join(generator.choices(["aa", "bb"], k=250))
            index.add(Document(f"d{number}", "Title", text))
        index.add(Document("note", "Note", "the rent is due"))
    return path


async def test_a_search_answers_with_what_was_found_when_its_time_is_over(index: Path) -> None:
    told: list[tuple[float, float | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total))

    async with connected(index, "--time-budget", "3") as client:
        await answering(client)
        found = answer(
            await client.call_tool(
                "Search", {"query": SLOW, "facets": ["language"]}, progress_callback=hear
            )
        )
        assert found["partial"]
        assert found["notice"].startswith("The search ran out of time")
        assert found["totalHits"] < CHUNKS
        assert found["facets"] == []
        assert len(told) >= 2
        assert all(total == 3 for _, total in told)
        assert [progress for progress, _ in told] == sorted({progress for progress, _ in told})
        assert not (await search(client, "rent"))["partial"]


async def test_what_cannot_tell_that_it_is_a_part_is_an_error(index: Path) -> None:
    async with connected(index, "--time-budget", "1") as client:
        await answering(client)
        explained = await client.call_tool("explain_query", {"query": SLOW})
        assert explained.is_error
        assert "no result after 1 seconds" in str(explained.content)


@pytest.mark.soak
async def test_a_call_that_no_thread_was_free_for_is_an_error(index: Path) -> None:
    async with connected(index, "--time-budget", "2.5") as client:
        await answering(client)
        answers: list[str] = []

        async def ask() -> None:
            result = await client.call_tool("Search", {"query": SLOW})
            answers.append(str(result.content))

        async with anyio.create_task_group() as calls:
            for _ in range(40):
                calls.start_soon(ask)
        busy = [text for text in answers if "busy with other calls" in text]
        assert busy
        assert all("the call was not run" in text and "for 2.5 seconds" in text for text in busy)
        assert len(busy) < len(answers)
        assert (await search(client, "rent"))["totalHits"] == 1


@pytest.mark.soak
async def test_calls_that_are_cancelled_leave_the_threads_free(index: Path) -> None:
    async with connected(index, "--time-budget", "600") as client:
        assert (await search(client, "rent"))["totalHits"] == 1
        async with anyio.create_task_group() as calls:
            for _ in range(20):
                calls.start_soon(client.call_tool, "Search", {"query": SLOW})
            await anyio.sleep(2)
            calls.cancel_scope.cancel()
        # Each of the calls would have held a thread for minutes.
        with anyio.fail_after(30):
            assert (await search(client, "rent"))["totalHits"] == 1


async def answering(client: Client) -> None:
    """Wait for Java, which may take longer to start than a call may wait for it."""
    while (await client.call_tool("Search", {"query": "rent"})).is_error:
        pass


async def search(client: Client, query: str) -> dict[str, object]:
    return await told(client, "Search", query=query)


@pytest.fixture
def filled(empty_index: Path) -> Path:
    add_documents(empty_index, Document("a", "A", "the rent is due"))
    return empty_index


def _hits(searcher: Searcher) -> int:
    return searcher.search("rent").totalHits


async def test_calls_that_nobody_can_stop_leave_threads_for_all_others(filled: Path) -> None:
    released = threading.Event()

    def hold(_: Searcher) -> None:
        released.wait(120)

    with LucenePool(filled) as pool:
        assert await pool.run(_hits, within=None) == 1
        assert pool.abandoned_calls == 0
        held = []
        for _ in range(_MAX_THREADS + MAX_SLOW_CALLS):
            cancellation = Cancellation()
            held.append(asyncio.ensure_future(pool.run(hold, cancellation, within=None)))
            await asyncio.sleep(0)
            cancellation.cancel()
        async with asyncio.timeout(60):
            assert await pool.run(_hits, within=None) == 1
            while pool.abandoned_calls < min(len(held), MAX_ABANDONED_CALLS):
                await asyncio.sleep(0.1)
            # So many are allowed: what can take long is refused now, and nothing else.
            assert await pool.run(_hits, within=None) == 1
            with pytest.raises(QueryError, match="runs no more with wildcards"):
                await pool.run(lambda searcher: searcher.search("*en*"), within=None)
        released.set()
        await asyncio.gather(*held)
        while pool.running_calls:
            await asyncio.sleep(0.1)
        assert pool.abandoned_calls == 0
        assert await pool.run(lambda searcher: searcher.search("*en*").totalHits, within=None) == 1


async def test_the_longest_call_is_ended_when_too_many_take_long(filled: Path) -> None:
    def loop(searcher: Searcher) -> None:
        while True:
            searcher.search("rent")

    with LucenePool(filled) as pool:
        assert await pool.run(_hits, within=None) == 1
        loops = [
            asyncio.ensure_future(pool.run(loop, within=None)) for _ in range(_MAX_THREADS + 8)
        ]
        async with asyncio.timeout(120):
            assert await pool.run(_hits, within=None) == 1
            ended, _ = await asyncio.wait(loops, return_when=asyncio.FIRST_COMPLETED)
            with pytest.raises(QueryDisplacedError, match="stopped after 2 seconds or more"):
                await ended.pop()
            for task in loops:
                task.cancel()
            # A client that leaves ends its call.
            await asyncio.wait(loops)
            while pool.running_calls:
                await asyncio.sleep(0.1)


HOG = """
import asyncio, sys
from pathlib import Path
import lucene
from java.util import ArrayList
from server.lucene_pool import LucenePool
from shared.storage import lucene_errors
from shared.errors import JavaHeapError

held = []

def hog(searcher):
    for size in (100_000, 1_000, 10):
        try:
            while True:
                held.append(ArrayList(size))
        except lucene.JavaError:
            pass
    with lucene_errors.reading(searcher.path):
        while True:
            held.append(ArrayList(10))

async def main():
    pool = LucenePool(Path(sys.argv[1]))
    found = await pool.run(lambda searcher: searcher.search("rent").totalHits, within=None)
    print(found, flush=True)
    try:
        await pool.run(hog, within=None)
    except JavaHeapError as error:
        print(error, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""
"""A program with the server's threads in which something keeps all of Java's memory."""


@pytest.mark.soak
def test_a_process_whose_java_stays_without_memory_ends_to_be_started_again(filled: Path) -> None:
    began = time.monotonic()
    done = run(
        *(sys.executable, "-c", HOG, filled),
        env=os.environ | {"IDX_JAVA_HEAP": "32"},
        timeout=120,
        check=False,
    )
    assert done.returncode == os.EX_TEMPFAIL, done.stderr
    assert done.stdout.startswith("1\nthe 32 MiB of memory that Java may use are too small")
    assert "the server ends with exit code 75; start it again" in done.stderr
    assert time.monotonic() - began > 20
