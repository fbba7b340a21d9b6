"""Command `idx similar`."""

from typing import Annotated

import typer

from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath, Json
from idx.output.printing import print_json, say


def similar(
    chunk_id: Annotated[
        str, typer.Argument(metavar="ID", help="Id of a chunk, or of a document for its first one.")
    ],
    limit: Annotated[int, typer.Option(min=1, max=100, help="Maximum number of chunks.")] = 10,
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    as_json: Json = False,
) -> None:
    """Print the chunks that are most like another one.

    They are compared by meaning if search by meaning is on, else by their most telling words. A
    similarity above 0.9 by meaning is that of a near-duplicate.

    Example: idx similar lease.pdf-chunk-002
    """
    from shared.errors import ChunkNotFoundError
    from shared.model.chunks import chunk_id as id_of
    from shared.reading.searcher import Searcher

    with Searcher(index_path) as searcher:
        try:
            found = searcher.similar_chunks(chunk_id, limit=limit)
        except ChunkNotFoundError as error:
            try:
                found = searcher.similar_chunks(id_of(chunk_id, 1), limit=limit)
            except ChunkNotFoundError:
                raise error from None
    if as_json:
        print_json(found)
        return
    from idx.output.results import print_similar

    for rank, chunk in enumerate(found.results, start=1):
        print_similar(rank, chunk)
    say(f"Compared by {found.compared_by} with {found.chunk_id}.")
