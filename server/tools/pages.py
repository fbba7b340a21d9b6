"""The tool `show_page`."""

import base64
from dataclasses import asdict, dataclass
from typing import Annotated, Final

from mcp.types import CallToolResult, ImageContent
from pydantic import Field

from server.answers.text import brief
from server.pictures.page import page_picture
from server.state import ToolContext
from server.tools.arguments import DocumentId
from shared.settings.defaults import MAX_COUNT

CHANGED: Final = (
    "The file has changed since it was indexed, so that this page may differ from the text in the "
    "index."
)


@dataclass(frozen=True, kw_only=True)
class ShownPage:
    """The description of a picture of a page."""

    source_document: str
    title: str
    file_path: str
    page_start: int
    pages: int
    has_text: bool
    marked: int
    notice: str | None = None


async def show_page(
    context: ToolContext,
    source_document_id: DocumentId,
    page: Annotated[
        int, Field(ge=1, le=MAX_COUNT, description="Number of the page, such as page_start.")
    ],
    query: Annotated[str, Field(description="Query whose words are marked, as for Search.")] = "",
) -> Annotated[CallToolResult, ShownPage]:
    """Show a page of a PDF as a picture, with the words of a query marked.

    Use this for tables, figures, formulas and layout that the text of a chunk does not convey, and
    for scans: document_details lists pages_without_text. Cite file_path with page_start.
    """
    state = context.request_context.lifespan_context
    picture = await page_picture(
        state, source_document_id, page, query, report=context.report_progress
    )
    shown = ShownPage(
        source_document=source_document_id,
        title=brief(picture.title),
        file_path=picture.citation.file_path or "",
        page_start=page,
        pages=picture.pages,
        has_text=picture.has_text,
        marked=picture.marked,
        notice=CHANGED if picture.is_changed else None,
    )
    image = ImageContent(
        type="image", data=base64.b64encode(picture.png).decode(), mime_type="image/png"
    )
    return CallToolResult(content=[image], structured_content=asdict(shown))
