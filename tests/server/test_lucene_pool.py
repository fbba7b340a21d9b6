"""The threads of the server, some of which are held by calls that nobody can stop."""

import asyncio
import os
import sys
import threading
import time
from pathlib import Path

import pytest

from server.lucene_pool import (
    _MAX_THREADS,
    MAX_ABANDONED_CALLS,
    MAX_SLOW_CALLS,
    LucenePool,
    QueryDisplacedError,
)
from shared import Document, Searcher
from shared.errors import QueryError
from shared.java.cancellation import Cancellation
from tests.conftest import add_documents
from tests.programs import run


@pytest.fixture
def filled(empty_index: Path) -> Path:
    add_documents(empty_index, Document("a", "A", "the rent is due"))
    return empty_index


def _hits(searcher: Searcher) -> int:
    return searcher.search("rent").totalHits


@pytest.mark.anyio
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


@pytest.mark.anyio
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
