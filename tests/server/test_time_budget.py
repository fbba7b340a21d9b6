"""Calls that take long: what they say meanwhile, and how they end."""

import random
from pathlib import Path

import anyio
import pytest
from mcp import Client

from shared import Document, Index, create
from tests.conftest import connected
from tests.server.tool_answers import answer

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


@pytest.mark.anyio
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


@pytest.mark.anyio
async def test_what_cannot_tell_that_it_is_a_part_is_an_error(index: Path) -> None:
    async with connected(index, "--time-budget", "1") as client:
        await answering(client)
        explained = await client.call_tool("explain_query", {"query": SLOW})
        assert explained.is_error
        assert "no result after 1 seconds" in str(explained.content)


@pytest.mark.soak
@pytest.mark.anyio
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
@pytest.mark.anyio
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
    return answer(await client.call_tool("Search", {"query": query}))
