"""Memory and cores that this process may use, and the defaults based on them."""

from pathlib import Path
from typing import Final

from shared.settings.defaults import DEFAULT_JAVA_HEAP, MIN_JAVA_HEAP
from shared.system import memory_bytes, usable_cores

_CONTROL_GROUPS: Final = Path("/sys/fs/cgroup")

_OWN_GROUP: Final = Path("/proc/self/cgroup")


def usable_bytes(groups: Path = _CONTROL_GROUPS, own_group: Path = _OWN_GROUP) -> int:
    """Return the memory of the machine in bytes, or the limit of a container or service."""
    return min([memory_bytes(), *_limits(groups, own_group)])


def _limits(groups: Path, own_group: Path) -> list[int]:
    """Return the limits of the group and its parents; inside a container it is the root."""
    try:
        lines = own_group.read_text().splitlines()
    except OSError:
        return []
    name = next((line.removeprefix("0::/") for line in lines if line.startswith("0::/")), "")
    group = groups / name
    limits = []
    for folder in (group, *group.parents):
        if not folder.is_relative_to(groups):
            break
        try:
            limits.append(int((folder / "memory.max").read_text()))
        except (OSError, ValueError):
            # The root has no such file, and a group without a limit says "max".
            continue
    return limits


def default_workers() -> int:
    """Return the default number of worker processes: one for each core of this process."""
    return usable_cores()


def default_java_heap() -> int:
    """Return the default size of Java's heap in MiB.

    It is at most half of the memory, so that a small machine has room for Python and for the files
    of the index.
    """
    half = usable_bytes() // 2**21
    return max(MIN_JAVA_HEAP, min(half, DEFAULT_JAVA_HEAP))
