"""The command `idx` and its sub-commands.

Nothing heavy is imported here: a command imports Lucene, pdfplumber or rich when it runs, so
that ``--help``, ``--version`` and usage errors answer at once and start no Java.
"""

from typing import Annotated

import typer

from idx.commands import add, bulk, delete, init, list_, search, show, stats

app = typer.Typer(
    name="idx",
    help="Index documents for search by people and AI assistants.",
    epilog="Begin with: idx init, then: idx add PATH…",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("init")(init.init)
app.command("add")(add.add)
app.command("bulk")(bulk.bulk)
app.command("delete")(delete.delete)
app.command("list")(list_.list_documents)
app.command("show")(show.show)
app.command("search")(search.search)
app.command("stats")(stats.stats)


def _print_version(asked: bool) -> None:
    if asked:
        from shared.version import software_version

        typer.echo(f"idx {software_version()}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    pass
