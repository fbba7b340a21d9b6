"""The picture of a page of an indexed PDF, with the words that a search marks in its passages."""

import re
from typing import TYPE_CHECKING, Final

from mcp.server.auth.middleware.auth_context import get_access_token

from server.answers.errors import PageNotShownError
from server.pictures.worker import PageRequest, Picture
from server.state import Report, ServerState, holder_of
from shared.model.filters import Filter
from shared.model.request import SearchRequest
from shared.model.search_results import MARKS
from shared.ocr import cache_of

if TYPE_CHECKING:
    from shared.model.index_results import DocumentFile
    from shared.reading.searcher import Searcher

PDF: Final = "application/pdf"
PNG: Final = "image/png"

_MAX_CHUNKS: Final = 100  # of a page that are searched; one with more is hardly one to read

_MARKED: Final = re.compile("(.*?)".join(map(re.escape, MARKS)), re.DOTALL)


async def page_picture(
    state: ServerState,
    source_document: str,
    page: int,
    query: str = "",
    *,
    report: Report | None = None,
) -> "tuple[DocumentFile, Picture]":
    """Return an indexed PDF and the picture of a page of it; `report` is of a slow call.

    The file has changed since it was indexed if the hashes of the two differ.
    """

    def find(searcher: "Searcher") -> "tuple[DocumentFile, tuple[str, ...]]":
        file = searcher.document_file(source_document)
        if file is None:
            reason = "was not indexed from a file, so that it has no pages to show"
        elif file.media_type != PDF:
            reason = (
                f"is not a PDF but {file.media_type}, so that it has no pages to show; read its "
                "chunks"
            )
        elif file.container:
            reason = (
                f"is within {file.container!r}, so that its pages cannot be shown; read its chunks"
            )
        else:
            return file, _words_on_page(searcher, source_document, page, query)
        raise PageNotShownError(source_document, reason)

    file, words = await state.ask(find, report=report)
    readings = cache_of(state.settings.index_path)
    originals = state.settings.originals
    request = PageRequest(file.folder, file.path, originals, page, words, readings)
    picture = await state.renderer.render(
        request, source_document, state.settings.time_budget, holder_of(get_access_token())
    )
    return file, picture


def _words_on_page(
    searcher: "Searcher", source_document: str, page: int, query: str
) -> tuple[str, ...]:
    """Return the words and phrases that a search marks in the passages of a page."""
    chunks = searcher.chunks_of_page(source_document, page)
    if not query.strip() or not chunks:
        return ()
    request = SearchRequest(
        query,
        limit=_MAX_CHUNKS,
        filters=[
            Filter("source_document", value=source_document),
            Filter("chunk_index", "range", minimum=chunks[0], maximum=chunks[-1]),
        ],
        content="passages",
    )
    hits = searcher.search(request).results
    passages = [passage for hit in hits for passage in hit.passages or ()]
    return tuple(sorted({word for passage in passages for word in _MARKED.findall(passage)}))
