"""`idx list`."""

from typing import Annotated

import typer

from idx.options import DEFAULT_INDEX_PATH, IndexPath, Json
from idx.output import print_json, tell


def list_documents(
    prefix: Annotated[
        str, typer.Option(metavar="TEXT", help="Only documents whose id begins so.")
    ] = "",
    offset: Annotated[int, typer.Option(min=0, help="Documents to skip.")] = 0,
    limit: Annotated[int | None, typer.Option(min=1, help="Documents to show; else all.")] = None,
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    as_json: Json = False,
) -> None:
    """List the documents of the index in the order of their ids.

    Example: idx list --prefix contracts/
    """
    from shared.searcher import Searcher

    with Searcher(index_path) as searcher:
        answer = searcher.documents(prefix=prefix, offset=offset, limit=limit)
    if as_json:
        print_json(answer)
        return
    from idx.tables import print_table
    from shared.metadata import LANGUAGE

    print_table(
        ["Document", "Title", "Chunks", "Language", "File"],
        (
            (
                document.source_document,
                document.title,
                str(document.chunk_count),
                str(document.metadata.get(LANGUAGE, "")),
                document.file_path or "",
            )
            for document in answer.documents
        ),
    )
    tell(f"{answer.total_documents:,} documents, {answer.total_chunks:,} chunks")
