"""Tools for reading a document chunk by chunk."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from server.answers.budget import check_room, fit, shorten_chunk
from server.answers.errors import AnswerTooLongError
from server.answers.text import DEFAULT_CHARACTERS
from server.runtime.state import ToolContext, ask
from server.tools.arguments import ChunkId, DocumentId, MaxCharacters
from shared.model.search_results import DocumentChunks, Neighbour, SimilarChunks
from shared.settings.defaults import MAX_COUNT


async def get_next_chunk(
    context: ToolContext,
    chunk_id: ChunkId,
    max_characters: MaxCharacters = DEFAULT_CHARACTERS,
) -> Neighbour:
    """Read the chunk after the given one in the same document.

    Chunks overlap by 40 words. chunk is null after the last one; has_next says whether another
    chunk follows the returned one.
    """
    answer = await ask(context, lambda searcher: searcher.next_chunk(chunk_id))
    return _fitted(answer, max_characters)


async def get_previous_chunk(
    context: ToolContext,
    chunk_id: ChunkId,
    max_characters: MaxCharacters = DEFAULT_CHARACTERS,
) -> Neighbour:
    """Read the chunk before the given one in the same document.

    Chunks overlap by 40 words. chunk is null before the first one; has_previous says whether
    another chunk precedes the returned one.
    """
    answer = await ask(context, lambda searcher: searcher.previous_chunk(chunk_id))
    return _fitted(answer, max_characters)


async def get_document_chunks(
    context: ToolContext,
    source_document_id: DocumentId,
    start_index: Annotated[
        int, Field(ge=1, le=MAX_COUNT, description="Number of the first chunk, from 1.")
    ] = 1,
    count: Annotated[int, Field(ge=1, le=100, description="Maximum number of chunks.")] = 5,
    max_characters: MaxCharacters = DEFAULT_CHARACTERS,
) -> DocumentChunks:
    """Read several chunks of a document in order.

    Use this to read a whole document or a part of it. total_chunks is its length in chunks; to
    continue, increase start_index by count.
    """
    answer = await ask(
        context,
        lambda searcher: searcher.document_chunks(
            source_document_id, start_index=start_index, count=count
        ),
    )
    check_room(answer.source_document, max_characters)
    chunks, notice = fit(
        answer.chunks, max_characters, shorten_chunk, outside=answer.source_document
    )
    return replace(answer, chunks=chunks, notice=notice)


async def more_like(
    context: ToolContext,
    chunk_id: ChunkId,
    limit: Annotated[int, Field(ge=1, le=50, description="Maximum number of results.")] = 5,
    max_characters: MaxCharacters = DEFAULT_CHARACTERS,
) -> SimilarChunks:
    """Find the chunks that are most like a given one, most similar first.

    Use this to find more on the topic of a good result. compared_by is meaning if the index has
    vectors, else words; by meaning, a similarity above 0.9 is that of near-duplicates.
    """
    answer = await ask(context, lambda searcher: searcher.similar_chunks(chunk_id, limit=limit))
    results, notice = fit(answer.results, max_characters, shorten_chunk)
    return replace(answer, results=results, notice=notice)


def _fitted(answer: Neighbour, max_characters: int) -> Neighbour:
    if answer.chunk is None:
        return answer
    chunks, notice = fit([answer.chunk], max_characters, shorten_chunk)
    if not chunks:
        raise AnswerTooLongError(max_characters)
    return replace(answer, chunk=chunks[0], notice=notice)
