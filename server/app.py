"""The command `mcp-lucene`: parses its arguments, and starts Java and the server in parallel."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from server import options
from server.options import finite
from server.settings import (
    DEFAULT_HOST,
    DEFAULT_IDLE_TIMEOUT,
    DEFAULT_MAX_BODY,
    DEFAULT_MAX_REQUESTS,
    DEFAULT_MAX_SESSIONS,
    DEFAULT_PORT,
    DEFAULT_RECEIVE_TIMEOUT,
    DEFAULT_TIME_BUDGET,
    HttpSettings,
    ServerOptionError,
    ServerSettings,
)
from shared.control_characters import visible_line
from shared.files.cluster_path import index_path as index_path_of
from shared.files.originals import Originals
from shared.model.filters import configured_collections
from shared.settings.current import configured, java_heap, original_folders
from shared.settings.defaults import DEFAULT_INDEX_PATH, INDEX_PATH_VARIABLE, VARIABLES
from shared.system import is_of_closed_pipe

if TYPE_CHECKING:
    from server.administration.service import Administration
    from server.search_server import SearchServer
    from shared.rewriting import ServedModel

app = typer.Typer(
    name="mcp-lucene",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _configured_index_path() -> Path:
    path: Path | None = configured("index_path")
    return path or DEFAULT_INDEX_PATH


def _normalizes() -> bool:
    return bool(configured("normalize"))


def _language_model() -> "ServedModel":
    """Return the configured language model, with a warning on stderr if it cannot be used.

    Raises:
        ConfigurationError: a setting is invalid.
    """
    from shared.errors import ExtraMissingError, LanguageModelError
    from shared.rewriting import configured_model
    from shared.settings.current import settings

    values = {setting.name: setting.value for setting in settings()}
    model = configured_model(
        values["normalizer_model"], values["normalizer_url"], values["normalizer_timeout"]
    )
    try:
        model.check()
    except (ExtraMissingError, LanguageModelError) as error:
        # Searches work without the model, and say so.
        typer.echo(f"Warning: {visible_line(str(error))}", err=True)
    return model


def _print_version(asked: bool) -> None:
    if asked:
        from shared.version import software_version

        typer.echo(f"mcp-lucene {software_version()}")
        raise typer.Exit


def _names(listed: str) -> tuple[str, ...]:
    """Return the comma-separated names of an option."""
    return tuple(name for part in listed.split(",") if (name := part.strip()))


def _wanted_tools(listed: str | None) -> tuple[str, ...]:
    """Return the tools to offer; empty for all, the default without the option.

    Raises:
        ServerOptionError: the option is empty, for example because of an unset script variable.
    """
    if listed is None:
        return ()
    names = _names(listed)
    if not names:
        raise ServerOptionError("--tools names no tool; name some, or omit the option to offer all")
    return names


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
            default_factory=_normalizes,
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
            callback=finite,
            help="Maximum time for a call; a search then returns its results so far.",
        ),
    ] = DEFAULT_TIME_BUDGET,
    fence: Annotated[
        bool,
        typer.Option("--fence", help="Put document texts between tags that no document can forge."),
    ] = False,
    admin: options.Admin = False,
    roots: options.Roots = [],  # noqa: B006 - typer copies it
    http: options.Http = False,
    host: options.Host = DEFAULT_HOST,
    port: options.Port = DEFAULT_PORT,
    until_stdin_ends: options.UntilStdinEnds = False,
    public_url: options.PublicUrl = None,
    tls_certificate: options.TlsCertificate = None,
    tls_key: options.TlsKey = None,
    allowed_hosts: options.AllowedHosts = [],  # noqa: B006
    allowed_origins: options.AllowedOrigins = [],  # noqa: B006
    token_file: options.TokenFile = None,
    oauth_issuer: options.OAuthIssuer = None,
    oauth_audience: options.OAuthAudience = None,
    oauth_jwks_url: options.OAuthJwksUrl = None,
    insecure: options.Insecure = False,
    max_body: options.MaxBody = DEFAULT_MAX_BODY,
    max_requests: options.MaxRequests = DEFAULT_MAX_REQUESTS,
    max_sessions: options.MaxSessions = DEFAULT_MAX_SESSIONS,
    idle_timeout: options.IdleTimeout = DEFAULT_IDLE_TIMEOUT,
    receive_timeout: options.ReceiveTimeout = DEFAULT_RECEIVE_TIMEOUT,
    json_logs: options.JsonLogs = False,
    log_level: options.Level = "info",
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
    options.check(admin=admin, roots=roots)
    # An invalid heap size is reported now, not by Java in the background while a client waits.
    java_heap()
    settings = ServerSettings(
        index_path,
        tools=_wanted_tools(tools),
        exclude_tools=_names(exclude_tools),
        time_budget=time_budget,
        fence=fence,
        admin=admin,
        roots=tuple(roots),
        collections=configured_collections(),
        originals=Originals.of(index_path, original_folders()),
    )
    language_model = _language_model() if normalize else None
    if not http:
        options.refuse_without_http(context)
        serve_stdio(_stdio_server(settings, language_model))
        return
    if until_stdin_ends:
        from server.pipes.stdin_end import end_with_stdin

        end_with_stdin()
    from server.http.serving import serve_http

    serve_http(
        settings,
        language_model,
        HttpSettings(
            host=host,
            port=port,
            public_url=public_url,
            allowed_hosts=tuple(allowed_hosts),
            allowed_origins=tuple(allowed_origins),
            token_file=token_file,
            oauth_issuer=oauth_issuer,
            oauth_audience=oauth_audience,
            oauth_jwks_url=oauth_jwks_url,
            insecure=insecure,
            tls_certificate=tls_certificate,
            tls_key=tls_key,
            max_body=max_body,
            max_requests=max_requests,
            max_sessions=max_sessions,
            idle_timeout=idle_timeout,
            receive_timeout=receive_timeout,
            json_logs=json_logs,
            log_level=log_level,
        ),
    )


def _stdio_server(settings: ServerSettings, language_model: "ServedModel | None") -> "SearchServer":
    from server.runtime.lucene_pool import LucenePool

    # Java starts in a pool thread while this thread imports the MCP SDK, which takes longer.
    pool = LucenePool(settings.index_path, settings.collections)
    from server.administration.service import Administration
    from server.runtime.state import ServerState
    from server.search_server import SearchServer

    administration = Administration.from_settings(settings)
    return SearchServer(ServerState(settings, pool, language_model, administration))


def serve_stdio(server: "SearchServer") -> None:
    """Serve one client over stdin and stdout, until it closes stdin.

    Raises:
        ServerOptionError: stdin or stdout is closed.
    """
    from server.pipes.stdio_log import log_to_client

    # Despite its type, a stream that was closed before the process started is None.
    if not all((sys.stdin, sys.stdout)):
        raise ServerOptionError(
            "stdin or stdout is closed, but clients need them to communicate; let a client start "
            "the server, or give --http"
        )
    log_to_client()
    administration = server.state.administration
    try:
        if administration is None:
            server.run("stdio")
        else:
            _run_until_signal(server, administration)
    except* OSError as failed:
        _, others = failed.split(_is_of_closed_pipe)
        if others:
            raise others from None


def _is_of_closed_pipe(error: BaseException) -> bool:
    return isinstance(error, OSError) and is_of_closed_pipe(error)


def _run_until_signal(server: "SearchServer", administration: "Administration") -> None:
    from functools import partial

    import anyio

    from server.administration.signals import serve_until_signal

    anyio.run(partial(serve_until_signal, server.run_stdio_async, administration.operations))
