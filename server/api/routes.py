"""The endpoints of the JSON API that answer as the tools do, and the description of all of it."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, FastAPI, Query
from starlette.responses import Response

from server.administration.results import OperationStatus
from server.api import established, files
from server.api.arguments import (
    ChunkArguments,
    DocumentArguments,
    ExplainArguments,
    PageArguments,
    SearchArguments,
    SimilarArguments,
    SuggestArguments,
    TermArguments,
)
from server.api.endpoint import PROBLEMS, Administrator, Encoded, Problem, State, answered, as_json
from shared.model import index_results, search_results
from shared.model.search_results import plain

OPENAPI_PATH: Final = "/api/openapi.json"

_searches: Final = APIRouter(prefix="/api", tags=["search"])
_documents: Final = APIRouter(prefix="/api", tags=["documents"])
_operations: Final = APIRouter(prefix="/api/operations", tags=["administration"])


@_searches.get("/search", response_model=search_results.SearchAnswer)
async def search(state: State, arguments: Annotated[SearchArguments, Query()]) -> Response:
    """Search: the matching chunks, best first, as the tool Search returns them."""
    return as_json(plain(await state.search(arguments.request())))


@_searches.get("/explain", response_model=search_results.QueryExplanation)
async def explain(state: State, arguments: Annotated[ExplainArguments, Query()]) -> Response:
    """Explain: how a query is understood, and why its results have their scores."""
    asked = arguments.request()
    return await answered(state, lambda searcher: searcher.explain(asked, detail=arguments.detail))


@_searches.get("/suggest", response_model=index_results.TermList)
async def suggest(state: State, arguments: Annotated[SuggestArguments, Query()]) -> Response:
    """Complete a word: the words of a field that begin with a prefix, the most frequent first."""
    return await answered(state, lambda searcher: searcher.suggest_terms(**dict(arguments)))


@_searches.get("/terms", response_model=index_results.TermList)
async def terms(state: State, arguments: Annotated[TermArguments, Query()]) -> Response:
    """List the most frequent words or values of a field."""
    return await answered(state, lambda searcher: searcher.top_terms(**dict(arguments)))


@_searches.get("/fields", response_model=index_results.FieldList)
async def fields(state: State) -> Response:
    """List the fields that can be searched, filtered, sorted by or counted."""
    return await answered(state, lambda searcher: searcher.fields())


@_searches.get("/statistics", response_model=index_results.IndexStatistics)
async def statistics(state: State) -> Response:
    """Describe the index: its size, languages, formats, folders and last change."""
    return await answered(state, lambda searcher: searcher.statistics())


@_documents.get("/documents", response_model=index_results.DocumentList)
async def documents(state: State, arguments: Annotated[DocumentArguments, Query()]) -> Response:
    """List the documents."""
    return await answered(state, lambda searcher: searcher.documents(**dict(arguments)))


@_documents.get("/documents/{document_id}", response_model=index_results.DocumentDetails)
async def document(state: State, document_id: Encoded) -> Response:
    """Describe a document: all its metadata, its file and its length."""
    return await answered(state, lambda searcher: searcher.document_details(document_id))


@_documents.get("/documents/{document_id}/chunks", response_model=search_results.DocumentChunks)
async def chunks(
    state: State, document_id: Encoded, arguments: Annotated[ChunkArguments, Query()]
) -> Response:
    """Read chunks of a document in order."""
    return await answered(
        state, lambda searcher: searcher.document_chunks(document_id, **dict(arguments))
    )


@_documents.get("/chunks/{chunk_id}/next", response_model=search_results.Neighbour)
async def next_chunk(state: State, chunk_id: Encoded) -> Response:
    """Read the chunk after another one."""
    return await answered(state, lambda searcher: searcher.next_chunk(chunk_id))


@_documents.get("/chunks/{chunk_id}/previous", response_model=search_results.Neighbour)
async def previous_chunk(state: State, chunk_id: Encoded) -> Response:
    """Read the chunk before another one."""
    return await answered(state, lambda searcher: searcher.previous_chunk(chunk_id))


@_documents.get("/chunks/{chunk_id}/similar", response_model=search_results.SimilarChunks)
async def similar_chunks(
    state: State, chunk_id: Encoded, arguments: Annotated[SimilarArguments, Query()]
) -> Response:
    """Find the chunks that are most like another one, by meaning or by words."""
    return await answered(
        state, lambda searcher: searcher.similar_chunks(chunk_id, limit=arguments.limit)
    )


@_documents.get("/failures", response_model=index_results.FailureList)
async def failures(state: State, arguments: Annotated[PageArguments, Query()]) -> Response:
    """List the files that are not, or only partly, in the index, and why."""
    return await answered(state, lambda searcher: searcher.failures(**dict(arguments)))


@_operations.get("/{operation_id}", response_model=OperationStatus)
async def operation_status(administration: Administrator, operation_id: str) -> Response:
    """Report the progress of a rebuild, a crawl or another operation, and its outcome."""
    return as_json(administration.operations.find(operation_id).status())


def add_api(app: FastAPI) -> None:
    for router in (established.router, _operations, _searches, _documents, files.router):
        app.include_router(router, responses=PROBLEMS)
    # Also for programs that know one address for all of the API.
    app.include_router(established.router, prefix="/api", responses=PROBLEMS)

    def description() -> dict[str, Any]:
        described = FastAPI.openapi(app)
        described["components"]["schemas"]["Problem"] = Problem.model_json_schema()
        return described

    app.openapi = description  # type: ignore[method-assign] # as FastAPI's documentation says
