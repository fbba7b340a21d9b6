"""Paths of indexes that are not folders: ``opensearch://HOST:PORT/NAME``."""

import re
from pathlib import Path
from typing import Any, Final

from shared.errors import IndexPathError

_URL: Final = re.compile(r"(opensearchs?):[/\\]+(?=[^/\\])", re.ASCII)
"""Beginning of such a path. Path objects have one slash where the URL has two."""


class ClusterPath(type(Path())):  # type: ignore[misc] # the class depends on the system
    """Path of an index on a cluster, which is spelled as a URL and belongs to no folder."""

    # Not __init__, which the paths of Python 3.11 do without.
    def __new__(cls, *segments: Any) -> "ClusterPath":
        """Return the path of these segments, unless messages and files would show a password."""
        # Wherever it is: a password may contain a slash, and looks like a part of the name then.
        if any("@" in str(segment) for segment in segments):
            raise IndexPathError(
                ClusterPath("opensearch://..."),
                "its address must not contain a user or password, nor any other @",
                "put them into IDX_OPENSEARCH_USER and IDX_OPENSEARCH_PASSWORD",
            )
        path: ClusterPath = super().__new__(cls, *segments)
        return path

    def __str__(self) -> str:
        return _URL.sub(r"\1://", super().__str__(), count=1).replace("\\", "/")

    def __fspath__(self) -> str:
        return str(self)

    def absolute(self) -> "ClusterPath":
        return self


def is_cluster(path: Path | str) -> bool:
    """Check whether the path of an index means a cluster."""
    return _URL.match(str(path)) is not None


def index_path(path: Path | str) -> Path:
    """Return the path of an index as it is meant: a `ClusterPath` for a URL."""
    return ClusterPath(path) if is_cluster(path) else Path(path)
