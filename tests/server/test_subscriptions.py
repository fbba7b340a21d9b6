"""Subscribed clients of both eras hear what others commit, and are forgotten when they leave."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from mcp import Client, MCPError
from mcp.client.subscriptions import ResourceUpdated
from mcp.types import ResourceListChangedNotification, ResourceUpdatedNotification

from server.lucene_pool import LucenePool
from server.search_server import SearchServer
from server.settings import ServerSettings
from server.state import ServerState
from shared import Document, Index
from shared.maintenance.rebuild import rebuild
from tests.conftest import Connect, Idx, add_documents, connected
from tests.server.hearing import LIST, PATIENCE, hearing, subscribed
from tests.server.http.served import serving
from tests.server.other_writer import other_writer
from tests.systems import makes_links

pytestmark = [
    pytest.mark.soak,
    # Clients of the newest protocol have another way to subscribe.
    pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning"),
]

eras = pytest.mark.parametrize("era", ["auto", "legacy"])

A, B, STATISTICS = "document://a", "document://b", "index://stats"


@eras
async def test_a_document_that_appears_changes_and_goes_is_heard_of(
    idx: Idx, empty_index: Path, era: str
) -> None:
    async with hearing(empty_index, era, A) as heard:
        await asyncio.to_thread(idx, "add", "-d", "a", "-t", "A", "-c", "text")
        assert await heard.next(2) == {A, LIST}
        await asyncio.to_thread(idx, "add", "-d", "a", "-t", "A", "-c", "other text")
        assert await heard.next(1) == {A}
        await asyncio.to_thread(idx, "delete", "a")
        assert await heard.next(2) == {A, LIST}
        assert heard.is_silent()


@eras
async def test_what_leaves_a_document_as_it_is_is_no_news(empty_index: Path, era: str) -> None:
    long = " ".join(f"word{number}" for number in range(700))
    a = Document("a", "A", long, {"language": "en"})
    add_documents(empty_index, a)
    async with hearing(empty_index, era, A, "chunk://a-chunk-002") as heard:
        add_documents(empty_index, a)
        # It moves, as in a merge.
        rebuild(empty_index)
        add_documents(empty_index, Document("a", "A", f"{long} end", {"language": "en"}))
        # The end is in the last chunk.
        assert await heard.next(1) == {A}
        add_documents(empty_index, Document("a", "A", f"new {long}", {"language": "en"}))
        assert await heard.next(2) == {A, "chunk://a-chunk-002"}
        assert heard.is_silent()


@eras
async def test_every_commit_changes_the_state_of_the_index(empty_index: Path, era: str) -> None:
    async with hearing(empty_index, era, STATISTICS) as heard:
        with other_writer(empty_index) as add:
            await asyncio.to_thread(add, "a", "text")
            assert await heard.next(2) == {STATISTICS, LIST}
            for version in range(3):
                await asyncio.to_thread(add, "a", f"text {version}")
                assert await heard.next(1) == {STATISTICS}


@eras
async def test_a_document_that_takes_the_place_of_another_changes_the_list(
    empty_index: Path, era: str
) -> None:
    add_documents(empty_index, Document("a", "A", "text"))
    async with hearing(empty_index, era) as heard:
        # The clients of the older protocol hear of the list from their first request on.
        await heard.client.list_resources()
        with Index(empty_index) as index:
            index.delete("a")
            index.add(Document("b", "B", "text"))
        assert await heard.next(1) == {LIST}


@makes_links
@eras
async def test_an_index_that_comes_is_exchanged_and_goes(index_path: Path, era: str) -> None:
    first, second = index_path.with_name("first"), index_path.with_name("second")
    for path, names in ((first, "a"), (second, "ab")):
        add_documents(path, *(Document(name, "T", "text") for name in names))
    async with hearing(index_path, era, A, B) as heard:
        index_path.symlink_to(first)
        assert await heard.next(2) == {A, LIST}
        link = index_path.with_name("link")
        link.symlink_to(second)
        link.rename(index_path)
        # One document is there as it was.
        assert await heard.next(2) == {B, LIST}
        index_path.unlink()
        assert await heard.next(3) == {A, B, LIST}


@eras
async def test_a_commit_right_after_the_subscription_is_heard_of(
    empty_index: Path, era: str
) -> None:
    with other_writer(empty_index) as add:
        async with hearing(empty_index, era) as heard:
            for number in range(8):
                name = str(number)
                async with subscribed(heard, era, [f"document://{name}"]):
                    await asyncio.to_thread(add, name, "text")
                    assert await heard.next(2) == {f"document://{name}", LIST}


@eras
async def test_a_uri_is_told_as_it_was_spelled(empty_index: Path, era: str) -> None:
    spellings = ["document://a%20b", "document://a b", "document://%61%20b?start_index=1"]
    async with hearing(empty_index, era, *spellings) as heard:
        add_documents(empty_index, Document("a b", "A", "text"))
        assert await heard.next(4) == {*spellings, LIST}


@eras
async def test_a_subscription_that_has_ended_is_silent(empty_index: Path, era: str) -> None:
    async with hearing(empty_index, era, A) as heard:
        async with subscribed(heard, era, [B]):
            add_documents(empty_index, Document("b", "B", "text"))
            assert B in await heard.next(2)
        add_documents(empty_index, Document("b", "B", "other text"))
        add_documents(empty_index, Document("a", "A", "text"))
        assert await heard.next(2) == {A, LIST}


async def test_streams_of_one_client_hear_what_each_asked_for(
    empty_index: Path, connect: Connect
) -> None:
    async with (
        connect() as client,
        client.listen(resource_subscriptions=[A]) as first,
        client.listen(resource_subscriptions=[B, "nosuch://uri"]) as second,
    ):
        add_documents(empty_index, Document("b", "B", "text"))
        assert (await anext(second)).uri == B  # type: ignore[union-attr] # it is an update
        add_documents(empty_index, Document("a", "A", "text"))
        assert (await anext(first)).uri == A  # type: ignore[union-attr] # it is an update


async def test_each_era_says_what_it_can_hear(empty_index: Path, connect: Connect) -> None:
    for era in ("auto", "legacy"):
        async with connect(mode=era) as client:
            capabilities = client.server_capabilities
            assert capabilities.resources is not None
            assert capabilities.resources.subscribe is True
            assert capabilities.resources.list_changed is True
            assert capabilities.completions is not None
            assert capabilities.prompts is not None


async def test_what_cannot_be_subscribed_to_is_told(empty_index: Path) -> None:
    async with connected(empty_index, mode="legacy") as client:
        with pytest.raises(MCPError, match="a URI has one of the forms"):
            await client.subscribe_resource("file:///etc/hostname")
        for number in range(1_000):
            await client.subscribe_resource(f"document://{number}")
        with pytest.raises(MCPError, match="a client can subscribe to 1,000 resources"):
            await client.subscribe_resource("document://one-more")
        await client.subscribe_resource("document://7")
        await client.unsubscribe_resource("document://7")
        await client.unsubscribe_resource("document://nobody-subscribed-to")
        await client.subscribe_resource("document://one-more")
    async with connected(empty_index) as client:
        many = [f"document://{number}" for number in range(1_001)]
        with pytest.raises(MCPError, match="a client can subscribe to 1,000 resources"):
            async with client.listen(resource_subscriptions=many):
                pass
        async with client.listen(resource_subscriptions=many[:-1]):
            pass


async def test_all_streams_together_have_a_limit(empty_index: Path) -> None:
    async with connected(empty_index) as client, AsyncExitStack() as streams:
        for stream in range(10):
            uris = [f"document://{stream}-{number}" for number in range(1_000)]
            await streams.enter_async_context(client.listen(resource_subscriptions=uris))
        with pytest.raises(MCPError, match="all clients together can subscribe to 10,000"):
            async with client.listen(resource_subscriptions=["document://one-more"]):
                pass
        async with client.listen(resource_subscriptions=["document://0-1"]):
            pass


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
    async with serving(server) as served:
        changes = await server.resources.changes()
        # That nothing is kept shows nowhere outside.
        watched = changes._versions  # noqa: SLF001
        heard_by = changes._subscribed  # noqa: SLF001
        for _ in range(3):
            async with AsyncExitStack() as clients:
                for number in range(3):
                    client = await clients.enter_async_context(Client(served.url, mode=era))
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
        serving(SearchServer(state)) as served,
        Client(served.url) as newer,
        Client(served.url, mode="legacy", message_handler=handle) as older,
        newer.listen(resource_subscriptions=["document://a"]) as stream,
    ):
        await older.subscribe_resource("document://a")
        async with Client(served.url, mode="legacy") as gone:
            await gone.subscribe_resource("document://a")
        add_documents(empty_index, Document("a", "A", "text"))
        async with asyncio.timeout(PATIENCE):
            assert await anext(stream) == ResourceUpdated("document://a")
        await eventually(lambda: len(heard) == 2)
        kinds = {type(message) for message in heard}
        assert kinds == {ResourceUpdatedNotification, ResourceListChangedNotification}
