"""Command `idx unlock`."""

from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath, Json
from idx.output.printing import print_json, tell


def unlock(index_path: IndexPath = DEFAULT_INDEX_PATH, as_json: Json = False) -> None:
    """Remove a leftover lock file from the index, if no process holds the lock.

    Rarely needed, because a lock ends with its process, even after a crash. If a process holds the
    lock, it is named and keeps the lock, and the exit code is 1.

    Example: idx unlock
    """
    from shared.maintenance.upkeep import unlock as remove_lock

    unlocked = remove_lock(index_path)
    if as_json:
        print_json({"unlocked": unlocked})
    else:
        tell(
            "Removed the lock file; no process held it."
            if unlocked
            else "The index is not locked; there was nothing to remove."
        )
