"""The list of files that cannot be read: one document of the index for each."""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from shared.errors import ClusterRefusedError, IndexMissingError
from shared.model.failures import Failure, dump_failures, parsed_failures
from shared.opensearch import layout
from shared.opensearch.address import Address
from shared.opensearch.bulk import delete_operation
from shared.opensearch.connection import Connection, Operation
from shared.opensearch.store import Store


def load_failures(path: Path | str) -> dict[str, Failure]:
    """Return the failures by document id; see `shared.model.failures`."""
    try:
        return failures_in(Store(Connection(Address.of(path))))
    except IndexMissingError:
        return {}


def save_failures(
    path: Path | str,
    failures: Mapping[str, Failure],
    before: Mapping[str, Failure] | None = None,
) -> None:
    """Store failures in the index, beside those of other writers.

    Only what differs from those that they were made from is changed; None replaces all.
    """
    store = Store(Connection(Address.of(path)))
    put_failures(store, failures, failures_in(store) if before is None else before)


def failures_in(store: Store) -> dict[str, Failure]:
    """Return the failures in an index by document id."""
    found: dict[str, Failure] = {}
    for hit in store.connection.hits({"term": {layout.KIND: layout.FAILURE}}):
        found |= parsed_failures(store.connection.address.path, hit["_source"]["stored"]["json"])
    return found


def put_failures(
    store: Store, failures: Mapping[str, Failure], before: Mapping[str, Failure]
) -> None:
    """Store the failures in an index that differ from earlier ones."""

    def operations() -> Iterator[Operation]:
        for name in before.keys() - failures.keys():
            yield delete_operation(_id(name))
        for name, failure in failures.items():
            if before.get(name) != failure:
                stored = {"json": dump_failures({name: failure})}
                source = {layout.KIND: layout.FAILURE, "stored": stored}
                yield {"index": {"_id": _id(name)}}, source

    for name, reason in store.bulk(operations(), refresh="true"):
        raise ClusterRefusedError(store.connection.address.path, f"{name}: {reason}")


def _id(name: str) -> str:
    digest = hashlib.sha256(name.encode(errors="replace")).hexdigest()[:32]
    return f"{layout.FAILURE}-{digest}"
