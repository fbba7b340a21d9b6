"""Notifications about changes, by the commits of idx, while there are subscribers.

A search needs no watcher: it checks for the newest commit when it begins. For subscribers, the
watcher checks for a newer commit every half second, which takes two file-system calls. Only a newer
commit makes it compare what they have subscribed to.

A client of 2026-07-28 opens a stream with `subscriptions/listen`, which carries the notifications
that it requested; the SDK serves the stream from a bus. A client of an older version subscribes to
resources one by one with `resources/subscribe`, and receives notifications on its connection. It
receives those about list changes without a request; here they begin with its first list or
subscription, since it cannot have a list before.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence, Set as AbstractSet
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import anyio
from mcp.server import ServerRequestContext
from mcp.server.connection import Connection
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
)
from mcp.types import SubscriptionsListenRequestParams, SubscriptionsListenResult
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from server.answers.errors import ResourceNotFoundError, TooManySubscriptionsError
from server.answers.text import parse
from server.lucene_pool import LucenePool
from server.settings import Limit
from server.state import ServerState
from shared.errors import ChunkNotFoundError, IndexFolderError, McpLuceneError

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher

RequestContext: TypeAlias = ServerRequestContext[ServerState, Any]  # the context of a request

Topic: TypeAlias = ResourceUpdated | ResourcesListChanged  # of a notification

MAX_SUBSCRIPTIONS: Final = 1_000  # resources that one session or stream can subscribe to
MAX_WATCHED: Final = 10_000  # topics of all clients together: each is looked up after each commit

_COMMIT_POLL_SECONDS: Final = 0.5

_MAX_COMPARISON_TIME_SHARE: Final = 0.1  # however large the index
SEND_TIMEOUT_SECONDS: Final = 5.0  # for sending a notification to a client that does not read

_LIST: Final = ResourcesListChanged()

logger = logging.getLogger(__name__)


_NOT_READ: Final = object()  # placeholder for a commit that has not been read


class Changes:
    """The subscriptions of the clients that may see the same collections.

    They share a watcher and a bus, since nobody must hear of a change in a document that he cannot
    see.
    """

    def __init__(self, pool: LucenePool, max_streams: int, *, within: Limit = None) -> None:
        self._pool = pool
        self._within = within
        self.bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self.bus, max_subscriptions=max_streams)
        self._subscribed: dict[Connection, set[Topic]] = {}
        self._subscribers: Counter[Topic] = Counter()
        self._versions: dict[Topic, object] = {}
        self._commit: object = _NOT_READ
        self._has_topics = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def listen(
        self, context: RequestContext, parameters: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        wanted = parameters.notifications
        uris = set(wanted.resource_subscriptions or ())
        # Before they are parsed, which takes longest.
        if len(uris) > MAX_SUBSCRIPTIONS:
            raise TooManySubscriptionsError(MAX_SUBSCRIPTIONS)
        topics: set[Topic] = {ResourceUpdated(uri) for uri in uris if _is_resource_uri(uri)}
        if wanted.resources_list_changed:
            topics.add(_LIST)
        self._subscribers.update(topics)
        try:
            await self._watch(topics)
            return await self._listen(context, parameters)
        finally:
            self._remove(topics)

    async def subscribe(self, context: RequestContext, uri: str) -> None:
        """Subscribe a client of an older version to changes of a resource."""
        parse(uri)
        topics = self._subscribed.get(_connection(context), set())
        # `>` since list changes are among the topics.
        if ResourceUpdated(uri) not in topics and len(topics) > MAX_SUBSCRIPTIONS:
            raise TooManySubscriptionsError(MAX_SUBSCRIPTIONS)
        await self._subscribe(context, ResourceUpdated(uri))

    async def subscribe_to_list(self, context: RequestContext) -> None:
        """Subscribe a client of an older version to list changes."""
        if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            await self._subscribe(context, _LIST)

    def unsubscribe(self, context: RequestContext, uri: str) -> None:
        """Unsubscribe a client of an older version from a resource."""
        topics, topic = self._subscribed.get(_connection(context), set()), ResourceUpdated(uri)
        if topic in topics:
            topics.remove(topic)
            self._remove({topic})

    async def _subscribe(self, context: RequestContext, topic: Topic) -> None:
        connection = _connection(context)
        if connection not in self._subscribed:
            self._subscribed[connection] = set()
            connection.exit_stack.callback(self._forget, connection)
        topics = self._subscribed[connection]
        if topic in topics:
            return
        topics.add(topic)
        self._subscribers[topic] += 1
        try:
            await self._watch({topic})
        except BaseException:
            if topic in topics:
                topics.remove(topic)
                self._remove({topic})
            raise

    def _forget(self, connection: Connection) -> None:
        topics = self._subscribed.pop(connection)
        self._remove(topics)
        # One that is being added is removed by now.
        topics.clear()

    async def _watch(self, topics: AbstractSet[Topic]) -> None:
        """Read the versions of topics of a new subscriber; every later change is published.

        An index that is missing or cannot be read counts as one without documents.
        """
        if len(self._subscribers) > MAX_WATCHED:
            raise TooManySubscriptionsError(MAX_WATCHED, "all clients together")
        new = [topic for topic in topics if topic not in self._versions]
        for topic, version in (await self._read(new)).items():
            if topic in self._subscribers:
                self._versions.setdefault(topic, version)
        # The versions may come from a newer commit than the one that a running check compares with.
        self._commit = _NOT_READ
        if self._versions:
            self._has_topics.set()

    def _remove(self, topics: Iterable[Topic]) -> None:
        self._subscribers -= Counter(topics)
        for topic in self._versions.keys() - self._subscribers.keys():
            del self._versions[topic]
        if not self._versions:
            self._has_topics.clear()

    async def _run(self) -> None:
        while True:
            await self._has_topics.wait()
            began = time.monotonic()
            try:
                await self._publish_changes()
            except McpLuceneError as error:
                logger.debug("checking for changes failed, and is tried again: %s", error)
            except Exception:
                logger.exception("checking for changes failed, and is tried again")
            took = time.monotonic() - began
            await asyncio.sleep(max(_COMMIT_POLL_SECONDS, took / _MAX_COMPARISON_TIME_SHARE))

    async def _publish_changes(self) -> None:
        commit = await self._pool.run(_commit, within=self._within)
        if commit == self._commit:
            return
        self._commit = commit
        try:
            for topic, version in (await self._read([*self._versions])).items():
                if topic not in self._versions:
                    continue
                known, self._versions[topic] = self._versions[topic], version
                if known != version:
                    await self._publish(topic)
        except BaseException:
            self._commit = _NOT_READ
            raise

    async def _publish(self, topic: Topic) -> None:
        await self.bus.publish(topic)
        async with anyio.create_task_group() as group:
            for connection, topics in self._subscribed.items():
                if topic in topics:
                    group.start_soon(_send, connection, topic)

    async def _read(self, topics: Sequence[Topic]) -> dict[Topic, object]:
        if not topics:
            return {}
        return await self._pool.run(
            lambda searcher: _versions(searcher, topics), within=self._within
        )


def _commit(searcher: Searcher) -> str | None:
    try:
        return searcher.commit()
    except IndexFolderError:
        return None


def _versions(searcher: Searcher, topics: Sequence[Topic]) -> dict[Topic, object]:
    """Return the current version of each topic; all missing resources have the same version."""
    uris = [parse(topic.uri) for topic in topics if isinstance(topic, ResourceUpdated)]
    documents = [uri.name for uri in uris if uri.kind == "document"]
    try:
        present = searcher.catalog.digests(documents) if documents else {}
        return {topic: _version(searcher, topic, present) for topic in topics}
    except IndexFolderError:
        return {topic: "" if topic == _LIST else None for topic in topics}


def _version(searcher: Searcher, topic: Topic, documents: Mapping[str, str | None]) -> object:
    if isinstance(topic, ResourcesListChanged):
        return searcher.catalog.digest_of_ids()
    uri = parse(topic.uri)
    match uri.kind:
        case "document":
            return documents[uri.name]
        case "chunk":
            try:
                return searcher.chunk(uri.name)
            except ChunkNotFoundError:
                return None
    # Facts about the index as a whole may change with every commit.
    return searcher.commit()


async def _send(connection: Connection, topic: Topic) -> None:
    with anyio.move_on_after(SEND_TIMEOUT_SECONDS):
        match topic:
            case ResourceUpdated(uri):
                await connection.send_resource_updated(uri)
            case ResourcesListChanged():
                await connection.send_resource_list_changed()


def _connection(context: RequestContext) -> Connection:
    """Return the connection of a request, which outlives the request.

    It identifies the subscribed client, and its end ends the subscriptions.
    """
    return context.session._connection  # noqa: SLF001 - the SDK gives handlers no other way to it


def _is_resource_uri(uri: str) -> bool:
    try:
        parse(uri)
    except ResourceNotFoundError:
        return False
    return True
