"""The picture of a page of an indexed PDF."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from server.answers.errors import PageNotShownError
from server.pictures.marks import words_on_page
from server.rendering.page import MAX_PIXELS, PageRequest
from server.resources.shares import current_holder
from server.runtime.state import FoundPage, Report, ServerState
from shared.model.search_results import Citation
from shared.ocr.cache import cache_of

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher

PDF: Final = "application/pdf"

CHANGED: Final = (
    "The file has changed since it was indexed, so that this page may differ from the text in the "
    "index."
)


@dataclass(frozen=True)
class PagePicture:
    """A page as a picture.

    Attributes:
        png: the picture in PNG.
        width: its width, in pixels.
        height: its height, in pixels.
        page: the number of the page, from 1.
        pages: the number of pages of the file.
        title: the title of the document.
        citation: the file and the page.
        has_text: true if the page has text, false for example for a scan.
        marked: the number of words and phrases that are marked.
        is_changed: true if the file has changed since it was indexed.
    """

    png: bytes
    width: int
    height: int
    page: int
    pages: int
    title: str
    citation: Citation
    has_text: bool
    marked: int
    is_changed: bool

    @property
    def notice(self) -> str | None:
        """Notice for the reader that the file has changed; None if it has not."""
        return CHANGED if self.is_changed else None


def _find(searcher: "Searcher", source_document: str, page: int, query: str) -> FoundPage:
    """Return the file of a document, and the words that a search marks on one of its pages."""
    file = searcher.document_file(source_document)
    if file is None or file.media_type != PDF or file.container:
        return file, ()
    return file, words_on_page(searcher, source_document, page, query)


async def page_picture(
    state: ServerState,
    source_document: str,
    page: int,
    query: str = "",
    *,
    words: Sequence[str] = (),
    max_pixels: int = MAX_PIXELS,
    report: Report | None = None,
) -> PagePicture:
    """Return the picture of a page of an indexed PDF.

    Args:
        state: the state of the server.
        source_document: the id of the document.
        page: the number of the page, from 1.
        query: a query; the words that a search marks in the passages of the page are marked.
        words: further words and phrases to mark, as they stand in the text.
        max_pixels: the maximum size of the picture, in pixels.
        report: receives the progress of a slow call.

    Raises:
        DocumentNotFoundError: there is no such document.
        PageNotShownError: it is not a PDF, its file cannot be read or rendered any more, or it has
            no such page.
        McpLuceneError: the query cannot be searched, or the server is busy; see `ServerState.ask`.
    """

    def find(searcher: "Searcher") -> FoundPage:
        # A commit without an identity is nobody's: what is found of it is not kept.
        commit = searcher.commit() or object()
        return state.found_pages.get(
            (commit, source_document, page, query),
            lambda: _find(searcher, source_document, page, query),
        )

    file, found = await state.ask(find, report=report)
    if file is None:
        raise PageNotShownError(
            source_document, "was not indexed from a file, so that it has no pages to show"
        )
    if file.media_type != PDF:
        raise PageNotShownError(
            source_document,
            f"is not a PDF but {file.media_type}, so that it has no pages to show; read its chunks",
        )
    if file.container:
        raise PageNotShownError(
            source_document,
            f"is within {file.container!r}, so that its pages cannot be shown; read its chunks",
        )
    marked = tuple(sorted({*found, *words}))
    readings = cache_of(state.settings.index_path)
    originals = state.settings.originals
    request = PageRequest(file.folder, file.path, originals, page, marked, max_pixels, readings)
    picture = await state.renderer.render(
        request, source_document, state.settings.time_budget, current_holder()
    )
    return PagePicture(
        png=picture.png,
        width=picture.width,
        height=picture.height,
        page=page,
        pages=picture.pages,
        title=file.title,
        citation=Citation(file_path=file.file_path, page_start=page, page_end=page),
        has_text=picture.has_text,
        marked=picture.marked,
        is_changed=picture.content_hash != file.content_hash,
    )
