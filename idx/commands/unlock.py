"""Command `idx unlock`."""

from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath, Json
from idx.output.printing import print_json, tell


def unlock(index_path: IndexPath = DEFAULT_INDEX_PATH, as_json: Json = False) -> None:
    """Remove the lock file that a writer has left in the index, if no process holds it.

    Seldom needed: the lock of a writer ends with its process, however that ends. A process that
    holds the lock is named, and keeps it; the exit code is 1 then.

    Example: idx unlock
    """
    from shared.maintenance.unlock import unlock as remove_lock

    unlocked = remove_lock(index_path)
    if as_json:
        print_json({"unlocked": unlocked})
    else:
        tell(
            "Removed the lock file; no process held it."
            if unlocked
            else "The index is not locked; there was nothing to remove."
        )
