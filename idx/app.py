"""The command `idx` and its sub-commands.

Nothing heavy is imported here: a command imports Lucene, pdfplumber or rich when it runs, so
that ``--help``, ``--version`` and usage errors answer at once and start no Java.
"""

from collections.abc import Callable
from typing import Annotated, Final

import typer

from idx.commands import (
    add,
    backup,
    bulk,
    check,
    config,
    delete,
    doctor,
    eval_,
    failures,
    fields,
    folders,
    init,
    list_,
    mcp_config,
    optimize,
    purge,
    rebuild,
    repair,
    restore,
    search,
    show,
    stats,
    sync,
    terms,
    unlock,
    watch,
)
from idx.configured_command import ConfiguredCommand

COMMANDS: Final[dict[str, Callable[..., None]]] = {
    "init": init.init,
    "add": add.add,
    "bulk": bulk.bulk,
    "sync": sync.sync,
    "watch": watch.watch,
    "delete": delete.delete,
    "list": list_.list_documents,
    "show": show.show,
    "search": search.search,
    "terms": terms.terms,
    "fields": fields.fields,
    "stats": stats.stats,
    "failures": failures.failures,
    "check": check.check,
    "backup": backup.backup,
    "restore": restore.restore,
    "repair": repair.repair,
    "rebuild": rebuild.rebuild,
    "optimize": optimize.optimize,
    "purge": purge.purge,
    "unlock": unlock.unlock,
    "eval": eval_.evaluate,
    "mcp-config": mcp_config.mcp_config,
}
"""What works on an index, in the order of the help."""

app = typer.Typer(
    name="idx",
    help="Index documents for search by people and AI assistants.",
    epilog="Begin with: idx init, then: idx add PATH…",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for _name, _function in COMMANDS.items():
    app.command(_name, cls=ConfiguredCommand)(_function)
# Without the settings, which it goes on without if they are wrong.
app.command("doctor")(doctor.doctor)
app.add_typer(folders.folders, name="folders")
app.add_typer(config.config, name="config")


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
