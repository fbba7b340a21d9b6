"""Many clients search while another process writes, and each sees one whole version, a new one."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path

import httpx2
import pytest
from mcp import Client

from shared import Document, Index
from tests.conftest import connected_by_stdio
from tests.server.http.served import SECONDS, served
from tests.tools.versions import QUERY, Committed, mistake, writing

pytestmark = pytest.mark.soak

QUESTIONS = ["rent deposit", "river otter", "deposit"]


@pytest.fixture
def documents(empty_index: Path) -> Path:
    with Index(empty_index) as index:
        for number in range(50):
            index.add(Document(f"{number}", f"Lease {number}", f"The rent deposit {number} " * 90))
            index.add(Document(f"r{number}", "Rivers", f"Otter {number} in the river. " * 90))
    return empty_index


@dataclass
class Load:
    """What became of all requests."""

    answered: int = 0
    checked: int = 0
    mistakes: list[str] = field(default_factory=list)


async def put_load(
    connect: Callable[[], AbstractAsyncContextManager[Client]],
    clients: int,
    seconds: float,
    committed: Committed,
) -> Load:
    """Have clients ask at once for some time, each as fast as it is answered."""
    load = Load()
    ready = asyncio.Barrier(clients)

    async def ask(number: int) -> None:
        async with connect() as client:
            # The first answer may wait for Java.
            await client.call_tool("Search", {"query": QUESTIONS[0]})
            await ready.wait()
            until = time.monotonic() + seconds
            # Each fourth answer is looked at for mistakes.
            for query in islice(cycle([None, *QUESTIONS]), number, None):
                if time.monotonic() > until:
                    break
                least = committed()
                asked = QUERY if query is None else {"query": query}
                result = await client.call_tool("Search", asked)
                if result.structured_content is None:
                    load.mistakes.append(f"error: {result.content}")
                elif query is None:
                    load.checked += 1
                    if found := mistake(result.structured_content, least):
                        load.mistakes.append(found)
                else:
                    load.answered += 1

    async with asyncio.TaskGroup() as group:
        for number in range(clients):
            group.create_task(ask(number))
    return load


async def test_by_http(documents: Path) -> None:
    with writing(documents) as committed, served(documents) as server:
        first = committed()
        load = await put_load(lambda: Client(server.url), 8, 5.0, committed)
        assert load.mistakes == []
        assert load.checked > 20
        assert load.answered > 60
        assert committed() > first + 5
        assert "error=" not in server.logged()


async def test_by_the_json_api(documents: Path) -> None:
    clients, mistakes = 64, []

    async def ask(url: str, committed: Committed) -> None:
        async with httpx2.AsyncClient(timeout=SECONDS) as client:
            for _ in range(10):
                least = committed()
                response = await client.get(url, params=QUERY)
                assert response.status_code == 200, response.text
                mistakes.append(mistake(response.json(), least))

    with writing(documents) as committed, served(documents) as server:
        first = committed()
        async with asyncio.TaskGroup() as group:
            for _ in range(clients):
                group.create_task(ask(f"{server.base}/api/search", committed))
        assert [found for found in mistakes if found] == []
        assert len(mistakes) == clients * 10
        assert committed() > first


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_as_many_clients_as_may_ask_are_never_refused(documents: Path, mode: str) -> None:
    clients = 16
    connected_all = asyncio.Barrier(clients)

    async def ask(url: str) -> None:
        async with Client(url, mode=mode) as client:
            await connected_all.wait()
            for _ in range(40):
                result = await client.call_tool("get_next_chunk", {"chunk_id": "1-chunk-001"})
                assert not result.is_error
            # Who has done earlier would make room for the others.
            await connected_all.wait()

    options = ["--max-requests", clients]
    with served(documents, *options) as server:
        async with asyncio.TaskGroup() as group:
            for _ in range(clients):
                group.create_task(ask(server.url))
        assert "status=429" not in server.logged()


async def test_by_stdio(documents: Path) -> None:
    with writing(documents) as committed:
        first = committed()
        load = await put_load(lambda: connected_by_stdio(documents), 2, 3.0, committed)
        assert load.mistakes == []
        assert load.checked > 5
        assert committed() > first + 2
