"""Command `idx` and its subcommands.

No heavy module is imported here: the module of a command is imported when the command runs, and
imports Lucene, pdfplumber or rich once its arguments are valid, so that ``--help``, ``--version``
and usage errors are fast and start no Java.
"""

from functools import partial
from typing import Annotated, Final

import typer

from idx.cli.configured_command import ConfiguredCommand
from idx.cli.lazy_commands import CommandEntry, command_group

_configured = partial(CommandEntry, command_class=ConfiguredCommand)

COMMANDS: Final = {
    "init": _configured(
        "idx.commands.init:init", "Create an empty index; one that exists stays as it is."
    ),
    "add": _configured(
        "idx.commands.add:add", "Add documents; one with the same id as before replaces it."
    ),
    "bulk": _configured(
        "idx.commands.bulk:bulk",
        "Add the documents of a JSON file: all of them, or none if the file is broken.",
    ),
    "sync": _configured(
        "idx.commands.sync:sync",
        "Make the index equal to folders: add new files, update changed ones, delete vanished "
        "ones.",
    ),
    "watch": _configured(
        "idx.commands.watch:watch",
        "Keep the index equal to folders: idx sync, then every change as it happens.",
    ),
    "delete": _configured("idx.commands.delete:delete", "Remove documents with all their chunks."),
    "list": _configured(
        "idx.commands.list_:list_documents",
        "List the documents of the index.",
    ),
    "show": _configured(
        "idx.commands.show:show",
        "Print the chunks of a document as they are stored, or what is known of it.",
    ),
    "search": _configured(
        "idx.commands.search:search",
        "Search the index: ranked chunks, the passages that match with the words marked.",
    ),
    "terms": _configured(
        "idx.commands.terms:terms",
        "List the words, or the values of a metadata key, that most chunks have.",
    ),
    "fields": _configured(
        "idx.commands.fields:fields",
        "List the fields that can be searched, filtered, sorted by or counted.",
    ),
    "stats": _configured("idx.commands.stats:stats", "Show the size and the state of the index."),
    "failures": _configured(
        "idx.commands.failures:failures",
        "List the files that are not in the index, or only in an older version or in part, and "
        "why.",
    ),
    "check": _configured(
        "idx.commands.check:check",
        "Check that the index is sound: its files, its segments and its documents.",
    ),
    "backup": _configured(
        "idx.commands.backup:backup",
        "Copy the index as the last commit left it, while others read and write.",
    ),
    "restore": _configured(
        "idx.commands.restore:restore", "Put a backup in the place of the index, or where none is."
    ),
    "repair": _configured(
        "idx.commands.repair:repair",
        "Save what can be saved of a damaged index, if there is no backup of it.",
    ),
    "rebuild": _configured(
        "idx.commands.rebuild:rebuild",
        "Build the index anew from the text stored in it, without the files it came from.",
    ),
    "optimize": _configured(
        "idx.commands.optimize:optimize",
        "Merge the segments of the index into one, and remove deleted chunks from its files.",
    ),
    "purge": _configured(
        "idx.commands.purge:purge", "Remove all documents; the index is as idx init makes one."
    ),
    "unlock": _configured(
        "idx.commands.unlock:unlock",
        "Remove the lock file that a writer has left in the index, if no process holds it.",
    ),
    "eval": _configured(
        "idx.commands.eval_:evaluate",
        "Measure how good the search is, by queries whose answers are known.",
    ),
    "mcp-config": _configured(
        "idx.commands.mcp_config:mcp_config",
        "Print what a client's configuration needs for this server, or put it there.",
    ),
    # Without the settings, because it must continue if they are invalid.
    "doctor": CommandEntry(
        "idx.commands.doctor:doctor",
        "Look at everything that can be wrong, and say what to do about it.",
    ),
    "folders": CommandEntry(
        "idx.commands.folders:folders", "The folders that are indexed if none is named."
    ),
    "config": CommandEntry("idx.commands.config:config", "Show the settings, and change them."),
}
"""Commands in the order of the help."""

app = typer.Typer(
    name="idx",
    cls=command_group(COMMANDS),
    help="Index documents for search by people and AI assistants.",
    epilog="Begin with: idx sync FOLDER",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
