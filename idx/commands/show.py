"""Command `idx show`."""

from typing import TYPE_CHECKING, Annotated

import typer

from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath, Json
from idx.output.printing import print_json, prose_for_stdout, tell
from shared.errors import McpLuceneError
from shared.messages import quantity
from shared.settings.defaults import MAX_COUNT

if TYPE_CHECKING:
    from shared.model.document import Scalar
    from shared.model.index_results import DocumentDetails


class ChunkNumberError(McpLuceneError):
    """A document has fewer chunks than the requested number."""

    def __init__(self, document_id: str, number: int, chunks: int) -> None:
        super().__init__(
            f"there is no chunk {number} of {document_id[:200]!r}, which has "
            f"{quantity(chunks, 'chunk')}: give --chunk a number from 1 to {chunks}"
        )


def show(
    document: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="Id of a document, or the path of its file.",
        ),
    ],
    chunk: Annotated[
        int | None,
        typer.Option(
            min=1, max=MAX_COUNT, metavar="N", help="Print only the chunk with this number."
        ),
    ] = None,
    details: Annotated[
        bool, typer.Option("--details", help="Print the document's details instead of its text.")
    ] = False,
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    as_json: Json = False,
) -> None:
    """Print the stored chunks of a document, or its details.

    Examples: idx show lease --chunk 2, idx show ~/Documents/lease.pdf --details
    """
    if details and chunk:
        raise typer.BadParameter("give --chunk or --details, not both")
    from idx.cli.named_document import named_document
    from idx.output.results import cited
    from shared.reading.searcher import Searcher

    with Searcher(index_path) as searcher:
        document_id = named_document(searcher, document)
        if details:
            _print_details(searcher.document_details(document_id), as_json=as_json)
            return
        answer = searcher.document_chunks(
            document_id, start_index=chunk or 1, count=1 if chunk else None
        )
    if chunk and not answer.chunks:
        raise ChunkNumberError(document_id, chunk, answer.total_chunks)
    if as_json:
        print_json(answer)
        return
    for piece in answer.chunks:
        tell(f"# {prose_for_stdout(piece.title)}  [{piece.id}]")
        if place := cited(piece):
            tell(place)
        print(f"\n{prose_for_stdout(piece.content)}\n")


def _print_details(details: "DocumentDetails", *, as_json: bool) -> None:
    if as_json:
        print_json(details)
        return
    from idx.output.printing import print_table

    known = {
        "Document": details.source_document,
        "Title": details.title,
        "File": details.file_path,
        "Chunks": f"{details.chunk_count:,}",
        "Words": f"{details.words:,}",
        "Characters": None if details.characters is None else f"{details.characters:,}",
        **{key: _text(value) for key, value in details.metadata.items()},
    }
    print_table(
        ["", ""], [(name, text) for name, text in known.items() if text is not None], headings=False
    )
    print(f"\n{prose_for_stdout(details.preview)}")


def _text(value: "Scalar | list[Scalar]") -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
