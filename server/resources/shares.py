"""The limit on watched topics per token, if there are several tokens."""

from collections import Counter
from collections.abc import Iterable, Set as AbstractSet
from typing import TypeAlias

from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp.server.auth.middleware.bearer_auth import AuthorizationContext, authorization_context
from mcp.server.subscriptions import ResourcesListChanged

from server.answers.errors import TooManySubscriptionsError
from server.resources.watcher import Topic, Watcher

Holder: TypeAlias = tuple[str, str | None, str | None] | None
"""Holder of a token, by its name or its claims: tokens of one name have one share. None if the
server asks for no token."""


class SharedWatcher:
    """A watcher with a limit on topics for each token.

    Args:
        watcher: the shared watcher.
        most: maximum number of topics of one token.
    """

    def __init__(self, watcher: Watcher, most: int) -> None:
        self._watcher = watcher
        self._most = most
        self._held: dict[Holder, Counter[Topic]] = {}

    def has_room(self, topics: AbstractSet[Topic], holder: Holder) -> bool:
        """Check whether topics fit into the share of a token, beside those that it has already."""
        held = self._held.get(holder, Counter()).keys() | topics
        # Everyone may hear of changes of the list.
        return holder is None or len(held - {ResourcesListChanged()}) <= self._most

    async def add(self, topics: AbstractSet[Topic], holder: Holder) -> None:
        """Watch topics for an additional subscriber.

        Raises:
            TooManySubscriptionsError: the limit of the token, or of all clients, is exceeded.
            McpLuceneError: Lucene or Java failed; no topics are added.
        """
        if not self.has_room(topics, holder):
            raise TooManySubscriptionsError(self._most, "one of several tokens")
        self._held.setdefault(holder, Counter()).update(topics)
        try:
            await self._watcher.add(topics)
        except BaseException:
            self._release(topics, holder)
            raise

    def remove(self, topics: Iterable[Topic], holder: Holder) -> None:
        """Stop watching topics for a subscriber, for whom they were added before."""
        topics = list(topics)
        self._watcher.remove(topics)
        self._release(topics, holder)

    def _release(self, topics: Iterable[Topic], holder: Holder) -> None:
        held = self._held.get(holder, Counter())
        for topic in topics:
            held[topic] -= 1
            if not held[topic]:
                del held[topic]
        if not held:
            self._held.pop(holder, None)


def current_holder() -> Holder:
    """Return the holder of the token that came with the current request."""
    user = auth_context_var.get()
    return holder_of(authorization_context(user)) if user else None


def holder_of(context: AuthorizationContext) -> Holder:
    """Return the holder of a token, as a key."""
    return context["client_id"], context["issuer"], context["subject"]
