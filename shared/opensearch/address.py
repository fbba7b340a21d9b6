"""The address of an index on a cluster, and the credentials of whoever asks."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from shared.errors import ConfigurationError, IndexPathError
from shared.files.index_folder import ClusterPath
from shared.settings.defaults import (
    OPENSEARCH_PASSWORD_VARIABLE,
    OPENSEARCH_TOKEN_VARIABLE,
    OPENSEARCH_USER_VARIABLE,
    OPENSEARCH_VARIABLES,
)

DEFAULT_PORT: Final = 9200

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,200}")
"""Name of an index that OpenSearch accepts, with room for a suffix."""

_EXAMPLE: Final = (
    "write it as opensearch://HOST:9200/NAME, or opensearchs:// for TLS, with commas between the "
    "hosts of several nodes"
)

_NODES: Final = re.compile(r"(opensearchs?)://([^/?#]*)([^?#]*)(.*)", re.DOTALL)
"""Protocol, nodes, name and rest of an address."""


@dataclass(frozen=True)
class Address:
    """Address of an index: host and HTTP port of each node that may be asked, and its name."""

    path: Path
    nodes: tuple[tuple[str, int], ...]
    name: str
    is_tls: bool

    @classmethod
    def of(cls, path: Path | str) -> "Address":
        """Return the address that a path means."""
        shown = ClusterPath(path)
        parts = _NODES.fullmatch(str(shown))
        scheme, hosts, name, rest = parts.groups() if parts else ("", "", "", "")
        try:
            nodes = tuple(map(_node, hosts.split(",")))
        except ValueError as error:
            raise IndexPathError(shown, f"it is not a valid address ({error})", _EXAMPLE) from error
        name = unquote(name.strip("/"))
        if rest or not all(host for host, _ in nodes) or not _NAME.fullmatch(name):
            raise IndexPathError(
                shown,
                "it is not the address of an index, whose name has small letters, digits, and "
                "- _ . only",
                _EXAMPLE,
            )
        return cls(shown, nodes, name, scheme == "opensearchs")


def _node(text: str) -> tuple[str, int]:
    """Return the host and port of a node; an empty host if there is none."""
    parts = urlsplit(f"//{text}")
    return parts.hostname or "", parts.port or DEFAULT_PORT


@dataclass(frozen=True)
class Credentials:
    """What a cluster is shown of whoever asks, and the certificates that sign its own."""

    user: tuple[str, str] | None = None
    token: str | None = None
    certificates: str | None = None

    @classmethod
    def from_environment(cls) -> "Credentials":
        """Read the credentials from the environment."""
        user, password, token, certificates = (
            os.environ.get(name) or None for name in OPENSEARCH_VARIABLES
        )
        if (user is None) != (password is None):
            missing = OPENSEARCH_PASSWORD_VARIABLE if user else OPENSEARCH_USER_VARIABLE
            raise ConfigurationError(missing, "it is not set, but the other of the pair is")
        if user and token:
            raise ConfigurationError(
                OPENSEARCH_TOKEN_VARIABLE, f"it is set beside {OPENSEARCH_USER_VARIABLE}; keep one"
            )
        pair = (user, password) if user and password else None
        return cls(pair, token, certificates)
