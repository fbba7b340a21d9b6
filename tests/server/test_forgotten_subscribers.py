"""A server that serves many clients, one after the other, keeps nothing of those that are gone."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
import uvicorn
from mcp import Client
from mcp.client.subscriptions import ResourceUpdated
from mcp.types import ResourceListChangedNotification, ResourceUpdatedNotification

from server.lucene_pool import LucenePool
from server.search_server import SearchServer
from server.settings import ServerSettings
from server.state import ServerState
from shared import Document
from tests.conftest import add_documents
from tests.server.hearing import PATIENCE

pytestmark = [
    pytest.mark.soak,
    pytest.mark.anyio,
    # Clients of the newest protocol have another way to subscribe.
    pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning"),
]


@asynccontextmanager
async def serving(server: SearchServer) -> AsyncIterator[str]:
    """Serve over HTTP, as many clients as there are; yields the URL."""
    web = uvicorn.Server(
        uvicorn.Config(server.streamable_http_app(), port=0, log_level="error", lifespan="on")
    )
    task = asyncio.create_task(web.serve())
    await eventually(lambda: web.started)
    port = web.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        web.should_exit = web.force_exit = True
        await task


async def eventually(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_what_a_client_subscribed_to_is_forgotten_when_it_is_gone(
    empty_index: Path, era: str
) -> None:
    add_documents(empty_index, Document("a", "A", "text"))
    settings = ServerSettings(empty_index)
    server = SearchServer(ServerState(settings, LucenePool(empty_index)))
    async with serving(server) as url:
        changes = await server.resources.changes()
        # That nothing is kept shows nowhere outside.
        watched = changes._versions  # noqa: SLF001
        heard_by = changes._subscribed  # noqa: SLF001
        for _ in range(3):
            async with AsyncExitStack() as clients:
                for number in range(3):
                    client = await clients.enter_async_context(Client(url, mode=era))
                    uris = ["document://a", f"document://{number}"]
                    if era == "legacy":
                        await client.list_resources()
                        for uri in uris:
                            await client.subscribe_resource(uri)
                    else:
                        listening = client.listen(
                            resources_list_changed=True, resource_subscriptions=uris
                        )
                        await clients.enter_async_context(listening)
                # One for all of them, three for each, and the list.
                assert len(watched) == 5
            await eventually(lambda: not watched)
        assert not heard_by


async def test_clients_of_both_eras_hear_the_same_side_by_side(empty_index: Path) -> None:
    state = ServerState(ServerSettings(empty_index), LucenePool(empty_index))
    heard: list[object] = []

    async def handle(message: object) -> None:
        heard.append(message)

    async with (
        serving(SearchServer(state)) as url,
        Client(url) as newer,
        Client(url, mode="legacy", message_handler=handle) as older,
        newer.listen(resource_subscriptions=["document://a"]) as stream,
    ):
        await older.subscribe_resource("document://a")
        async with Client(url, mode="legacy") as gone:
            await gone.subscribe_resource("document://a")
        add_documents(empty_index, Document("a", "A", "text"))
        async with asyncio.timeout(PATIENCE):
            assert await anext(stream) == ResourceUpdated("document://a")
        await eventually(lambda: len(heard) == 2)
        kinds = {type(message) for message in heard}
        assert kinds == {ResourceUpdatedNotification, ResourceListChangedNotification}
