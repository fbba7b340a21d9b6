"""The command `mcp-lucene`: reads its arguments, and starts Java and the server side by side."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from server.settings import DEFAULT_TIME_BUDGET, ServerSettings
from shared.settings import DEFAULT_INDEX_PATH, INDEX_PATH_VARIABLE, VARIABLES, configured

if TYPE_CHECKING:
    from shared.normalization.language_model import ServedModel

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
    """The language model of the settings; why one cannot be asked is told on stderr.

    Raises:
        ConfigurationError: a setting is wrong.
    """
    from shared.configuration import settings
    from shared.errors import ExtraMissingError, LanguageModelError
    from shared.normalization.language_model import configured_model

    values = {setting.name: setting.value for setting in settings()}
    model = configured_model(
        values["normalizer_model"], values["normalizer_url"], values["normalizer_timeout"]
    )
    try:
        model.check()
    except (ExtraMissingError, LanguageModelError) as error:
        # The searches go on without it, and say so.
        typer.echo(f"Warning: {error}", err=True)
    return model


def _print_version(asked: bool) -> None:
    if asked:
        from shared.version import software_version

        typer.echo(f"mcp-lucene {software_version()}")
        raise typer.Exit


def _names(listed: str) -> tuple[str, ...]:
    """What stands between the commas of an option."""
    return tuple(name for part in listed.split(",") if (name := part.strip()))


@app.command()
def serve(
    index_path: Annotated[
        Path,
        typer.Argument(
            envvar=INDEX_PATH_VARIABLE,
            readable=False,
            default_factory=_configured_index_path,
            show_default=str(DEFAULT_INDEX_PATH),
            help="Folder of the index; it need not exist yet.",
        ),
    ],
    normalize: Annotated[
        bool,
        typer.Option(
            "--normalize/--no-normalize",
            envvar=VARIABLES["normalize"],
            default_factory=_normalizes,
            show_default="no-normalize",
            help="Let a language model rewrite queries into English, and search both.",
        ),
    ],
    tools: Annotated[
        str,
        typer.Option(
            metavar="NAME,…",
            help="Offer only these tools, or groups of tools: search, browse.",
        ),
    ] = "",
    exclude_tools: Annotated[
        str, typer.Option(metavar="NAME,…", help="Do not offer these tools or groups.")
    ] = "",
    time_budget: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0.1,
            max=3600,
            help="Answer with what was found until then.",
        ),
    ] = DEFAULT_TIME_BUDGET,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Serve an index to AI assistants by the Model Context Protocol, on stdin and stdout.

    The server only reads. It sees every commit of idx at once, and an index that is created
    while it runs. An assistant starts it by itself; see the README for its configuration.
    """
    from server.lucene_pool import LucenePool

    settings = ServerSettings(index_path, _names(tools), _names(exclude_tools), time_budget)
    language_model = _language_model() if normalize else None
    # Java starts in a thread of the pool while this one imports the MCP SDK, which takes longer.
    pool = LucenePool(index_path)
    from server.application import SearchServer
    from server.state import ServerState

    server = SearchServer(ServerState(settings, pool, language_model))
    try:
        server.run("stdio")
    except* BrokenPipeError:
        # The client is gone: the session is over.
        raise typer.Exit from None
