"""An index on a cluster as documents: its layout and its state."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from shared.errors import (
    ClusterDamagedError,
    ClusterRefusedError,
    ClusterUnreachableError,
    IndexFolderError,
    IndexMissingError,
    IndexSchemaError,
    IndexWriteError,
)
from shared.model import schema
from shared.model.folders import IndexedFolders
from shared.opensearch import layout
from shared.opensearch.cluster_errors import ConflictError, part_missing
from shared.opensearch.connection import BULK_SECONDS, Connection, Operation
from shared.opensearch.state import State
from shared.semantic.sentence_model import SentenceModel

_MAX_STATE_ATTEMPTS: Final = 200
"""Number of times that a change of the state is tried when other writers are faster."""

_MAX_LOST_ANSWERS: Final = 3
"""Number of times that a change of the state is tried whose answer is lost, as with its node."""

FIRST: Final = "000001"
"""End of the name of the index that a new name stands for."""

Versioned = tuple[State, Mapping[str, int]]
"""State, with the version that a change of it must find unchanged."""


class Store:
    """An index on a cluster, of one of some versions of the schema.

    Its name is that of the address unless another one is given.
    """

    def __init__(
        self,
        connection: Connection,
        name: str | None = None,
        versions: Collection[int] = (schema.SCHEMA_VERSION,),
    ) -> None:
        self.connection = connection
        self.path = connection.address.path
        self.name = name or connection.address.name
        self._versions = versions

    def create(self, shards: int | None = None, replicas: int | None = None) -> bool:
        """Create the index; false if it was there already, which is left unchanged.

        It gets its name when it has a state, so that a creation that was interrupted is completed
        by the next one.
        """
        is_new = self._described() is None
        if is_new:
            first = Store(self.connection, f"{self.name}-{FIRST}")
            body = layout.creation(shards, replicas)
            try:
                self.connection.request("PUT", f"/{first.name}", body)
            except ClusterRefusedError as error:
                if "already exists" not in error.problem:
                    raise
            with suppress(ConflictError):
                first.put_state(State.of_new_index(), {"op_type": "create"}, is_named=False)
            action = {"add": {"index": first.name, "alias": self.name}}
            self.connection.request("POST", "/_aliases", {"actions": [action]})
        self.described()
        return is_new

    def physical(self) -> str:
        """Return the name of the index whose other name is that of this one; see `_only`."""
        return self._only()[0]

    def _only(self) -> tuple[str, Mapping[str, Any]]:
        """Return the index that the name stands for, as the cluster describes it."""
        described = self._described()
        if not described:
            raise IndexMissingError(self.path)
        if len(described) > 1:
            raise ClusterDamagedError(self.path, f"its name stands for {len(described)} indexes")
        (only,) = described.items()
        return only

    def remove(self) -> None:
        for physical in self._described() or {}:
            self.connection.request("DELETE", f"/{physical}")

    def described(self) -> Mapping[str, Any]:
        """Return the mappings and settings of the index, after checking its version."""
        path = self.path
        _, index = self._only()
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
        if self._versions == schema.REBUILT_VERSIONS:
            # Its fields may have been others.
            return index
        expected = layout.creation()["mappings"]["properties"]
        there = mapping.get("properties", {})
        for name, wanted in expected.items():
            if wanted.get("type") not in {None, "object", there.get(name, {}).get("type")}:
                raise ClusterDamagedError(path, f"somebody changed the mapping of its field {name}")
        return index

    def _described(self) -> Mapping[str, Any] | None:
        try:
            answer: Mapping[str, Any] = self.connection.get(f"/{self.name}")
        except IndexMissingError:
            return None
        return answer

    def state(self) -> Versioned:
        """Return the state of the index as it is now, whether it is refreshed or not."""
        try:
            found = self.connection.get(f"/{self.name}/_doc/{layout.STATE_ID}")
        except ClusterRefusedError as error:
            if not error.problem.endswith("(404)"):
                raise
            raise ClusterDamagedError(self.path, "it has no state") from error
        version = {"if_seq_no": found["_seq_no"], "if_primary_term": found["_primary_term"]}
        return self.loaded(found["_source"]), version

    def loaded(self, source: Mapping[str, Any]) -> State:
        with self._reading("its state"):
            return State.load(source["state"])

    def model_in(self, state: State) -> SentenceModel | None:
        """Return the sentence model of a state; None without search by meaning."""
        with self._reading("its sentence model"):
            return SentenceModel.load(state.model) if state.model else None

    def folders_in(self, state: State) -> IndexedFolders:
        with self._reading("its list of folders"):
            return IndexedFolders.load(state.folders, self.path)

    @contextmanager
    def _reading(self, part: str) -> Iterator[None]:
        try:
            yield
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise ClusterDamagedError(self.path, f"{part} is not readable") from error

    def change(
        self,
        change: Callable[[State], State],
        is_done: Callable[[State], bool] = lambda _: False,
    ) -> State:
        """Change the state in one step; if another writer was faster, anew from its state.

        `is_done` checks whether a state has the change already, as after an answer that was lost.
        """
        lost = 0
        for _ in range(_MAX_STATE_ATTEMPTS):
            before, version = self.state()
            if is_done(before):
                return before
            after = change(before)
            if after == before:
                return before
            try:
                self.put_state(after, version)
            except ConflictError:
                # Or an attempt before has succeeded, and the next look finds its change.
                continue
            except ClusterUnreachableError:
                lost += 1
                if lost == _MAX_LOST_ANSWERS:
                    raise
                continue
            return after
        raise IndexWriteError(self.path, "other writers change it all the time")

    def put_state(self, state: State, version: Mapping[str, Any], *, is_named: bool = True) -> None:
        """Write the state, if conditions on the one that it replaces are met.

        The name must be another name of an index, unless one is just being created.
        """
        self.connection.request(
            "PUT",
            f"/{self.name}/_doc/{layout.STATE_ID}",
            {"state": state.dump()},
            refresh="true",
            require_alias=str(is_named).lower(),
            **version,
        )

    def refresh(self) -> None:
        """Make all documents that were written visible to searches."""
        answer = self.connection.request("POST", f"/{self.name}/_refresh", seconds=BULK_SECONDS)
        if answer["_shards"]["failed"]:
            raise part_missing(self.path)

    def bulk(self, operations: Iterable[Operation], **parameters: Any) -> Iterator[tuple[str, str]]:
        return self.connection.bulk(self.name, operations, **parameters)

    def write(self, operations: Iterable[Operation], **parameters: Any) -> None:
        """Write documents, none of which the cluster may refuse."""
        for id_, reason in self.bulk(operations, **parameters):
            raise ClusterRefusedError(self.path, f"{id_}: {reason}")

    def delete(self, query: Mapping[str, Any]) -> bool:
        """Delete what a query matches; false if some of it may be left.

        What others change meanwhile stays.
        """
        answer = self.connection.request(
            "POST",
            f"/{self.name}/_delete_by_query",
            {"query": query},
            seconds=BULK_SECONDS,
            conflicts="proceed",
            refresh="true",
        )
        return not answer["failures"] and not answer["version_conflicts"]


def create(path: Path | str, *, shards: int | None = None, replicas: int | None = None) -> bool:
    """Create an empty index; see `shared.create`."""
    return Store(Connection(path)).create(shards, replicas)


def holds_index(path: Path | str) -> bool:
    """Check whether there is an index, whether it can be used or not; false without a cluster."""
    try:
        Store(Connection(path)).described()
    except (IndexMissingError, ClusterUnreachableError):
        return False
    except IndexFolderError:
        return True
    return True
