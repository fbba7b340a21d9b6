"""Choice of the code for an index by its path: a folder, or an index on a cluster.

This is the one place that knows of both. The other modules are named here and not imported, so that
a program that works on a folder loads nothing of a cluster.
"""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from shared.errors import ExtraMissingError
from shared.files import index_folder
from shared.files.index_folder import ClusterPath, is_cluster

_EXTRA: Final = "opensearch"
_LIBRARY: Final = "opensearchpy"

_MODULES: Final = {
    "IndexOnCluster": "shared.opensearch.backend",
    "Index": "shared.opensearch.index",
    "create": "shared.opensearch.store",
    "holds_index": "shared.opensearch.store",
    "check": "shared.opensearch.upkeep",
    "findings": "shared.opensearch.upkeep",
    "embeddable": "shared.opensearch.upkeep",
    "rebuild": "shared.opensearch.rebuild",
    "load_failures": "shared.opensearch.upkeep",
    "save_failures": "shared.opensearch.upkeep",
}
"""Module of each name that a path may choose."""


def chosen(path: Path | str, name: str) -> Any | None:
    """Return what takes the place of a class or function for an index on a cluster.

    Returns the same of a cluster; None for a folder.
    """
    if not is_cluster(path):
        return None
    if find_spec(_LIBRARY) is None:
        raise ExtraMissingError("an index on a cluster", _EXTRA, _LIBRARY)
    return getattr(import_module(_MODULES[name]), name)


def location(path: Path | str) -> Path:
    """Return the path of an index as it is meant from any folder."""
    return ClusterPath(path) if is_cluster(path) else index_folder.absolute(path)


def holds_index(path: Path) -> bool:
    """Check whether there is an index at a path; false if it cannot be read."""
    other = chosen(path, "holds_index")
    return bool(other(path)) if other else index_folder.holds_index(path)


def check_new(path: Path) -> None:
    """Check that an index can be created at a path."""
    if not is_cluster(path):
        index_folder.check(index_folder.absolute(path))
