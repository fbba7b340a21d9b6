"""The list of files that cannot be read, which is a document of the index."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from shared.errors import IndexMissingError, IndexWriteError
from shared.model.failures import Failure, dump_failures, parsed_failures
from shared.opensearch import layout
from shared.opensearch.address import Address
from shared.opensearch.connection import ConflictError, Connection
from shared.opensearch.store import Store

_MAX_ATTEMPTS: Final = 200
"""Number of times that a change is tried when other writers are faster."""


def load_failures(path: Path | str) -> dict[str, Failure]:
    """Return the failures by document id; see `shared.model.failures`."""
    store = Store(Connection(Address.of(path)))
    try:
        found = store.document(layout.FAILURES_ID)
    except IndexMissingError:
        return {}
    return _parsed(store, found[0]) if found else {}


def save_failures(
    path: Path | str,
    failures: Mapping[str, Failure],
    before: Mapping[str, Failure] | None = None,
) -> None:
    """Store failures in the index, beside those of other writers.

    Args:
        path: the address of the index.
        failures: the failures.
        before: those that they were made from: only what differs is changed; None to replace all.

    Raises:
        IndexWriteError: others were faster each time.
    """
    store = Store(Connection(Address.of(path)))
    for _ in range(_MAX_ATTEMPTS):
        found = store.document(layout.FAILURES_ID)
        known = _parsed(store, found[0]) if found else {}
        after = dict(failures) if before is None else _changed(known, before, failures)
        if after == known:
            return
        condition: Mapping[str, Any] = found[1] if found else {"op_type": "create"}
        try:
            _put(store, {"state": {"json": dump_failures(after)}}, condition)
        except ConflictError:
            # Or its own answer was lost, and the next look finds the change.
            continue
        return
    raise IndexWriteError(
        store.connection.address.path, "other writers change the list of failures all the time"
    )


def _changed(
    known: Mapping[str, Failure], before: Mapping[str, Failure], after: Mapping[str, Failure]
) -> dict[str, Failure]:
    changed = {name: of for name, of in after.items() if before.get(name) != of}
    gone = before.keys() - after.keys()
    return {name: of for name, of in known.items() if name not in gone} | changed


def copy_failures(old: Store, new: Store) -> None:
    """Store the failures of an index in another one."""
    if found := old.document(layout.FAILURES_ID):
        _put(new, found[0], {})


def _parsed(store: Store, source: Mapping[str, Any]) -> dict[str, Failure]:
    return parsed_failures(store.connection.address.path, source["state"]["json"])


def _put(store: Store, source: Mapping[str, Any], condition: Mapping[str, Any]) -> None:
    path = f"/{store.name}/_doc/{layout.FAILURES_ID}"
    store.connection.request("PUT", path, source, refresh="true", **condition)
