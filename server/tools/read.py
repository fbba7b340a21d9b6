"""Tools that read documents: their list, chunks, details, failures, and pages as pictures."""

from base64 import b64encode
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Final, NamedTuple

from mcp.types import CallToolResult, ImageContent
from pydantic import BaseModel, ConfigDict, Field

from server.answers.errors import AnswerTooLongError
from server.answers.text import (
    DEFAULT_CHARACTERS,
    brief,
    check_room,
    cut,
    fenced,
    fit,
    json_characters,
)
from server.pictures.page import PNG, page_picture
from server.state import ToolContext, ask
from server.tools import arguments
from shared.model.document import addition
from shared.model.index_results import DocumentDetails, DocumentList, FailureList
from shared.model.metadata import chunk_metadata
from shared.model.request import BY_ID
from shared.model.search_results import ChunkText, DocumentChunks, Neighbour, SimilarChunks
from shared.settings.defaults import MAX_COUNT


async def list_documents(
    context: ToolContext,
    offset: arguments.Offset = 0,
    limit: arguments.LongLimit = 100,
    prefix: Annotated[str, Field(description="Prefix of the ids.")] = "",
    collection: arguments.CollectionName = None,
    sort: arguments.DocumentSort = BY_ID,
    detail: Annotated[
        arguments.ListDetail, Field(description="full: all metadata, with sizes and hashes.")
    ] = "brief",
    max_characters: arguments.MaxCharacters = DEFAULT_CHARACTERS,
) -> DocumentList:
    """List the documents in the index with their titles and numbers of chunks.

    Use this to learn which documents exist, or their ids; to read one, use get_document_chunks.
    """
    answer = await ask(
        context,
        lambda searcher: searcher.documents(
            prefix=prefix, offset=offset, limit=limit, sort=sort, collection=collection
        ),
    )
    listed = answer.documents
    if detail == "brief":
        listed = [replace(summary, metadata=chunk_metadata(summary.metadata)) for summary in listed]
    documents, notice = fit(listed, max_characters)
    return replace(answer, documents=documents, notice=notice)


async def document_details(
    context: ToolContext,
    source_document_id: arguments.DocumentId,
    max_characters: arguments.MaxCharacters = DEFAULT_CHARACTERS,
) -> DocumentDetails:
    """Show all metadata of a document, with its file, language, length and first words.

    Use this to assess a document, or to learn its author, date and length; other results omit some
    of the metadata.
    """
    answer = await ask(context, lambda searcher: searcher.document_details(source_document_id))
    fitting, notice = fit([answer], max_characters)
    if not fitting:
        raise AnswerTooLongError(max_characters)
    return replace(fitting[0], notice=notice)


async def list_failures(
    context: ToolContext,
    offset: arguments.Offset = 0,
    limit: arguments.LongLimit = 100,
    max_characters: arguments.MaxCharacters = DEFAULT_CHARACTERS,
) -> FailureList:
    """List the files in the indexed folders that are not, or only partly, in the index, and why.

    Use this when Search does not find a file, or when the user asks whether everything is indexed.
    If a file became unreadable after it was indexed, its older version is still in the index.
    """
    answer = await ask(context, lambda searcher: searcher.failures(offset=offset, limit=limit))
    failures, notice = fit(answer.failures, max_characters)
    return replace(answer, failures=failures, notice=notice)


async def get_next_chunk(
    context: ToolContext,
    chunk_id: arguments.ChunkId,
    max_characters: arguments.MaxCharacters = DEFAULT_CHARACTERS,
) -> Neighbour:
    """Read the chunk after the given one in the same document.

    Chunks overlap by 40 words. chunk is null after the last one.
    """
    answer = await ask(context, lambda searcher: searcher.next_chunk(chunk_id))
    return _fitted(answer, max_characters)


async def get_previous_chunk(
    context: ToolContext,
    chunk_id: arguments.ChunkId,
    max_characters: arguments.MaxCharacters = DEFAULT_CHARACTERS,
) -> Neighbour:
    """Read the chunk before the given one in the same document.

    Chunks overlap by 40 words. chunk is null before the first one.
    """
    answer = await ask(context, lambda searcher: searcher.previous_chunk(chunk_id))
    return _fitted(answer, max_characters)


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid")

    source_document_id: arguments.DocumentId
    start_index: arguments.StartIndex = 1
    count: arguments.Limit = 5


async def get_document_chunks(
    context: ToolContext,
    source_document_id: arguments.DocumentId,
    start_index: arguments.StartIndex = 1,
    count: arguments.Limit = 5,
    more: Annotated[list[Part], Field(max_length=20, description="Further parts to read.")] = [],  # noqa: B006 - pydantic copies it
    max_characters: arguments.MaxCharacters = DEFAULT_CHARACTERS,
) -> DocumentChunks:
    """Read several chunks of a document in order, or parts of several documents.

    Use this to read a document, or places that Search found. total_chunks is its length in chunks;
    to continue, increase start_index by count.
    """
    first = Part(source_document_id=source_document_id, start_index=start_index, count=count)
    answers = await ask(
        context,
        lambda searcher: [
            searcher.document_chunks(
                part.source_document_id, start_index=part.start_index, count=part.count
            )
            for part in (first, *more)
        ],
    )
    names = [answer.source_document for answer in answers]
    check_room("".join(names), max_characters)
    fitting, notice = fit(
        [chunk for answer in answers for chunk in answer.chunks], max_characters, outside=names
    )
    kept = deque(fitting)
    parts = [
        replace(
            answer,
            # What was left out is missing from the chunks that are kept in their order.
            chunks=[kept.popleft() for chunk in answer.chunks if kept and kept[0].id == chunk.id],
        )
        for answer in answers
    ]
    return replace(parts[0], more=parts[1:] or None, notice=notice)


async def more_like(
    context: ToolContext,
    chunk_id: arguments.ChunkId,
    limit: Annotated[int, Field(ge=1, le=50, description="Maximum number of results.")] = 5,
    max_characters: arguments.MaxCharacters = DEFAULT_CHARACTERS,
) -> SimilarChunks:
    """Find the chunks that are most like a given one, most similar first.

    Use this to find more on the topic of a good result. compared_by is meaning if the index has
    vectors, else words; by meaning, near-duplicates are above 0.9.
    """
    answer = await ask(context, lambda searcher: searcher.similar_chunks(chunk_id, limit=limit))
    results, notice = fit(answer.results, max_characters)
    return replace(answer, results=results, notice=notice)


def _fitted(answer: Neighbour, max_characters: int) -> Neighbour:
    if answer.chunk is None:
        return answer
    chunks, notice = fit([answer.chunk], max_characters)
    if not chunks:
        raise AnswerTooLongError(max_characters)
    return replace(answer, chunk=chunks[0], notice=notice)


CHANGED: Final = (
    "The file has changed since it was indexed, so that this page may differ from the text in the "
    "index."
)


@dataclass(frozen=True, kw_only=True)
class ShownPage:
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
    source_document_id: arguments.DocumentId,
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
    file, picture = await page_picture(
        state, source_document_id, page, query, report=context.report_progress
    )
    shown = ShownPage(
        source_document=source_document_id,
        title=brief(file.title),
        file_path=file.file_path or "",
        page_start=page,
        pages=picture.pages,
        has_text=picture.has_text,
        marked=picture.marked,
        notice=CHANGED if picture.content_hash != file.content_hash else None,
    )
    image = ImageContent(type="image", data=b64encode(picture.png).decode(), mime_type=PNG)
    return CallToolResult(content=[image], structured_content=asdict(shown))


class Joined(NamedTuple):
    """The part of a text that fits, the number of its last chunk, and whether that chunk is cut."""

    text: str
    end: int
    is_cut: bool


def joined(chunks: Sequence[ChunkText], budget: int) -> Joined:
    """Join chunks as far as they fit; the first is cut if it does not fit by itself."""
    first, *others = chunks
    left = budget - json_characters(fenced(first.content))
    if left < 0:
        return Joined(cut(first.content, -left), first.chunk_index, is_cut=True)
    parts, last = [first.content], first
    for chunk in others:
        part = addition(chunk.content, *_characters(chunk), _characters(last)[1])
        left -= json_characters(part)
        if left < 0:
            break
        parts.append(part)
        last = chunk
    return Joined("".join(parts), last.chunk_index, is_cut=False)


def _characters(chunk: ChunkText) -> tuple[int, int]:
    """Return the offsets of a chunk in the text of its document, which every chunk has."""
    return chunk.char_start or 0, chunk.char_end or 0
