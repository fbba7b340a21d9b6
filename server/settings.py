"""Settings of the server, chosen by the operator at its start."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from shared.errors import McpLuceneError
from shared.files.originals import Originals

if TYPE_CHECKING:
    from shared.model.filters import Collection

DEFAULT_TIME_BUDGET: Final = 10.0
"""Default time budget of a call, in seconds."""

DEFAULT_HOST: Final = "127.0.0.1"
"""Default address to listen on: only this machine can reach it."""

DEFAULT_PORT: Final = 8000
"""Default port, also the default of the MCP SDK."""

DEFAULT_MAX_BODY: Final = 4.0
"""Default maximum size of a request's body, in units of 10⁶ bytes."""

DEFAULT_MAX_REQUESTS: Final = 64
"""Default maximum number of running requests; at most eight threads answer them, others wait."""

DEFAULT_MAX_SESSIONS: Final = 1_000
"""Default maximum number of sessions, and of open streams; each session takes about 40 kB."""

DEFAULT_IDLE_TIMEOUT: Final = 1_800.0
"""Default time without a request after which a session ends, in seconds."""

DEFAULT_RECEIVE_TIMEOUT: Final = 30.0
"""Default timeout for receiving a request, and for a client to read a response, in seconds."""

LogLevel = Literal["debug", "info", "warning", "error"]
"""Minimum level of logged events."""


_NO_ORIGINALS: Final = Originals(None)


@dataclass(frozen=True)
class ServerSettings:
    """Settings of every server.

    Attributes:
        index_path: the index folder; it need not exist yet.
        tools: names or groups of the tools to offer; empty for all.
        exclude_tools: names or groups of tools to leave out.
        time_budget: seconds after which a call returns its results so far, above 0.
        fence: whether document texts are put between tags, see `server.answers.fence`.
        admin: whether the administration tools are offered.
        roots: folders under which folders may be crawled.
        collections: the collections that searches can name and tokens can be limited to.
        originals: the files that may be handed out; by default none.
    """

    index_path: Path
    tools: tuple[str, ...] = ()
    exclude_tools: tuple[str, ...] = ()
    time_budget: float = DEFAULT_TIME_BUDGET
    fence: bool = False
    admin: bool = False
    roots: tuple[Path, ...] = ()
    collections: tuple["Collection", ...] = ()
    originals: Originals = _NO_ORIGINALS


@dataclass(frozen=True)
class HttpSettings:
    """Settings of an HTTP server.

    Attributes:
        host: name or address to listen on.
        port: port to listen on; 0 for a free one.
        public_url: the URL of ``/mcp`` as clients see it; None for the one that the server listens
            on.
        allowed_hosts: additional values of the header ``Host``, with or without a port.
        allowed_origins: web origins whose pages may call the server.
        token_file: file of bearer tokens.
        oauth_issuer: URL of the authorization server whose tokens are accepted.
        oauth_audience: required audience of the tokens; None for the public URL.
        oauth_jwks_url: URL of the issuer's key set; None to discover it from the issuer's metadata.
        insecure: whether other machines may reach the server without authentication.
        tls_certificate: file of the certificate and its chain, in PEM.
        tls_key: file of the certificate's key; None if it is in the certificate's file.
        max_body: maximum size of a request's body, in units of 10⁶ bytes.
        max_requests: maximum number of running requests.
        max_sessions: maximum number of client sessions, and of open streams.
        idle_timeout: seconds without a request after which a session ends.
        receive_timeout: timeout for receiving a request, and for a client to read a response, in
            seconds.
        json_logs: whether log lines are JSON.
        log_level: minimum level of logged events.
    """

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    public_url: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    token_file: Path | None = None
    oauth_issuer: str | None = None
    oauth_audience: str | None = None
    oauth_jwks_url: str | None = None
    insecure: bool = False
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    max_body: float = DEFAULT_MAX_BODY
    max_requests: int = DEFAULT_MAX_REQUESTS
    max_sessions: int = DEFAULT_MAX_SESSIONS
    idle_timeout: float = DEFAULT_IDLE_TIMEOUT
    receive_timeout: float = DEFAULT_RECEIVE_TIMEOUT
    json_logs: bool = False
    log_level: LogLevel = "info"


class ServerOptionError(McpLuceneError):
    """An option's value prevents the server from starting."""
