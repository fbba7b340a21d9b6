"""`idx delete`."""

from typing import Annotated

import typer

from idx.options import DEFAULT_INDEX_PATH, IndexPath, Json, Wait
from idx.output import print_json, say, tell
from shared.settings import DEFAULT_WAIT


def delete(
    ids: Annotated[
        list[str], typer.Argument(metavar="ID…", help="Ids of documents, see idx list.")
    ],
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    wait: Wait = DEFAULT_WAIT,
    as_json: Json = False,
) -> None:
    """Remove documents with all their chunks.

    Unknown ids are named; the exit code is 1 if none of the ids was there.

    Example: idx delete lease-2025 minutes-2019
    """
    from shared.index import Index

    deleted: dict[str, int] = {}
    unknown: list[str] = []
    with Index(index_path, wait=wait, program="command") as index:
        for document_id in dict.fromkeys(ids):
            count = index.delete(document_id)
            if count:
                deleted[document_id] = count
            else:
                unknown.append(document_id)
    if as_json:
        print_json({"deleted": deleted, "unknown": unknown})
    else:
        for document_id, count in deleted.items():
            tell(f"Deleted document '{document_id}' ({count} chunks)")
    for document_id in unknown:
        say(f"{'No' if deleted else 'Error: no'} document has the id '{document_id}'.")
    if not deleted:
        raise typer.Exit(1)
