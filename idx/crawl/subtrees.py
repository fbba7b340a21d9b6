"""Parts of a folder: files and folders within it, named by their paths."""

from collections.abc import Iterable


class Scopes:
    """Parts of a folder that a run covers.

    Args:
        paths: files and folders, relative to the folder, with slashes.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)
        self._above = frozenset(parent for path in self._paths for parent in _parents(path))

    def holds(self, path: str) -> bool:
        """Check whether a path is one of the parts or lies in one."""
        return path in self._paths or any(parent in self._paths for parent in _parents(path))

    def lead_through(self, path: str) -> bool:
        """Check whether a path leads to one of the parts, is one, or lies in one."""
        return path in self._above or self.holds(path)


def _parents(path: str) -> Iterable[str]:
    """Yield the folders that contain a path, innermost first."""
    end = path.rfind("/")
    while end > 0:
        path = path[:end]
        yield path
        end = path.rfind("/")
