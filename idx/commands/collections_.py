"""Command `idx collections` and its subcommands."""

from pathlib import Path
from typing import Annotated

import typer

from idx.cli.completions import collections as known_collections
from idx.cli.options import DEFAULT_INDEX_PATH, Filters, IndexPath, Json
from idx.output.printing import print_json, say, tell
from shared.settings.current import configuration_file

collections = typer.Typer(
    help="Name parts of the index, to search them by name and to limit tokens to them.",
    no_args_is_help=True,
)

_SETTING = "collections"


@collections.command("list")
def list_collections(index_path: IndexPath = DEFAULT_INDEX_PATH, as_json: Json = False) -> None:
    """List the collections of the configuration, with the number of documents in each.

    Example: idx collections list --json
    """
    from idx.errors import message
    from shared.errors import IndexFolderError
    from shared.model.filters import as_collection, in_collection
    from shared.reading.searcher import Searcher
    from shared.settings.current import collection_settings

    found = collection_settings()
    counts: dict[str, int | None] = {}
    with Searcher(index_path, collections=map(as_collection, found)) as searcher:
        try:
            for name in (collection.name for collection in found):
                answer = searcher.search(
                    "", filters=in_collection(name), content="none", group="document", limit=1
                )
                counts[name] = answer.total_documents
        except IndexFolderError as error:
            say(f"The documents are not counted: {message(error)}")
    if as_json:
        print_json(
            [
                {
                    "name": collection.name,
                    "description": collection.description,
                    "folder": collection.folder and str(collection.folder),
                    "filters": collection.filters,
                    "documents": counts.get(collection.name),
                }
                for collection in found
            ]
        )
        return
    from idx.output.printing import print_table

    print_table(
        ["Collection", "Documents", "Folder", "Filters", "Description"],
        (
            (
                collection.name,
                f"{count:,}" if (count := counts.get(collection.name)) is not None else "-",
                str(collection.folder or ""),
                "  ".join(collection.filters),
                collection.description,
            )
            for collection in found
        ),
    )


@collections.command("add")
def add(
    name: Annotated[
        str, typer.Argument(help="Name: letters, digits, dots, hyphens and underscores.")
    ],
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            readable=False,
            help="Take the files of this folder and its subfolders.",
        ),
    ] = None,
    filters: Filters = None,
    description: Annotated[
        str, typer.Option(help="Sentence about the documents, for assistants.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Add a collection to the configuration file, or replace the one with the same name.

    It is a part of the index, which need not have any documents yet. Servers see it when they are
    started again.

    Examples: idx collections add contracts --folder ~/Documents/Contracts --description "Signed
    contracts since 2015"; idx collections add german --filter language=de
    """
    import os

    from idx.configuration.lists import add_collection
    from idx.configuration.values import warn_of_variable

    file = configuration_file()
    warn_of_variable(_SETTING, file)
    entry = {
        "name": name,
        "description": description,
        "folder": os.path.abspath(folder) if folder else None,  # noqa: PTH100 - resolves no links
        "filters": filters,
    }
    was_known = add_collection(file, entry)
    if as_json:
        print_json({"file": str(file), "name": name, "replaced": was_known})
    else:
        tell(f"{'Replaced' if was_known else 'Added'} the collection {name} in {file}")


@collections.command("remove")
def remove(
    name: Annotated[str, typer.Argument(autocompletion=known_collections, help="Name.")],
    as_json: Json = False,
) -> None:
    """Remove a collection from the configuration file; its documents stay in the index.

    Example: idx collections remove contracts
    """
    from idx.configuration.lists import remove_collection
    from idx.configuration.values import warn_of_variable

    file = configuration_file()
    warn_of_variable(_SETTING, file)
    if not remove_collection(file, name):
        say(f"Error: {file} has no collection {name}; see idx collections list")
        raise typer.Exit(1)
    if as_json:
        print_json({"file": str(file), "removed": name})
    else:
        tell(f"Removed the collection {name} from {file}")
