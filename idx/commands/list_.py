"""Command `idx list`."""

from typing import TYPE_CHECKING, Annotated

import typer

from idx.cli.options import DEFAULT_INDEX_PATH, CollectionName, IndexPath, Json, Plain
from idx.output.printing import check_one_form, print_json, tell
from shared.messages import quantity
from shared.model.request import BY_ID, DocumentSort

if TYPE_CHECKING:
    from shared.model.index_results import DocumentSummary


def list_documents(
    prefix: Annotated[
        str,
        typer.Option(metavar="TEXT", help="List only documents whose ids begin with this text."),
    ] = "",
    collection: CollectionName = None,
    offset: Annotated[int, typer.Option(min=0, help="Number of documents to skip.")] = 0,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of documents; all by default.")
    ] = None,
    sort: Annotated[
        DocumentSort,
        typer.Option(
            metavar="ORDER",
            help="Sort by source_document, modified, title or chunks; a minus, as in -modified, "
            "reverses the order.",
        ),
    ] = BY_ID,
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    plain: Plain = False,
    as_json: Json = False,
) -> None:
    """List the documents in the index.

    With --json, each document has all of its metadata, as in the result of the tool ListDocuments
    with detail=full.

    Examples: idx list --prefix contracts/ --sort -modified --limit 20; idx list --plain
    """
    check_one_form(as_json=as_json, plain=plain)
    from shared.model.filters import configured_collections
    from shared.reading.searcher import Searcher

    with Searcher(index_path, collections=configured_collections()) as searcher:
        answer = searcher.documents(
            prefix=prefix, offset=offset, limit=limit, sort=sort, collection=collection
        )
    if as_json:
        print_json(answer)
        return
    if plain:
        for document in answer.documents:
            tell(document.file_path or document.source_document)
        return
    from idx.output.printing import print_table, prose_for_stdout
    from shared.model.metadata import LANGUAGE

    print_table(
        ["Document", "Title", "Chunks", "Language", "File"],
        (
            (
                _id(document),
                prose_for_stdout(document.title),
                str(document.chunk_count),
                str(document.metadata.get(LANGUAGE, "")),
                document.file_path or "",
            )
            for document in answer.documents
        ),
    )
    documents = quantity(answer.total_documents, "document")
    tell(f"{documents}, {quantity(answer.total_chunks, 'chunk')}")


def _id(document: "DocumentSummary") -> str:
    """Return the id, unbroken if it is a path."""
    return document.source_document
