"""What a server is told when it starts."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from shared.errors import McpLuceneError

DEFAULT_TIME_BUDGET: Final = 10.0
"""Seconds for a call."""

DEFAULT_HOST: Final = "127.0.0.1"
"""This machine only."""

DEFAULT_PORT: Final = 8000
"""The port that MCP's SDK uses, too."""

DEFAULT_MAX_BODY: Final = 4.0
"""Longest body of a request, in units of 10⁶ bytes."""

DEFAULT_MAX_REQUESTS: Final = 64
"""Requests that may run at once; at most eight threads answer them, the others wait."""

DEFAULT_MAX_SESSIONS: Final = 1_000
"""Sessions, and open streams, at once; each session takes about 40 kB."""

DEFAULT_IDLE_TIMEOUT: Final = 1_800.0
"""Seconds without a request after which a session ends."""

DEFAULT_RECEIVE_TIMEOUT: Final = 30.0
"""Seconds that a client may take to send a request, and to take an answer that waits for it."""

LogLevel = Literal["debug", "info", "warning", "error"]
"""What is logged: this and what is graver."""


@dataclass(frozen=True)
class ServerSettings:
    """The choices of whoever starts the server.

    Attributes:
        index_path: the index folder; it need not exist yet.
        tools: names or groups of the tools to offer; empty for all.
        exclude_tools: names or groups of tools not to offer after all.
        time_budget: seconds after which a call answers with what it has found, above 0.
        fence: whether texts of documents stand between tags, see `server.answers.fence`.
        admin: whether the tools of administration are offered.
        roots: folders under which they may have folders crawled.
    """

    index_path: Path
    tools: tuple[str, ...] = ()
    exclude_tools: tuple[str, ...] = ()
    time_budget: float = DEFAULT_TIME_BUDGET
    fence: bool = False
    admin: bool = False
    roots: tuple[Path, ...] = ()


@dataclass(frozen=True)
class HttpSettings:
    """The choices of whoever starts a server that is reached by HTTP.

    Attributes:
        host: name or address to listen on.
        port: port to listen on; 0 for one that is free.
        public_url: the URL of ``/mcp`` as clients know it; None for the one it listens on.
        allowed_hosts: further values of the header ``Host``, with or without a port.
        allowed_origins: web origins whose pages may call the server.
        token_file: file of bearer tokens.
        oauth_issuer: URL of the authorization server whose tokens are accepted.
        oauth_audience: what the tokens must be meant for; None for the public URL.
        oauth_jwks_url: where the issuer's keys are; None to ask the issuer's metadata.
        insecure: whether the server may be reached from elsewhere without authentication.
        tls_certificate: file of the certificate and its chain, in PEM.
        tls_key: file of its key; None if it is in the certificate's file.
        max_body: longest body of a request, in units of 10⁶ bytes.
        max_requests: requests that run at once.
        max_sessions: sessions of clients at once, and as many open streams.
        idle_timeout: seconds without a request after which a session ends.
        receive_timeout: seconds that a client may take to send a request.
        json_logs: whether each line of the log is JSON.
        log_level: what is logged.
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
    """The server cannot be started with an option as it was given."""
