"""A client that subscribes, and what it hears, in both eras of the protocol."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from mcp import Client
from mcp.client.subscriptions import ResourceUpdated, Subscription
from mcp.types import ResourceListChangedNotification, ResourceUpdatedNotification

from tests.conftest import connected

PATIENCE: Final = 30.0
"""Seconds within which whatever is waited for is heard also where other tests run."""

LIST: Final = "the list"  # what is heard when documents appear or go


class Hearing:
    """What a client hears, from which tests take what they wait for."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._heard: asyncio.Queue[str] = asyncio.Queue()

    def put(self, what: str) -> None:
        self._heard.put_nowait(what)

    async def next(self, count: int) -> set[str]:
        """The next things that are heard, which are as many as that, and nothing twice."""
        async with asyncio.timeout(PATIENCE):
            heard = [await self._heard.get() for _ in range(count)]
        assert len(set(heard)) == count, heard
        return set(heard)

    def is_silent(self) -> bool:
        """Whether nothing is there that was not taken."""
        return self._heard.empty()


def hearing(index_path: Path, era: str, *uris: str) -> AbstractAsyncContextManager[Hearing]:
    """Connect to a real server, and subscribe to resources and the list."""
    return hearing_through(partial(connected, index_path), era, *uris)


@asynccontextmanager
async def hearing_through(
    connect: Callable[..., AbstractAsyncContextManager[Client]], era: str, *uris: str
) -> AsyncIterator[Hearing]:
    """Connect by a function that takes the mode and the handler; otherwise like `hearing`."""
    opening: list[Hearing] = []

    async def handle(message: Any) -> None:
        match message:
            case ResourceUpdatedNotification():
                opening[0].put(message.params.uri)
            case ResourceListChangedNotification():
                opening[0].put(LIST)

    handler = handle if era == "legacy" else None
    async with connect(mode=era, handler=handler) as client:
        opening.append(Hearing(client))
        async with subscribed(opening[0], era, uris, to_list=True):
            yield opening[0]


@asynccontextmanager
async def subscribed(
    hearing: Hearing, era: str, uris: Sequence[str], *, to_list: bool = False
) -> AsyncIterator[None]:
    """Subscribe within a block; who subscribes in the older era hears of the list, too."""
    client = hearing.client
    if era == "legacy":
        for uri in uris:
            await client.subscribe_resource(uri)
        yield
        for uri in uris:
            await client.unsubscribe_resource(uri)
        return
    async with client.listen(resources_list_changed=to_list, resource_subscriptions=uris) as stream:
        task = asyncio.create_task(_pass_on(stream, hearing))
        yield
        task.cancel()


async def _pass_on(stream: Subscription, hearing: Hearing) -> None:
    async for event in stream:
        hearing.put(event.uri if isinstance(event, ResourceUpdated) else LIST)
