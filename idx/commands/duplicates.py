"""Command `idx duplicates`."""

from typing import Annotated

import typer

from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath, Json
from idx.output.printing import Unbroken, print_json, say
from shared.messages import quantity


def duplicates(
    min_similarity: Annotated[
        float,
        typer.Option(
            min=0.05,
            max=1,
            help="Least share of sequences of four words in common with the newest version; 1 for "
            "equal texts only.",
        ),
    ] = 0.8,
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    as_json: Json = False,
) -> None:
    """List documents that are versions of the same text, the newest of each first.

    The texts of all documents are compared, whatever their names, types and formats.

    Example: idx duplicates --min-similarity 0.9
    """
    from idx.output.progress import shown
    from idx.output.tables import print_table
    from shared.maintenance.duplicates import duplicates as find

    found = find(index_path, min_similarity=min_similarity, progress=shown)
    if as_json:
        print_json(found)
        return
    rows = [
        (
            str(number),
            f"{version.similarity:.2f}" if place else "newest",
            (version.modified or "-")[:10],
            Unbroken(version.file_path or version.source_document),
        )
        for number, versions in enumerate(found.groups, start=1)
        for place, version in enumerate(versions)
    ]
    if rows:
        print_table(["text", "similarity", "modified", "document"], rows)
    documents = quantity(found.documents, "document")
    older = sum(len(versions) - 1 for versions in found.groups)
    say(
        f"{documents} compared; {quantity(len(found.groups), 'text')} in several versions, "
        f"{quantity(older, 'document')} beside the newest ones."
    )
