"""The address of an index on a cluster, and the credentials of whoever asks."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from shared.errors import ConfigurationError, IndexPathError
from shared.files.cluster_path import ClusterPath
from shared.settings.defaults import (
    OPENSEARCH_PASSWORD_VARIABLE,
    OPENSEARCH_TOKEN_VARIABLE,
    OPENSEARCH_USER_VARIABLE,
    OPENSEARCH_VARIABLES,
)

DEFAULT_PORT: Final = 9200

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,200}")
"""Name of an index that OpenSearch accepts, with room for a suffix."""

_EXAMPLE: Final = "write it as opensearch://HOST:9200/NAME, or opensearchs:// for TLS"


@dataclass(frozen=True)
class Address:
    """Address of an index.

    Attributes:
        path: the path that was given.
        host: the host of a node.
        port: its HTTP port.
        name: the name of the index; an alias on the cluster.
        is_tls: true to speak TLS.
    """

    path: Path
    host: str
    port: int
    name: str
    is_tls: bool

    @classmethod
    def of(cls, path: Path | str) -> "Address":
        """Return the address that a path means.

        Raises:
            IndexPathError: it is not the address of an index, or contains a password.
        """
        shown = ClusterPath(path)
        try:
            parts = urlsplit(str(shown))
            host, port = parts.hostname, parts.port
        except ValueError as error:
            raise IndexPathError(shown, f"it is not a valid address ({error})", _EXAMPLE) from error
        if parts.username is not None or parts.password is not None:
            # Not repeated: it would show the password.
            hidden = ClusterPath(f"{parts.scheme}://{host}{parts.path}")
            raise IndexPathError(
                hidden,
                "an address must not contain a user or password",
                f"put them into {OPENSEARCH_USER_VARIABLE} and {OPENSEARCH_PASSWORD_VARIABLE}",
            )
        name = unquote(parts.path.strip("/"))
        if not host or parts.query or parts.fragment or not _NAME.fullmatch(name):
            raise IndexPathError(
                shown,
                "it is not the address of an index, whose name has small letters, digits, and "
                "- _ . only",
                _EXAMPLE,
            )
        return cls(shown, host, port or DEFAULT_PORT, name, parts.scheme == "opensearchs")


@dataclass(frozen=True)
class Credentials:
    """What a cluster is shown of whoever asks.

    Attributes:
        user: the user and password; None without.
        token: a bearer token; None without.
        certificates: a file of certificates that sign the cluster's; None for the system's.
    """

    user: tuple[str, str] | None = None
    token: str | None = None
    certificates: str | None = None

    @classmethod
    def from_environment(cls) -> "Credentials":
        """Read the credentials from the environment.

        Raises:
            ConfigurationError: there is a user without a password, or a user and a token.
        """
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
