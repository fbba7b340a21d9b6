"""An index on a cluster as documents: its layout, its state, and bulk requests."""

import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from shared.errors import (
    ClusterDamagedError,
    ClusterRefusedError,
    ClusterUnreachableError,
    IndexMissingError,
    IndexSchemaError,
    IndexWriteError,
    McpLuceneError,
)
from shared.model import schema
from shared.opensearch import layout
from shared.opensearch.connection import (
    BULK_SECONDS,
    ConflictError,
    Connection,
    part_missing,
)
from shared.opensearch.state import State

_MAX_BULK_BYTES: Final = 5_000_000
"""Size from which a bulk request is sent; OpenSearch's guide recommends 5 to 15 MB."""

_MAX_BULK_ATTEMPTS: Final = 8
_BULK_PAUSE: Final = 0.2
"""Number of times that a document is sent which the cluster was too busy for, and seconds before
the second time; each further pause is twice as long."""

_MAX_STATE_ATTEMPTS: Final = 200
"""Number of times that a change of the state is tried when other writers are faster."""

_MAX_LOST_ANSWERS: Final = 3
"""Number of times that a change of the state is tried whose answer is lost, as with its node."""

_BUSY: Final = 429
_CONFLICT: Final = 409
_NOT_FOUND: Final = 404

FIRST: Final = "000001"
"""End of the name of the index that a new name stands for."""

Versioned = tuple[State, Mapping[str, int]]
"""State, with the version that a change of it must find unchanged."""


class Store:
    """An index on a cluster.

    Args:
        connection: the connection to its cluster.
        name: its name; None for that of the address.
        versions: the versions of the schema that may be read.

    Attributes:
        connection: the same.
        name: the name of the index.
        lost_answers: the number of bulk requests without an answer: the cluster may get them late,
            after they were sent again.
    """

    def __init__(
        self,
        connection: Connection,
        name: str | None = None,
        versions: Collection[int] = (schema.SCHEMA_VERSION,),
    ) -> None:
        self.connection = connection
        self.name = name or connection.address.name
        self._versions = versions
        self.lost_answers = 0

    def create(self, shards: int | None = None, replicas: int | None = None) -> bool:
        """Create the index.

        Args:
            shards: as for `layout.creation`.
            replicas: the same.

        Returns:
            False if it was there already, which is left unchanged.

        Raises:
            IndexSchemaError: it was there, but is not one of this version.
        """
        if self._described() is None:
            body = {**layout.creation(shards, replicas), "aliases": {self.name: {}}}
            try:
                self.connection.request("PUT", f"/{self.name}-{FIRST}", body, is_repeatable=False)
            except ClusterRefusedError as error:
                if "already exists" not in error.problem:
                    raise
            except ClusterUnreachableError:
                if self._described() is None:
                    raise
        self.mapping()
        return self._complete()

    def _complete(self) -> bool:
        """Write the first state if there is none, as after a creation that was interrupted.

        Returns:
            False if there is one, or something else in the index.
        """
        try:
            self.state()
        except ClusterDamagedError:
            self.refresh()
            (answer,) = self.connection.search([{"size": 0, "track_total_hits": True}])
            if answer["hits"]["total"]["value"]:
                return False
        else:
            return False
        try:
            self.put_state(State.of_new_index(), {"op_type": "create"})
        except ConflictError:
            return False
        return True

    def physical(self) -> str:
        """Return the name of the index that has the name of this one as another name.

        Raises:
            IndexMissingError: there is no index.
            ClusterDamagedError: there are several.
        """
        names = list(self._described() or {})
        path = self.connection.address.path
        if not names:
            raise IndexMissingError(path)
        if len(names) > 1:
            raise ClusterDamagedError(path, f"its name stands for {len(names)} indexes")
        return names[0]

    def remove(self) -> None:
        """Delete the index, with all that is in it."""
        for physical in self._described() or {}:
            self.connection.request("DELETE", f"/{physical}")

    def mapping(self) -> Mapping[str, Any]:
        """Return the mapping of the index; see `described`."""
        mapping: Mapping[str, Any] = self.described()["mappings"]
        return mapping

    def described(self) -> Mapping[str, Any]:
        """Return the mappings and settings of the index, after checking its version.

        Raises:
            IndexMissingError: there is no index.
            IndexSchemaError: it was written by another program, or by another version.
        """
        path = self.connection.address.path
        described = self._described()
        if described is None:
            raise IndexMissingError(path)
        if len(described) != 1:
            raise ClusterDamagedError(path, f"its name stands for {len(described)} indexes")
        index: Mapping[str, Any]
        (index,) = described.values()
        mapping = index["mappings"]
        found = mapping.get("_meta", {}).get(schema.COMMIT_SCHEMA)
        if found is None:
            raise IndexSchemaError(
                path, "no schema version, so another program created it", schema.SCHEMA_VERSION
            )
        if found not in self._versions:
            is_newer = isinstance(found, int) and found > schema.SCHEMA_VERSION
            raise IndexSchemaError(
                *(path, f"schema version {found}", schema.SCHEMA_VERSION),
                rebuilds=found in schema.REBUILT_VERSIONS,
                newer=is_newer,
            )
        if found != schema.SCHEMA_VERSION:
            # Its fields may have been others.
            return index
        expected = layout.creation()["mappings"]["properties"]
        there = mapping.get("properties", {})
        for name, wanted in expected.items():
            if wanted.get("type") not in {None, "object", there.get(name, {}).get("type")}:
                raise ClusterDamagedError(path, f"somebody changed the mapping of its field {name}")
        return index

    def version(self) -> int:
        """Return the version of the schema of the index; see `described`."""
        return int(self.mapping()["_meta"][schema.COMMIT_SCHEMA])

    def settings(self) -> Mapping[str, Any]:
        """Return the settings of the index; see `described`."""
        settings: Mapping[str, Any] = self.described()["settings"]["index"]
        return settings

    def _described(self) -> Mapping[str, Any] | None:
        try:
            answer: Mapping[str, Any] = self.connection.get(f"/{self.name}")
        except IndexMissingError:
            return None
        return answer

    def state(self) -> Versioned:
        """Return the state of the index as it is now, whether it is refreshed or not.

        Raises:
            IndexMissingError: there is no index.
            ClusterDamagedError: it has no state.
        """
        found = self.document(layout.STATE_ID)
        if found is None:
            raise ClusterDamagedError(self.connection.address.path, "it has no state")
        source, version = found
        return self.loaded(source), version

    def document(self, id_: str) -> tuple[Mapping[str, Any], Mapping[str, int]] | None:
        """Return a document as it is now, whether the index is refreshed or not.

        Args:
            id_: its id on the cluster.

        Returns:
            The document, with the version that a change of it must find unchanged; None if there is
            no such document.

        Raises:
            IndexMissingError: there is no index.
        """
        try:
            found = self.connection.get(f"/{self.name}/_doc/{id_}")
        except ClusterRefusedError as error:
            if not error.problem.endswith(f"({_NOT_FOUND})"):
                raise
            return None
        version = {"if_seq_no": found["_seq_no"], "if_primary_term": found["_primary_term"]}
        return found["_source"], version

    def loaded(self, source: Mapping[str, Any]) -> State:
        """Return the state in a document.

        Raises:
            ClusterDamagedError: it was written by something else.
        """
        try:
            return State.load(source["state"])
        except (KeyError, TypeError, ValueError) as error:
            path = self.connection.address.path
            raise ClusterDamagedError(path, "its state is not readable") from error

    def change(
        self, change: Callable[[State], State], is_done: Callable[[State], bool] | None = None
    ) -> State:
        """Change the state in one step; if another writer was faster, from its state.

        Args:
            change: a function that returns the new state; it may be called several times.
            is_done: a function that checks whether a state has the change, which is called if an
                answer was lost; None if the change may be made twice.

        Raises:
            IndexWriteError: others were faster each time.
            ClusterUnreachableError: answers were lost each time.
        """
        lost = 0
        for _ in range(_MAX_STATE_ATTEMPTS):
            before, version = self.state()
            if lost and is_done is not None and is_done(before):
                return before
            after = change(before)
            if after == before:
                return before
            try:
                self.put_state(after, version)
            except ConflictError:
                continue
            except ClusterUnreachableError:
                lost += 1
                if lost == _MAX_LOST_ANSWERS:
                    raise
                continue
            return after
        path = self.connection.address.path
        raise IndexWriteError(path, "other writers change it all the time")

    def put_state(self, state: State, version: Mapping[str, Any]) -> None:
        """Write the state.

        Args:
            state: the state.
            version: conditions on the state that it replaces.

        Raises:
            ConflictError: a condition is not met.
        """
        # A request that was lost on its way back is not repeated as it is: it would find its own
        # change.
        self.connection.request(
            "PUT",
            f"/{self.name}/_doc/{layout.STATE_ID}",
            {"state": state.dump()},
            is_repeatable=False,
            refresh="true",
            **version,
        )

    def refresh(self) -> None:
        """Make all documents that were written visible to searches.

        Raises:
            ClusterUnreachableError: a shard did not do so.
        """
        answer = self.connection.request("POST", f"/{self.name}/_refresh", seconds=BULK_SECONDS)
        if answer["_shards"]["failed"]:
            raise part_missing(self.connection.address.path)

    def bulk(self, operations: Iterable[bytes]) -> Iterator[tuple[str, str]]:
        """Write documents, in requests of some megabytes.

        Args:
            operations: operations as `shared.opensearch.operations` makes them.

        Yields:
            The ids of documents that the cluster does not accept, each with the reason.
        """
        waiting: list[bytes] = []
        size = 0
        for operation in operations:
            waiting.append(operation)
            size += len(operation)
            if size >= _MAX_BULK_BYTES:
                yield from self._send(waiting)
                waiting, size = [], 0
        if waiting:
            yield from self._send(waiting)

    def _send(self, operations: Sequence[bytes]) -> Iterator[tuple[str, str]]:
        path = self.connection.address.path

        def note() -> None:
            self.lost_answers += 1

        for attempt in range(_MAX_BULK_ATTEMPTS):
            answer = self.connection.request(
                *("POST", f"/{self.name}/_bulk", b"".join(operations)),
                seconds=BULK_SECONDS,
                when_lost=note,
            )
            if not answer["errors"]:
                return
            again = []
            for operation, item in zip(operations, answer["items"], strict=True):
                (result,) = item.values()
                status, problem = result["status"], result.get("error")
                if status == _BUSY or status >= 500:  # noqa: PLR2004 - errors of a server
                    again.append(operation)
                elif problem and problem.get("type") == "cluster_block_exception":
                    raise IndexWriteError(path, str(problem.get("reason"))[:200])
                elif problem and status != _CONFLICT:
                    yield result["_id"], _reason(problem)
            if not again:
                return
            operations = again
            time.sleep(_BULK_PAUSE * 2**attempt)
        raise IndexWriteError(path, "the cluster is too busy to accept documents")

    def ids(self, query: Mapping[str, Any]) -> Iterator[str]:
        """Yield the ids of all documents that a query matches, as the last refresh shows them."""
        for hit in self.hits(query, _source=False):
            yield str(hit["_id"])

    def hits(
        self, query: Mapping[str, Any], **body: Any
    ) -> Generator[Mapping[str, Any], None, None]:
        """Yield all documents that a query matches, as they are at the beginning (scroll).

        Raises:
            ClusterUnreachableError: a shard did not answer, so that documents may be missing.
        """
        page = self.connection.request(
            "POST",
            f"/{self.name}/_search",
            {"query": query, "size": 1000, "sort": ["_doc"], **body},
            scroll="2m",
            allow_partial_search_results="false",
        )
        scroll_id = page["_scroll_id"]
        try:
            while True:
                # Of later pages, the cluster returns what the other shards have.
                if page["_shards"]["successful"] < page["_shards"]["total"]:
                    raise part_missing(self.connection.address.path)
                if not page["hits"]["hits"]:
                    return
                yield from page["hits"]["hits"]
                scroll_id = page["_scroll_id"]
                body = {"scroll": "2m", "scroll_id": scroll_id}
                page = self.connection.request("POST", "/_search/scroll", body)
        finally:
            with suppress(McpLuceneError):
                # It ends by itself, too; an error of the pages says more.
                self.connection.request("DELETE", "/_search/scroll", {"scroll_id": scroll_id})


def _reason(problem: Mapping[str, Any]) -> str:
    cause = problem.get("caused_by", problem)
    return str(cause.get("reason") or problem.get("reason"))[:300]
