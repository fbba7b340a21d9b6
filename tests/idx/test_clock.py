"""Clocks that are set back, or differ: what changed is found by what it is, not by its age."""

import os
import time
from pathlib import Path

import pytest

from shared import Index
from tests.conftest import Connect, Idx
from tests.idx.files import make, sync, text_of
from tests.idx.preparation import index_files
from tests.preloaded import library
from tests.server.tool_answers import answer

pytestmark = [pytest.mark.soak, pytest.mark.usefixtures("empty_index")]

DAY = 86_400


@pytest.fixture
def clock(tmp_path: Path) -> Path:
    return library("clock", tmp_path)


def with_clock(clock: Path, setting: str) -> tuple[str, ...]:
    return ("env", f"LD_PRELOAD={clock}", setting)


def test_a_file_that_is_older_than_it_was_is_read_again(idx: Idx) -> None:
    papers = make(idx.folder / "papers", "a.txt", "b.txt")
    for file in papers.iterdir():
        os.utime(file, (time.time() - 100, time.time() - 100))
    index_files(idx.index, "papers")
    # As many bytes, and an earlier time, as if the clock had been set back before.
    (papers / "a.txt").write_text("TEXT of a.txt")
    os.utime(papers / "a.txt", (time.time() - DAY, time.time() - DAY))
    assert sync(idx, "papers") == {"updated": 1, "skipped": 1, "chunks": 1}
    assert text_of(idx.index, "a.txt") == "TEXT of a.txt"


def test_a_file_from_the_future_is_read_again_though_its_time_stays(idx: Idx, clock: Path) -> None:
    papers = make(idx.folder / "papers", "a.txt")
    status = (papers / "a.txt").stat()
    back = with_clock(clock, f"CLOCK_OFFSET=-{DAY}")
    idx("sync", "papers", prefix=back)
    # A clock that was set back may come by the same time once more.
    (papers / "a.txt").write_text("TEXT of a.txt")
    os.utime(papers / "a.txt", ns=(status.st_mtime_ns, status.st_mtime_ns))
    idx("sync", "papers", prefix=back)
    assert text_of(idx.index, "a.txt") == "TEXT of a.txt"


@pytest.mark.parametrize("offset", [-DAY, DAY])
async def test_a_server_with_another_clock_sees_each_commit(
    clock: Path, connect: Connect, idx: Idx, offset: int
) -> None:
    async with connect(LD_PRELOAD=str(clock), CLOCK_OFFSET=str(offset)) as client:
        for number, word in enumerate(("apple", "pear", "plum")):
            # Each writer's clock is behind the one's before.
            idx(
                *("add", "-d", str(number), "-t", "T", "-c", word),
                prefix=with_clock(clock, f"CLOCK_OFFSET=-{number * DAY}"),
            )
            found = answer(await client.call_tool("Search", {"query": word}))
            assert found["totalHits"] == 1


async def test_a_server_sees_a_commit_whose_files_are_older_than_those_before(
    connect: Connect, idx: Idx
) -> None:
    idx("add", "-d", "a", "-t", "T", "-c", "common")
    async with connect() as client:
        assert answer(await client.call_tool("Search", {"query": "common"}))["totalHits"] == 1
        idx("add", "-d", "b", "-t", "T", "-c", "common")
        for path in (*idx.index.iterdir(), idx.index):
            os.utime(path, (time.time() - DAY, time.time() - DAY))
        assert answer(await client.call_tool("Search", {"query": "common"}))["totalHits"] == 2


def test_two_repairs_at_the_same_time_of_day_keep_both_indexes(idx: Idx, clock: Path) -> None:
    stopped = with_clock(clock, "CLOCK_STOPPED=1800000000")
    before = []
    for name in "ab":
        idx("add", "-d", name, "-t", "T", "-c", "common")
        with Index(idx.index) as index:
            index.delete(name)
        # A second segment, the one that is damaged.
        idx("add", "-d", name, "-t", "T", "-c", f"common {name}")
        file = max(idx.index.glob("*.cfs"), key=lambda path: path.stat().st_mtime_ns)
        file.write_bytes(file.read_bytes()[:-1])
        before.append({path.name: path.read_bytes() for path in idx.index.glob("[_s]*")})
        assert "the damaged index is kept at" in idx("repair", prefix=stopped).stdout
    kept = [
        {path.name: path.read_bytes() for path in folder.glob("[_s]*")}
        for folder in sorted(idx.folder.glob("lucene-index.damaged-2027-01-15T08-00-00Z*"))
    ]
    assert kept == before
