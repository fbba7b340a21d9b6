"""The command `mcp-lucene`: its options, and the start of Java and the server in parallel."""

import sys
from dataclasses import fields
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from server.settings import HttpSettings, LogLevel, ServerOptionError, ServerSettings
from shared.files.index_folder import index_path as index_path_of
from shared.files.originals import Originals
from shared.messages import visible_line
from shared.model.filters import configured_collections
from shared.settings.current import configured, java_heap, original_folders
from shared.settings.defaults import (
    DEFAULT_INDEX_PATH,
    INDEX_PATH_VARIABLE,
    SHARE_VARIABLE,
    TOKENS_VARIABLE,
    VARIABLES,
)
from shared.system import is_of_closed_pipe

if TYPE_CHECKING:
    from server.search_server import SearchServer
    from shared.rewriting import ServedModel

app = typer.Typer(
    name="mcp-lucene",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_http_option = partial(typer.Option, rich_help_panel="HTTP")
_access_option = partial(typer.Option, rich_help_panel="HTTP: access")
_limits_option = partial(typer.Option, rich_help_panel="HTTP: limits")
_logs_option = partial(typer.Option, rich_help_panel="HTTP: logging")
_administration_option = partial(typer.Option, rich_help_panel="Administration")


def _configured_index_path() -> Path:
    path: Path | None = configured("index_path")
    return path or DEFAULT_INDEX_PATH


def _finite(value: float) -> float:
    if not isfinite(value):
        raise typer.BadParameter(f"{value} is not finite")
    return value


def _print_version(asked: bool) -> None:
    if asked:
        from shared.installation import software_version

        typer.echo(f"mcp-lucene {software_version()}")
        raise typer.Exit


@app.command()
def serve(
    context: typer.Context,
    index_path: Annotated[
        Path,
        typer.Argument(
            envvar=INDEX_PATH_VARIABLE,
            readable=False,
            default_factory=_configured_index_path,
            show_default=str(DEFAULT_INDEX_PATH),
            callback=index_path_of,
            help="Index folder, or opensearch://HOST:PORT/NAME; it need not exist yet.",
        ),
    ],
    normalize: Annotated[
        bool,
        typer.Option(
            "--normalize/--no-normalize",
            envvar=VARIABLES["normalize"],
            default_factory=lambda: bool(configured("normalize")),
            show_default="no-normalize",
            help="Have a language model rewrite queries in English, and search for both.",
        ),
    ],
    tools: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,…",
            help="Offer only these tools or groups of tools: search, browse, admin, connector.",
        ),
    ] = None,
    exclude_tools: Annotated[
        str, typer.Option(metavar="NAME,…", help="Do not offer these tools or groups.")
    ] = "",
    time_budget: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0.1,
            max=3600,
            callback=_finite,
            help="Maximum time for a call; a search then returns its results so far.",
        ),
    ] = ServerSettings.time_budget,
    fence: Annotated[
        bool,
        typer.Option("--fence", help="Put document texts between tags that no document can forge."),
    ] = False,
    share: Annotated[
        bool,
        typer.Option(
            "--share/--no-share",
            envvar=SHARE_VARIABLE,
            help="Leave the work to one process for all assistants that search the same index. Not "
            "with --http or --admin.",
        ),
    ] = True,
    daemon: Annotated[
        Path | None,
        typer.Option(hidden=True, help="Be that process, on this socket."),
    ] = None,
    admin: Annotated[
        bool,
        _administration_option(
            "--admin",
            help="Offer tools that run idx: crawls, folders and maintenance of the index.",
        ),
    ] = False,
    roots: Annotated[
        list[Path],
        _administration_option(
            "--root",
            metavar="PATH",
            readable=False,
            help="Allow crawls of folders under this one; repeatable.",
        ),
    ] = [],  # noqa: B006 - typer copies it
    http: Annotated[
        bool,
        _http_option(
            "--http",
            help="Serve streamable HTTP at /mcp instead of stdio, with /healthz, /readyz and "
            "/metrics.",
        ),
    ] = False,
    host: Annotated[
        str,
        _http_option(
            help="Host name or address to listen on; one that other machines can reach requires "
            "authentication."
        ),
    ] = HttpSettings.host,
    port: Annotated[
        int, _http_option(min=0, max=65_535, help="Port to listen on; 0 selects a free one.")
    ] = HttpSettings.port,
    until_stdin_ends: Annotated[
        bool,
        _http_option(
            "--until-stdin-ends",
            help="Stop when stdin ends, as it does when the program that started the server ends.",
        ),
    ] = False,
    public_url: Annotated[
        str | None,
        _http_option(
            metavar="URL", help="URL of /mcp for clients, if they connect through a proxy."
        ),
    ] = None,
    tls_certificate: Annotated[
        Path | None, _http_option(metavar="FILE", help="Serve HTTPS with this PEM certificate.")
    ] = None,
    tls_key: Annotated[
        Path | None,
        _http_option(
            metavar="FILE", help="Private key, if it is not in the file of the certificate."
        ),
    ] = None,
    allowed_hosts: Annotated[
        list[str],
        _access_option(
            "--allowed-host",
            metavar="NAME[:PORT]",
            help="Additional name by which clients reach the server; repeatable.",
        ),
    ] = [],  # noqa: B006
    allowed_origins: Annotated[
        list[str],
        _access_option(
            "--allowed-origin",
            metavar="ORIGIN",
            help="Origin whose web pages may connect, such as https://app.example.org; repeatable.",
        ),
    ] = [],  # noqa: B006
    token_file: Annotated[
        Path | None,
        _access_option(
            metavar="FILE",
            help="File of bearer tokens, one NAME:SCOPES:TOKEN per line. Without it, those in the "
            f"variable {TOKENS_VARIABLE} hold.",
        ),
    ] = None,
    oauth_issuer: Annotated[
        str | None,
        _access_option(
            metavar="URL", help="Accept access tokens (JWTs) issued by this authorization server."
        ),
    ] = None,
    oauth_audience: Annotated[
        str | None,
        _access_option(
            metavar="TEXT", help="Required audience of access tokens; the URL of /mcp by default."
        ),
    ] = None,
    oauth_jwks_url: Annotated[
        str | None,
        _access_option(
            metavar="URL", help="URL of the issuer's keys; the one in its metadata by default."
        ),
    ] = None,
    insecure: Annotated[
        bool,
        _access_option(
            "--insecure", help="Allow access without authentication, even from other machines."
        ),
    ] = False,
    max_body: Annotated[
        float,
        _limits_option(
            metavar="MB",
            min=0.001,
            max=1_000,
            callback=_finite,
            help="Maximum size of a request; larger ones get status 413.",
        ),
    ] = HttpSettings.max_body,
    max_requests: Annotated[
        int,
        _limits_option(min=1, help="Maximum number of concurrent requests; more get status 429."),
    ] = HttpSettings.max_requests,
    max_sessions: Annotated[
        int, _limits_option(min=1, help="Maximum number of sessions; more get status 503.")
    ] = HttpSettings.max_sessions,
    idle_timeout: Annotated[
        float,
        _limits_option(
            metavar="SECONDS",
            min=0.1,
            callback=_finite,
            help="Time without requests after which a session ends.",
        ),
    ] = HttpSettings.idle_timeout,
    receive_timeout: Annotated[
        float,
        _limits_option(
            metavar="SECONDS",
            min=0.1,
            callback=_finite,
            help="Maximum time for a client to send a request.",
        ),
    ] = HttpSettings.receive_timeout,
    json_logs: Annotated[
        bool, _logs_option("--json-logs", help="Log in JSON, one object per line.")
    ] = False,
    log_level: Annotated[
        LogLevel, _logs_option(help="Minimum level of the log messages on stderr.")
    ] = HttpSettings.log_level,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Serve an index to AI assistants over the Model Context Protocol, on stdin and stdout.

    The server only reads. It sees every commit of idx immediately, and an index that is created
    while it runs. An assistant starts the server itself; see the README for the configuration. With
    --http, it serves any number of assistants, on any machine. With --admin, assistants can run
    idx, which writes.
    """
    given = locals()
    of_http = HttpSettings(**{field.name: given[field.name] for field in fields(HttpSettings)})
    if admin and not roots:
        raise ServerOptionError(
            "--admin needs --root PATH: without a folder under which folders may be crawled, "
            "there is nothing to administer"
        )
    if roots and not admin:
        raise ServerOptionError("--root needs --admin")
    if not http:
        _refuse_options_of_http(context)
    # An invalid heap size is reported now, not by Java in the background while a client waits.
    java_heap()
    wanted = _names(tools or "")
    if tools is not None and not wanted:
        # For example because of a variable of a script that is not set.
        raise ServerOptionError("--tools names no tool; name some, or omit the option to offer all")
    settings = ServerSettings(
        index_path,
        tools=wanted,
        exclude_tools=_names(exclude_tools),
        time_budget=time_budget,
        fence=fence,
        admin=admin,
        roots=tuple(roots),
        collections=configured_collections(),
        originals=Originals.of(index_path, original_folders()),
    )
    if daemon:
        from server.daemon import listening, serve_daemon

        listener, key = listening(daemon)
        serve_daemon(_stdio_server(settings, normalize=normalize), listener, key, daemon)
        return
    if not http:
        serve_stdio(_stdio_server(settings, normalize=normalize))
        return
    from server.http.serving import end_with_stdin, serve_http

    if until_stdin_ends:
        end_with_stdin()
    serve_http(settings, _language_model() if normalize else None, of_http)


def _refuse_options_of_http(context: typer.Context) -> None:
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        panel = getattr(parameter, "rich_help_panel", None) or ""
        is_given = source is not None and source.name == "COMMANDLINE"
        if is_given and panel.startswith("HTTP"):
            raise ServerOptionError(f"{parameter.opts[0]} needs --http")


def _names(listed: str) -> tuple[str, ...]:
    return tuple(name for part in listed.split(",") if (name := part.strip()))


def _language_model() -> "ServedModel":
    """Return the configured language model, with a warning on stderr if it cannot be used."""
    from shared.errors import ExtraMissingError, LanguageModelError
    from shared.rewriting import ServedModel
    from shared.settings.current import settings

    values = {setting.name: setting.value for setting in settings()}
    model = ServedModel.configured(
        values["normalizer_model"], values["normalizer_url"], values["normalizer_timeout"]
    )
    try:
        model.check()
    except (ExtraMissingError, LanguageModelError) as error:
        # Searches work without the model, and say so.
        typer.echo(f"Warning: {visible_line(str(error))}", err=True)
    return model


def _stdio_server(settings: ServerSettings, *, normalize: bool) -> "SearchServer":
    from server.lucene_pool import LucenePool

    language_model = _language_model() if normalize else None
    # Java starts in a pool thread while this thread imports the MCP SDK, which takes longer.
    pool = LucenePool(settings.index_path, settings.collections)
    from server.administration.operations import Administration
    from server.search_server import SearchServer
    from server.state import ServerState

    administration = Administration.from_settings(settings)
    return SearchServer(ServerState(settings, pool, language_model, administration))


def serve_stdio(server: "SearchServer") -> None:
    """Serve one client over stdin and stdout, until it closes stdin."""
    from server.log import log_over_stdio

    # Despite its type, a stream that was closed before the process started is None.
    if not all((sys.stdin, sys.stdout)):
        raise ServerOptionError(
            "stdin or stdout is closed, but clients need them to communicate; let a client start "
            "the server, or give --http"
        )
    log_over_stdio()
    administration = server.state.administration
    try:
        if administration is None:
            server.run("stdio")
        else:
            from server.administration.operations import run_until_signal

            run_until_signal(server.run_stdio_async, administration.operations)
    except* OSError as failed:
        # Groups are passed to it, too.
        _, others = failed.split(lambda each: isinstance(each, OSError) and is_of_closed_pipe(each))
        if others:
            raise others from None
