"""Command `idx` and its subcommands.

No heavy module is imported here: the module of a command is imported when the command runs, and
imports Lucene, pdfplumber or rich once its arguments are valid, so that ``--help``, ``--version``
and usage errors are fast and start no Java.
"""

from typing import Annotated, Final

import typer

from idx.cli.configured_command import command_group

COMMANDS: Final = {
    "init": ("maintenance:init", "Create an empty index; an existing one stays unchanged."),
    "add": ("add:add", "Add documents, replacing those with the same ids."),
    "bulk": (
        "add:bulk",
        "Add the documents in a JSON file: all of them, or none if the file is malformed.",
    ),
    "sync": (
        "sync:sync",
        (
            "Synchronize the index with folders: add new files, update changed ones, delete "
            "removed ones."
        ),
    ),
    "watch": (
        "sync:watch",
        "Keep the index synchronized with folders: run idx sync, then follow every change.",
    ),
    "delete": ("delete:delete", "Delete documents with all their chunks."),
    "list": ("browse:list_documents", "List the documents in the index."),
    "show": ("browse:show", "Print the stored chunks of a document, or its details."),
    "search": (
        "search:search",
        "Search the index, and print the best chunks with the matching words highlighted.",
    ),
    "similar": ("search:similar", "Print the chunks that are most like another one."),
    "duplicates": (
        "browse:duplicates",
        "List documents that are versions of the same text, the newest of each first.",
    ),
    "ask": (
        "ask:ask",
        "Answer a question from the documents with a language model, and check its citations.",
    ),
    "open": ("connect:open_page", "Open the search page of the index in the browser."),
    "terms": (
        "browse:terms",
        "List the words, or the values of a metadata field, that occur in the most chunks.",
    ),
    "fields": ("browse:fields", "List the fields for searches, filters, sort orders and facets."),
    "stats": ("browse:stats", "Show the size and state of the index."),
    "failures": (
        "browse:failures",
        "List the files that are missing, outdated or incomplete in the index, with the reasons.",
    ),
    "semantic": (
        "semantic:semantic",
        "Search by meaning as well as by words: switch it on or off, and embed texts.",
    ),
    "check": (
        "maintenance:check",
        "Check the index for damage: its files, segments and documents.",
    ),
    "backup": (
        "maintenance:backup",
        "Copy the last commit of the index, without blocking readers and writers.",
    ),
    "restore": ("maintenance:restore", "Replace the index with a backup, or create it from one."),
    "repair": (
        "maintenance:repair",
        "Save the readable part of a damaged index that has no backup.",
    ),
    "rebuild": (
        "maintenance:rebuild",
        "Rebuild the index from its stored text, without the original files.",
    ),
    "optimize": (
        "maintenance:optimize",
        "Merge the index into one segment, and free the space of deleted chunks.",
    ),
    "purge": ("maintenance:purge", "Delete all documents from the index."),
    "unlock": (
        "maintenance:unlock",
        "Remove a leftover lock file from the index, if no process holds the lock.",
    ),
    "eval": ("eval_:evaluate", "Measure the quality of search, using queries with known answers."),
    "mcp-config": (
        "connect:mcp_config",
        "Print a client's configuration for this server, or write it to the client's file.",
    ),
    "doctor": (
        "doctor:doctor",
        "Check the installation, the settings and the index, and say how to fix problems.",
    ),
    "folders": ("settings:folders", "Manage the folders that are indexed by default."),
    "collections": (
        "settings:collections",
        "Name parts of the index, to search them by name and to limit tokens to them.",
    ),
    "config": ("settings:config", "Show and change the settings."),
}
"""Commands in the order of the help: the place of each in `idx.commands`, and its summary."""

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
