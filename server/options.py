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

_ACCESS_PANEL: Final = "HTTP: who may ask"

_LIMITS_PANEL: Final = "HTTP: limits"

_LOGS_PANEL: Final = "HTTP: logs"

Http = Annotated[
    bool,
    typer.Option(
        "--http",
        rich_help_panel=_ADDRESS_PANEL,
        help="Serve streamable HTTP at /mcp instead, with /healthz, /readyz and /metrics.",
    ),
]

Host = Annotated[
    str,
    typer.Option(
        rich_help_panel=_ADDRESS_PANEL,
        help="Name or address to listen on; one that other machines reach needs authentication.",
    ),
]

Port = Annotated[
    int,
    typer.Option(
        min=0,
        max=65_535,
        rich_help_panel=_ADDRESS_PANEL,
        help="Port to listen on; 0 takes a free one.",
    ),
]

PublicUrl = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        rich_help_panel=_ADDRESS_PANEL,
        help="URL of /mcp as clients know it, if a proxy stands between.",
    ),
]

TlsCertificate = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=_ADDRESS_PANEL,
        help="Serve HTTPS with this certificate, in PEM.",
    ),
]

TlsKey = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=_ADDRESS_PANEL,
        help="Key of the certificate, if it is in another file.",
    ),
]

AllowedHosts = Annotated[
    list[str],
    typer.Option(
        "--allowed-host",
        metavar="NAME[:PORT]",
        rich_help_panel=_ACCESS_PANEL,
        help="Another name by which clients reach the server; can be repeated.",
    ),
]

AllowedOrigins = Annotated[
    list[str],
    typer.Option(
        "--allowed-origin",
        metavar="ORIGIN",
        rich_help_panel=_ACCESS_PANEL,
        help="Web pages of this origin may ask, such as https://app.example.org; can be repeated.",
    ),
]

TokenFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=_ACCESS_PANEL,
        help="Bearer tokens, a line NAME:SCOPES:TOKEN each; the variable "
        f"{TOKENS_VARIABLE} holds such lines, too.",
    ),
]

OAuthIssuer = Annotated[
    str | None,
    typer.Option(
        "--oauth-issuer",
        metavar="URL",
        rich_help_panel=_ACCESS_PANEL,
        help="Accept access tokens (JWTs) of this authorization server.",
    ),
]

OAuthAudience = Annotated[
    str | None,
    typer.Option(
        "--oauth-audience",
        metavar="TEXT",
        rich_help_panel=_ACCESS_PANEL,
        help="What the access tokens must be meant for; else it is the URL of /mcp.",
    ),
]

OAuthJwksUrl = Annotated[
    str | None,
    typer.Option(
        "--oauth-jwks-url",
        metavar="URL",
        rich_help_panel=_ACCESS_PANEL,
        help="URL of the issuer's keys, if not the one in its metadata.",
    ),
]

Insecure = Annotated[
    bool,
    typer.Option(
        "--insecure",
        rich_help_panel=_ACCESS_PANEL,
        help="Let everyone who reaches the server search, also from other machines.",
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
        help="Longest request; more is answered with 413.",
    ),
]

MaxRequests = Annotated[
    int,
    typer.Option(
        min=1,
        rich_help_panel=_LIMITS_PANEL,
        help="Requests that run at once; more are answered with 429.",
    ),
]

MaxSessions = Annotated[
    int,
    typer.Option(
        min=1,
        rich_help_panel=_LIMITS_PANEL,
        help="Sessions at once; another one is answered with 503.",
    ),
]

IdleTimeout = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        min=0.1,
        callback=finite,
        rich_help_panel=_LIMITS_PANEL,
        help="Time without a request after which a session ends.",
    ),
]

ReceiveTimeout = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        min=0.1,
        callback=finite,
        rich_help_panel=_LIMITS_PANEL,
        help="Time that a client may take to send a request.",
    ),
]

JsonLogs = Annotated[
    bool, typer.Option("--json-logs", rich_help_panel=_LOGS_PANEL, help="Log lines of JSON.")
]

Level = Annotated[
    LogLevel,
    typer.Option("--log-level", rich_help_panel=_LOGS_PANEL, help="What is logged on stderr."),
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
        help="Offer the tools that run idx: crawls, folders, upkeep of the index.",
    ),
]

Roots = Annotated[
    list[Path],
    typer.Option(
        "--root",
        metavar="PATH",
        readable=False,
        rich_help_panel=_ADMINISTRATION_PANEL,
        help="Folders may be crawled that lie under this one; can be repeated.",
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
