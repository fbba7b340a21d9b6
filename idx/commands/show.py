"""`idx show`."""

from typing import Annotated

import typer

from idx.options import DEFAULT_INDEX_PATH, IndexPath, Json
from idx.output import print_json
from shared.settings import MAX_COUNT


def show(
    document_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the document.")],
    chunk: Annotated[
        int | None,
        typer.Option(min=1, max=MAX_COUNT, metavar="N", help="Only the chunk with this number."),
    ] = None,
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    as_json: Json = False,
) -> None:
    """Print the chunks of a document as they are stored.

    Example: idx show lease --chunk 2
    """
    from idx.control_characters import visible, visible_line
    from idx.place import cited
    from shared.chunker import chunk_id
    from shared.errors import ChunkNotFoundError
    from shared.searcher import Searcher

    with Searcher(index_path) as searcher:
        answer = searcher.document_chunks(
            document_id, start_index=chunk or 1, count=1 if chunk else None
        )
    if chunk and not answer.chunks:
        raise ChunkNotFoundError(chunk_id(document_id, chunk))
    if as_json:
        print_json(answer)
        return
    for piece in answer.chunks:
        print(f"# {visible_line(piece.title)}  [{visible_line(piece.id)}]")
        if place := cited(piece):
            print(visible_line(place))
        print()
        print(f"{visible(piece.content)}\n")
