"""Subscriptions and notifications in both eras of the protocol.

A client of 2026-07-28 opens a stream with `subscriptions/listen`, which carries the notifications
that it requested; the SDK serves the stream from a bus. A client of an older version subscribes to
resources one by one with `resources/subscribe`, and receives notifications on its connection. It
receives those about list changes without a request; here they begin with its first list or
subscription, since it cannot have a list before.
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final, TypeAlias

import anyio
from mcp.server import ServerRequestContext
from mcp.server.connection import Connection
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged, ResourceUpdated
from mcp.types import SubscriptionFilter
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from server.answers.errors import ResourceNotFoundError, TooManySubscriptionsError
from server.answers.uris import parse
from server.resources.shares import Holder, SharedWatcher, current_holder
from server.resources.watcher import MAX_WATCHED, Topic, Watcher
from server.runtime.limit import Limit
from server.runtime.lucene_pool import LucenePool
from server.runtime.state import ServerState

RequestContext: TypeAlias = ServerRequestContext[ServerState, Any]
"""The context of a request."""

MAX_SUBSCRIPTIONS: Final = 1_000
"""Maximum number of resources that one session or stream can subscribe to."""

_SEND_TIMEOUT_SECONDS: Final = 5.0
"""Timeout for sending a notification to a client that does not read, in seconds."""


class Subscribers:
    """The subscriptions of all clients, each until it or the session ends.

    Args:
        pool: the thread pool that answers from the index.
        max_watched: maximum number of resources that one token can subscribe to, over all its
            clients.
        within: the collections that these clients may see.

    Attributes:
        bus: the bus that feeds the streams of `subscriptions/listen`.
    """

    def __init__(
        self, pool: LucenePool, max_watched: int = MAX_WATCHED, *, within: Limit = None
    ) -> None:
        self.bus = InMemorySubscriptionBus()
        self._watcher = Watcher(pool, self._notify, within)
        self._shared = SharedWatcher(self._watcher, max_watched)
        self._holders: dict[Connection, Holder] = {}
        self._subscriptions: dict[Connection, set[Topic]] = {}
        self._adding: Counter[Connection] = Counter()

    def running(self) -> AbstractAsyncContextManager[None]:
        """Send notifications about changes within a block."""
        return self._watcher.running()

    def has_room(self, uris: Iterable[str], holder: Holder) -> bool:
        """Check whether resources fit into the share of a token, beside those that it has already.

        Args:
            uris: the resources; those that cannot exist need no room.
            holder: the token.
        """
        wanted = set(uris)
        # More can never be subscribed to, which is another error.
        return len(wanted) > MAX_SUBSCRIPTIONS or self._shared.has_room(
            {ResourceUpdated(uri) for uri in wanted if _is_resource_uri(uri)}, holder
        )

    async def subscribe(self, context: RequestContext, uri: str) -> None:
        """Subscribe a client of an older version to changes of a resource.

        Raises:
            ResourceNotFoundError: the URI cannot identify a resource.
            TooManySubscriptionsError: the limit of the client, of its token or of all clients is
                exceeded.
        """
        parse(uri)
        topic, connection = ResourceUpdated(uri), _connection(context)
        topics = self._subscriptions.get(connection, set())
        # `>` since list changes are among the topics; pending requests are not among them yet.
        if topic not in topics and len(topics) + self._adding[connection] > MAX_SUBSCRIPTIONS:
            raise TooManySubscriptionsError(MAX_SUBSCRIPTIONS)
        await self._add(connection, topic)

    def unsubscribe(self, context: RequestContext, uri: str) -> None:
        """Unsubscribe a client of an older version from a resource."""
        topics, topic = self._subscriptions.get(_connection(context), set()), ResourceUpdated(uri)
        if topic in topics:
            topics.remove(topic)
            self._shared.remove([topic], self._holders[_connection(context)])

    async def subscribe_to_list(self, context: RequestContext) -> None:
        """Subscribe a client of an older version to list changes."""
        if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            await self._add(_connection(context), ResourcesListChanged())

    @asynccontextmanager
    async def listening(self, wanted: SubscriptionFilter) -> AsyncIterator[None]:
        """Watch the topics of a client's stream while the stream is open.

        Raises:
            TooManySubscriptionsError: the limit of the stream, of its token or of all clients is
                exceeded.
        """
        uris = set(wanted.resource_subscriptions or ())
        # Before they are parsed, which takes longest.
        if len(uris) > MAX_SUBSCRIPTIONS:
            raise TooManySubscriptionsError(MAX_SUBSCRIPTIONS)
        topics: set[Topic] = {ResourceUpdated(uri) for uri in uris if _is_resource_uri(uri)}
        if wanted.resources_list_changed:
            topics.add(ResourcesListChanged())
        holder = current_holder()
        await self._shared.add(topics, holder)
        try:
            yield
        finally:
            self._shared.remove(topics, holder)

    async def _add(self, connection: Connection, topic: Topic) -> None:
        if connection not in self._subscriptions:
            self._subscriptions[connection] = set()
            self._holders[connection] = current_holder()
            connection.exit_stack.callback(self._forget, connection)
        if topic in self._subscriptions[connection]:
            return
        holder = self._holders[connection]
        self._adding[connection] += 1
        try:
            await self._shared.add({topic}, holder)
        finally:
            self._adding[connection] -= 1
            if not self._adding[connection]:
                del self._adding[connection]
        topics = self._subscriptions.get(connection)
        # The session may have ended meanwhile, or another request may have added the topic first.
        if topics is None or topic in topics:
            self._shared.remove([topic], holder)
        else:
            topics.add(topic)

    def _forget(self, connection: Connection) -> None:
        self._shared.remove(self._subscriptions.pop(connection), self._holders.pop(connection))

    async def _notify(self, topic: Topic) -> None:
        await self.bus.publish(topic)
        async with anyio.create_task_group() as group:
            for connection, topics in self._subscriptions.items():
                if topic in topics:
                    group.start_soon(_send, connection, topic)


async def _send(connection: Connection, topic: Topic) -> None:
    with anyio.move_on_after(_SEND_TIMEOUT_SECONDS):
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
    """Check whether a URI can identify a resource."""
    try:
        parse(uri)
    except ResourceNotFoundError:
        return False
    return True
