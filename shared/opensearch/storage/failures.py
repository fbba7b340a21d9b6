"""The list of files that cannot be read, which is a document of the index."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shared.errors import IndexMissingError
from shared.model.failures import Failure, dump_failures, parsed_failures
from shared.opensearch.storage import layout
from shared.opensearch.storage.address import Address
from shared.opensearch.storage.connection import Connection
from shared.opensearch.storage.store import Store


def load_failures(path: Path | str) -> dict[str, Failure]:
    """Return the failures by document id; see `shared.model.failures`."""
    store = Store(Connection(Address.of(path)))
    query = {"ids": {"values": [layout.FAILURES_ID]}}
    try:
        (answer,) = store.connection.search([{"query": query}])
    except IndexMissingError:
        return {}
    found = answer["hits"]["hits"]
    if not found:
        return {}
    return parsed_failures(store.connection.address.path, found[0]["_source"]["state"]["json"])


def copy_failures(old: Store, new: Store) -> None:
    """Store the failures of an index in another one."""
    if found := old.document(layout.FAILURES_ID):
        source, _ = found
        _put(new, source)


def save_failures(path: Path | str, failures: Mapping[str, Failure]) -> None:
    """Store the failures in the index."""
    store = Store(Connection(Address.of(path)))
    _put(store, {"state": {"json": dump_failures(failures)}})


def _put(store: Store, source: Mapping[str, Any]) -> None:
    store.connection.request(
        "PUT", f"/{store.name}/_doc/{layout.FAILURES_ID}", source, refresh="true"
    )
