"""Command `idx` and its subcommands.

No heavy module is imported here: the module of a command is imported when the command runs, and
imports Lucene, pdfplumber or rich once its arguments are valid, so that ``--help``, ``--version``
and usage errors are fast and start no Java.
"""

from functools import partial
from typing import Annotated, Final

import typer

from idx.cli.configured_command import CommandEntry, ConfiguredCommand, command_group

_configured = partial(CommandEntry, command_class=ConfiguredCommand)

COMMANDS: Final = {
    "init": _configured(
        "maintenance:init", "Create an empty index; an existing one stays unchanged."
    ),
    "add": _configured("add:add", "Add documents, replacing those with the same ids."),
    "bulk": _configured(
        "add:bulk",
        "Add the documents in a JSON file: all of them, or none if the file is malformed.",
    ),
    "sync": _configured(
        "sync:sync",
        "Synchronize the index with folders: add new files, update changed ones, delete removed "
        "ones.",
    ),
    "watch": _configured(
        "sync:watch",
        "Keep the index synchronized with folders: run idx sync, then follow every change.",
    ),
    "delete": _configured("delete:delete", "Delete documents with all their chunks."),
    "list": _configured("browse:list_documents", "List the documents in the index."),
    "show": _configured("browse:show", "Print the stored chunks of a document, or its details."),
    "search": _configured(
        "search:search",
        "Search the index, and print the best chunks with the matching words highlighted.",
    ),
    "similar": _configured("search:similar", "Print the chunks that are most like another one."),
    "duplicates": _configured(
        "browse:duplicates",
        "List documents that are versions of the same text, the newest of each first.",
    ),
    "ask": _configured(
        "ask:ask",
        "Answer a question from the documents with a language model, and check its citations.",
    ),
    "open": _configured("connect:open_page", "Open the search page of the index in the browser."),
    "terms": _configured(
        "browse:terms",
        "List the words, or the values of a metadata field, that occur in the most chunks.",
    ),
    "fields": _configured(
        "browse:fields", "List the fields for searches, filters, sort orders and facets."
    ),
    "stats": _configured("browse:stats", "Show the size and state of the index."),
    "failures": _configured(
        "browse:failures",
        "List the files that are missing, outdated or incomplete in the index, with the reasons.",
    ),
    "semantic": CommandEntry(
        "semantic:semantic",
        "Search by meaning as well as by words: switch it on or off, and embed texts.",
    ),
    "check": _configured(
        "maintenance:check", "Check the index for damage: its files, segments and documents."
    ),
    "backup": _configured(
        "maintenance:backup",
        "Copy the last commit of the index, without blocking readers and writers.",
    ),
    "restore": _configured(
        "maintenance:restore", "Replace the index with a backup, or create it from one."
    ),
    "repair": _configured(
        "maintenance:repair", "Save the readable part of a damaged index that has no backup."
    ),
    "rebuild": _configured(
        "maintenance:rebuild", "Rebuild the index from its stored text, without the original files."
    ),
    "optimize": _configured(
        "maintenance:optimize",
        "Merge the index into one segment, and free the space of deleted chunks.",
    ),
    "purge": _configured("maintenance:purge", "Delete all documents from the index."),
    "unlock": _configured(
        "maintenance:unlock",
        "Remove a leftover lock file from the index, if no process holds the lock.",
    ),
    "eval": _configured(
        "eval_:evaluate", "Measure the quality of search, using queries with known answers."
    ),
    "mcp-config": _configured(
        "connect:mcp_config",
        "Print a client's configuration for this server, or write it to the client's file.",
    ),
    # Without the settings, because it must continue if they are invalid.
    "doctor": CommandEntry(
        "doctor:doctor",
        "Check the installation, the settings and the index, and say how to fix problems.",
    ),
    "folders": CommandEntry("settings:folders", "Manage the folders that are indexed by default."),
    "collections": CommandEntry(
        "settings:collections",
        "Name parts of the index, to search them by name and to limit tokens to them.",
    ),
    "config": CommandEntry("settings:config", "Show and change the settings."),
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
        from shared.installation import software_version

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
