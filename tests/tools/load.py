"""Many clients of one server at once, each of which asks as fast as it is answered."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

from mcp import Client

from tests.tools.versions import QUERY, Committed, mistake

CHECK_EVERY: Final = 4
"""Each so manieth request of a client looks for mistakes; the others are usual questions."""

Connect = Callable[[], AbstractAsyncContextManager[Client]]  # connects one more client


@dataclass
class Load:
    """What became of all requests."""

    seconds: list[float] = field(default_factory=list)
    elapsed: float = 0.0
    checked: int = 0
    mistakes: list[str] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return (len(self.seconds) + self.checked) / self.elapsed


async def put_load(
    connect: Connect, clients: int, seconds: float, questions: list[str], committed: Committed
) -> Load:
    """Have clients ask for some time, while another process writes."""
    load = Load()
    ready = asyncio.Barrier(clients)

    async def ask(number: int) -> None:
        async with connect() as client:
            # The first answer may wait for Java.
            await client.call_tool("Search", {"query": questions[0]})
            await ready.wait()
            began = time.perf_counter()
            for turn in count(number):
                await _ask_once(client, turn, questions, committed, load)
                if time.perf_counter() - began >= seconds:
                    break
            load.elapsed = max(load.elapsed, time.perf_counter() - began)

    async with asyncio.TaskGroup() as group:
        for number in range(clients):
            group.create_task(ask(number))
    return load


async def _ask_once(
    client: Client, turn: int, questions: list[str], committed: Committed, load: Load
) -> None:
    is_check = turn % CHECK_EVERY == 0
    least = committed()
    asked: dict[str, Any] = QUERY if is_check else {"query": questions[turn % len(questions)]}
    began = time.perf_counter()
    try:
        result = await client.call_tool("Search", asked)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
        load.mistakes.append(f"{type(error).__name__}: {error}")
        return
    if result.structured_content is None:
        load.mistakes.append(f"error: {result.content}")
    elif is_check:
        load.checked += 1
        if found := mistake(result.structured_content, least):
            load.mistakes.append(found)
    else:
        load.seconds.append(time.perf_counter() - began)
