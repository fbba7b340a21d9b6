"""Detection of changes by the commits of idx, while there are subscribers.

A search needs no watcher: it checks for the newest commit when it begins. For subscribers, the
watcher checks for a newer commit every half second, which takes two file-system calls. Only a newer
commit makes it compare the topics that have subscribers.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Set as AbstractSet,
)
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated

from server.answers.errors import TooManySubscriptionsError
from server.answers.uris import parse
from server.runtime.limit import Limit
from server.runtime.lucene_pool import LucenePool
from shared.errors import ChunkNotFoundError, IndexFolderError, McpLuceneError

if TYPE_CHECKING:
    from shared.reading.catalog import DocumentVersion
    from shared.reading.searcher import Searcher

Topic: TypeAlias = ResourceUpdated | ResourcesListChanged
"""The subject of a notification: a change of one resource, or of the list of documents."""

MAX_WATCHED: Final = 10_000
"""Maximum number of topics of all clients together: each is looked up after each commit."""

_COMMIT_POLL_SECONDS: Final = 0.5

_MAX_COMPARISON_TIME_SHARE: Final = 0.1
"""Maximum part of the time spent on comparisons, however large the index."""

_NOT_READ: Final = object()
"""Placeholder for a version or a commit that has not been read."""

logger = logging.getLogger(__name__)


@dataclass
class _WatchedTopic:
    """The number of a topic's subscribers, and the version that they know."""

    subscribers: int = 0
    version: object = _NOT_READ


class Watcher:
    """A publisher of the topics whose version has changed with a commit.

    Args:
        pool: the thread pool that answers from the index.
        publish: notifies the subscribers of a topic.
        within: the collections that the subscribers may see.
    """

    def __init__(
        self,
        pool: LucenePool,
        publish: Callable[[Topic], Awaitable[None]],
        within: Limit,
    ) -> None:
        self._pool = pool
        self._within = within
        self._publish = publish
        self._watched: dict[Topic, _WatchedTopic] = {}
        self._has_topics = asyncio.Event()
        self._commit: object = _NOT_READ

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Check for changes within a block, while there are topics."""
        task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def add(self, topics: AbstractSet[Topic]) -> None:
        """Watch topics for an additional subscriber.

        Every change after the return of this call is published.

        Raises:
            TooManySubscriptionsError: the limit of all clients together is exceeded.
            McpLuceneError: Lucene or Java failed; no topics are added. An index that is missing or
                cannot be read is treated as one without documents.
        """
        if len(self._watched.keys() | topics) > MAX_WATCHED:
            raise TooManySubscriptionsError(MAX_WATCHED, "all clients together")
        for topic in topics:
            self._watched.setdefault(topic, _WatchedTopic()).subscribers += 1
        try:
            new = [topic for topic in topics if self._watched[topic].version is _NOT_READ]
            for topic, version in (await self._versions(new)).items():
                watched = self._watched.get(topic)
                if watched is not None and watched.version is _NOT_READ:
                    watched.version = version
        except BaseException:
            self.remove(topics)
            raise
        # The versions may come from a newer commit than the one that a running check compares with.
        self._commit = _NOT_READ
        if self._watched:
            self._has_topics.set()

    def remove(self, topics: Iterable[Topic]) -> None:
        """Stop watching topics for a subscriber, for whom they were added before."""
        for topic in topics:
            self._watched[topic].subscribers -= 1
            if not self._watched[topic].subscribers:
                del self._watched[topic]
        if not self._watched:
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
            for topic, version in (await self._versions(list(self._watched))).items():
                watched = self._watched.get(topic)
                if watched is None:
                    continue
                known, watched.version = watched.version, version
                if known is not _NOT_READ and known != version:
                    await self._publish(topic)
        except BaseException:
            self._commit = _NOT_READ
            raise

    async def _versions(self, topics: Collection[Topic]) -> dict[Topic, object]:
        """Return the current version of each topic; all missing resources have the same version."""
        known = {topic: self._watched[topic].version for topic in topics}
        if not known:
            return {}
        return await self._pool.run(
            lambda searcher: _versions(searcher, known), within=self._within
        )


def _commit(searcher: Searcher) -> int | None:
    try:
        return searcher.catalog.commit()
    except IndexFolderError:
        return None


def _versions(searcher: Searcher, known: dict[Topic, object]) -> dict[Topic, object]:
    from shared.reading.catalog import DocumentVersion

    documents: dict[str, DocumentVersion | None] = {}
    for topic, version in known.items():
        if isinstance(topic, ResourceUpdated) and (uri := parse(topic.uri)).kind == "document":
            documents[uri.name] = version if isinstance(version, DocumentVersion) else None
    try:
        present = searcher.catalog.versions(documents) if documents else {}
        return {topic: _version(searcher, topic, present) for topic in known}
    except IndexFolderError:
        return {topic: "" if isinstance(topic, ResourcesListChanged) else None for topic in known}


def _version(
    searcher: Searcher, topic: Topic, documents: dict[str, DocumentVersion | None]
) -> object:
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
    return searcher.catalog.commit()
