"""How much of what is watched one token may have watched, where there are several."""

from collections import Counter
from collections.abc import Iterable, Set as AbstractSet
from typing import TypeAlias

from mcp.server.auth.middleware.auth_context import get_access_token

from server.answers.errors import TooManySubscriptionsError
from server.resources.watcher import Topic, Watcher

Holder: TypeAlias = tuple[str, str | None, bool] | None
"""Whose token came with a request; None if no token is asked for."""


class SharedWatcher:
    """Has topics watched, up to a number for each token.

    Args:
        watcher: watches them.
        most: topics of one token.
    """

    def __init__(self, watcher: Watcher, most: int) -> None:
        self._watcher = watcher
        self._most = most
        self._held: dict[Holder, Counter[Topic]] = {}

    async def add(self, topics: AbstractSet[Topic], holder: Holder) -> None:
        """Watch topics, for one subscriber more.

        Raises:
            TooManySubscriptionsError: these would be too many of one token, or of all.
            McpLuceneError: Lucene or Java failed; then nothing more is watched.
        """
        held = self._held.get(holder, Counter())
        if holder is not None and len(held.keys() | topics) > self._most:
            raise TooManySubscriptionsError(self._most, "one of several tokens")
        self._held.setdefault(holder, held).update(topics)
        try:
            await self._watcher.add(topics)
        except BaseException:
            self._release(topics, holder)
            raise

    def remove(self, topics: Iterable[Topic], holder: Holder) -> None:
        """Watch topics for one subscriber less, each of whom was added before."""
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
    """Whose token came with the request that is being answered."""
    token = get_access_token()
    return (token.client_id, token.subject, bool(token.claims)) if token else None
