"""Settings chosen by the operator, and the scopes that a token may have."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, get_args
from urllib.parse import urlsplit

from shared.errors import McpLuceneError
from shared.files.originals import Originals

if TYPE_CHECKING:
    from shared.model.filters import Collection

Scope = Literal["read", "admin"]  # ``read`` is required for everything, ``admin`` for changes

SCOPES: Final[frozenset[Scope]] = frozenset(get_args(Scope))

COLLECTION_SCOPE: Final = "collection="  # limits a token to a collection; several allow several

Limit = frozenset[str] | None  # names of the collections that may be seen; None for the whole index


def limit_of(scopes: Iterable[str]) -> Limit:
    """Return the collections to which the scopes of a token limit it."""
    names = frozenset(
        scope.removeprefix(COLLECTION_SCOPE)
        for scope in scopes
        if scope.startswith(COLLECTION_SCOPE)
    )
    return names or None


LogLevel = Literal["debug", "info", "warning", "error"]

_NO_ORIGINALS: Final = Originals(None)


@dataclass(frozen=True)
class ServerSettings:
    index_path: Path
    tools: tuple[str, ...] = ()  # names of tools or groups; empty for all
    exclude_tools: tuple[str, ...] = ()
    time_budget: float = 10.0
    fence: bool = False
    admin: bool = False
    roots: tuple[Path, ...] = ()
    collections: tuple["Collection", ...] = ()
    originals: Originals = _NO_ORIGINALS  # the files that may be handed out


@dataclass(frozen=True)
class HttpSettings:
    """Settings of a server over HTTP, by the names of the options."""

    host: str = "127.0.0.1"
    port: int = 8000  # as of the MCP SDK
    public_url: str | None = None
    allowed_hosts: Sequence[str] = ()
    allowed_origins: Sequence[str] = ()
    token_file: Path | None = None
    oauth_issuer: str | None = None
    oauth_audience: str | None = None
    oauth_jwks_url: str | None = None
    insecure: bool = False
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    max_body: float = 4.0  # in units of 10⁶ bytes
    max_requests: int = 64  # at most eight threads answer them, others wait
    max_sessions: int = 1_000  # each takes about 40 kB
    idle_timeout: float = 1_800.0
    receive_timeout: float = 30.0
    json_logs: bool = False
    log_level: LogLevel = "info"


class ServerOptionError(McpLuceneError):
    """An option's value prevents the server from starting."""


def checked_url(url: str, option: str, *, trusted: bool = False) -> str:
    """Return the URL of an option after checking it; one that is trusted must be encrypted."""
    # It loads pydantic, which --help does not need.
    from shared.settings.types import is_loopback_name

    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.fragment or parts.username:
        raise ServerOptionError(
            f"{option}: {url[:200]!r} is not a URL such as https://example.org/x"
        )
    if trusted and parts.scheme == "http" and not is_loopback_name(parts.hostname or ""):
        raise ServerOptionError(
            f"{option}: {url[:200]} is not encrypted, so anyone on the way could forge its "
            "answers; use https"
        )
    return url
