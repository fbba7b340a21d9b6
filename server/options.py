"""The options of `mcp-lucene` for HTTP and administration, and checks of their combination."""

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Annotated, Final

import typer

from server.settings import LogLevel, ServerOptionError
from shared.settings.defaults import TOKENS_VARIABLE


def finite(value: float) -> float:
    """Return the value of an option if it is finite (callback).

    Raises:
        BadParameter: the value is infinite or NaN.
    """
    if not isfinite(value):
        raise typer.BadParameter(f"{value} is not finite")
    return value


_ADDRESS_PANEL: Final = "HTTP"

_ACCESS_PANEL: Final = "HTTP: access"

_LIMITS_PANEL: Final = "HTTP: limits"

_LOGS_PANEL: Final = "HTTP: logging"

Http = Annotated[
    bool,
    typer.Option(
        "--http",
        rich_help_panel=_ADDRESS_PANEL,
        help="Serve streamable HTTP at /mcp instead of stdio, with /healthz, /readyz and /metrics.",
    ),
]

Host = Annotated[
    str,
    typer.Option(
        rich_help_panel=_ADDRESS_PANEL,
        help="Host name or address to listen on; one that other machines can reach requires "
        "authentication.",
    ),
]

Port = Annotated[
    int,
    typer.Option(
        min=0,
        max=65_535,
        rich_help_panel=_ADDRESS_PANEL,
        help="Port to listen on; 0 selects a free one.",
    ),
]

UntilStdinEnds = Annotated[
    bool,
    typer.Option(
        "--until-stdin-ends",
        rich_help_panel=_ADDRESS_PANEL,
        help="Stop when stdin ends, as it does when the program that started the server ends.",
    ),
]

PublicUrl = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        rich_help_panel=_ADDRESS_PANEL,
        help="URL of /mcp for clients, if they connect through a proxy.",
    ),
]

TlsCertificate = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=_ADDRESS_PANEL,
        help="Serve HTTPS with this PEM certificate.",
    ),
]

TlsKey = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=_ADDRESS_PANEL,
        help="Private key, if it is not in the file of the certificate.",
    ),
]

AllowedHosts = Annotated[
    list[str],
    typer.Option(
        "--allowed-host",
        metavar="NAME[:PORT]",
        rich_help_panel=_ACCESS_PANEL,
        help="Additional name by which clients reach the server; repeatable.",
    ),
]

AllowedOrigins = Annotated[
    list[str],
    typer.Option(
        "--allowed-origin",
        metavar="ORIGIN",
        rich_help_panel=_ACCESS_PANEL,
        help="Origin whose web pages may connect, such as https://app.example.org; repeatable.",
    ),
]

TokenFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=_ACCESS_PANEL,
        help="File of bearer tokens, one NAME:SCOPES:TOKEN per line. Without it, those in the "
        f"variable {TOKENS_VARIABLE} hold.",
    ),
]

OAuthIssuer = Annotated[
    str | None,
    typer.Option(
        "--oauth-issuer",
        metavar="URL",
        rich_help_panel=_ACCESS_PANEL,
        help="Accept access tokens (JWTs) issued by this authorization server.",
    ),
]

OAuthAudience = Annotated[
    str | None,
    typer.Option(
        "--oauth-audience",
        metavar="TEXT",
        rich_help_panel=_ACCESS_PANEL,
        help="Required audience of access tokens; the URL of /mcp by default.",
    ),
]

OAuthJwksUrl = Annotated[
    str | None,
    typer.Option(
        "--oauth-jwks-url",
        metavar="URL",
        rich_help_panel=_ACCESS_PANEL,
        help="URL of the issuer's keys; the one in its metadata by default.",
    ),
]

Insecure = Annotated[
    bool,
    typer.Option(
        "--insecure",
        rich_help_panel=_ACCESS_PANEL,
        help="Allow access without authentication, even from other machines.",
    ),
]

MaxBody = Annotated[
    float,
    typer.Option(
        metavar="MB",
        min=0.001,
        max=1_000,
        callback=finite,
        rich_help_panel=_LIMITS_PANEL,
        help="Maximum size of a request; larger ones get status 413.",
    ),
]

MaxRequests = Annotated[
    int,
    typer.Option(
        min=1,
        rich_help_panel=_LIMITS_PANEL,
        help="Maximum number of concurrent requests; more get status 429.",
    ),
]

MaxSessions = Annotated[
    int,
    typer.Option(
        min=1,
        rich_help_panel=_LIMITS_PANEL,
        help="Maximum number of sessions; more get status 503.",
    ),
]

IdleTimeout = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        min=0.1,
        callback=finite,
        rich_help_panel=_LIMITS_PANEL,
        help="Time without requests after which a session ends.",
    ),
]

ReceiveTimeout = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        min=0.1,
        callback=finite,
        rich_help_panel=_LIMITS_PANEL,
        help="Maximum time for a client to send a request.",
    ),
]

JsonLogs = Annotated[
    bool,
    typer.Option(
        "--json-logs", rich_help_panel=_LOGS_PANEL, help="Log in JSON, one object per line."
    ),
]

Level = Annotated[
    LogLevel,
    typer.Option(
        "--log-level",
        rich_help_panel=_LOGS_PANEL,
        help="Minimum level of the log messages on stderr.",
    ),
]


def refuse_without_http(context: typer.Context) -> None:
    """Refuse options that have no effect over stdio.

    Raises:
        ServerOptionError: such an option was given.
    """
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        panel = getattr(parameter, "rich_help_panel", None) or ""
        given = source is not None and source.name == "COMMANDLINE"
        if given and panel.startswith(_ADDRESS_PANEL):
            raise ServerOptionError(f"{parameter.opts[0]} needs --http")


_ADMINISTRATION_PANEL: Final = "Administration"

Admin = Annotated[
    bool,
    typer.Option(
        "--admin",
        rich_help_panel=_ADMINISTRATION_PANEL,
        help="Offer tools that run idx: crawls, folders and maintenance of the index.",
    ),
]

Roots = Annotated[
    list[Path],
    typer.Option(
        "--root",
        metavar="PATH",
        readable=False,
        rich_help_panel=_ADMINISTRATION_PANEL,
        help="Allow crawls of folders under this one; repeatable.",
    ),
]


def check(*, admin: bool, roots: Sequence[Path]) -> None:
    """Check that both administration options are given, or neither.

    Raises:
        ServerOptionError: only one of them was given.
    """
    if admin and not roots:
        raise ServerOptionError(
            "--admin needs --root PATH: without a folder under which folders may be crawled, "
            "there is nothing to administer"
        )
    if roots and not admin:
        raise ServerOptionError("--root needs --admin")
