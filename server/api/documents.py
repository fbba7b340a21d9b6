"""Endpoints for documents and their chunks."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from server.api.arguments import (
    ChunkArguments,
    DocumentArguments,
    PageArguments,
    SimilarArguments,
)
from server.api.reading import Encoded, State, answered
from shared.model.index_results import DocumentDetails, DocumentList, FailureList
from shared.model.search_results import DocumentChunks, Neighbour, SimilarChunks

router = APIRouter(prefix="/api", tags=["documents"])


@router.get("/documents", response_model=DocumentList)
async def documents(
    request: Request, state: State, arguments: Annotated[DocumentArguments, Query()]
) -> Response:
    """List the documents."""
    return await answered(request, state, lambda searcher: searcher.documents(**dict(arguments)))


@router.get("/documents/{document_id}", response_model=DocumentDetails)
async def document(request: Request, state: State, document_id: Encoded) -> Response:
    """Describe a document: all its metadata, its file and its length."""
    return await answered(request, state, lambda searcher: searcher.document_details(document_id))


@router.get("/documents/{document_id}/chunks", response_model=DocumentChunks)
async def chunks(
    request: Request,
    state: State,
    document_id: Encoded,
    arguments: Annotated[ChunkArguments, Query()],
) -> Response:
    """Read chunks of a document in order."""
    return await answered(
        request, state, lambda searcher: searcher.document_chunks(document_id, **dict(arguments))
    )


@router.get("/chunks/{chunk_id}/next", response_model=Neighbour)
async def next_chunk(request: Request, state: State, chunk_id: Encoded) -> Response:
    """Read the chunk after another one."""
    return await answered(request, state, lambda searcher: searcher.next_chunk(chunk_id))


@router.get("/chunks/{chunk_id}/previous", response_model=Neighbour)
async def previous_chunk(request: Request, state: State, chunk_id: Encoded) -> Response:
    """Read the chunk before another one."""
    return await answered(request, state, lambda searcher: searcher.previous_chunk(chunk_id))


@router.get("/chunks/{chunk_id}/similar", response_model=SimilarChunks)
async def similar_chunks(
    request: Request,
    state: State,
    chunk_id: Encoded,
    arguments: Annotated[SimilarArguments, Query()],
) -> Response:
    """Find the chunks that are most like another one, by meaning or by words."""
    return await answered(
        request, state, lambda searcher: searcher.similar_chunks(chunk_id, limit=arguments.limit)
    )


@router.get("/failures", response_model=FailureList)
async def failures(
    request: Request, state: State, arguments: Annotated[PageArguments, Query()]
) -> Response:
    """List the files that are not, or only partly, in the index, and why."""
    return await answered(
        request,
        state,
        lambda searcher: searcher.failures(**dict(arguments)),
        # They are not part of the commit.
        cacheable=False,
    )
