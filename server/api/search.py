"""Endpoints for searches, and for the words and fields to search."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from server.api.arguments import (
    ExplainArguments,
    SearchArguments,
    SuggestArguments,
    TermArguments,
)
from server.api.reading import State, answered
from shared.model.index_results import FieldList, IndexStatistics, TermList
from shared.model.request import group_for, versions_for
from shared.model.search_results import QueryExplanation, SearchAnswer

router = APIRouter(prefix="/api", tags=["search"])


@router.get("/search", response_model=SearchAnswer)
async def search(
    request: Request, state: State, arguments: Annotated[SearchArguments, Query()]
) -> Response:
    """Search: the matching chunks, best first, as the tool Search returns them."""
    rewriting = await state.rewriting(arguments.query, arguments.syntax)
    plain = arguments.request()
    group = group_for(arguments.group, arguments.content, arguments.sort)
    asked = replace(
        plain,
        content=arguments.content,
        sort=arguments.sort,
        facets=arguments.facets,
        min_confidence=arguments.min_confidence,
        rewritten=rewriting.rewritten,
        group=group,
        versions=versions_for(arguments.versions, group, plain.filters),
    )
    return await answered(
        request,
        state,
        lambda searcher: replace(searcher.search(asked), diagnostics=rewriting.diagnostics),
        partial=True,
        # A language model may rewrite the same query in another way.
        cacheable=state.language_model is None,
    )


@router.get("/explain", response_model=QueryExplanation)
async def explain(
    request: Request, state: State, arguments: Annotated[ExplainArguments, Query()]
) -> Response:
    """Explain: how a query is understood, and why its results have their scores."""
    asked = arguments.request()
    return await answered(
        request, state, lambda searcher: searcher.explain(asked, detail=arguments.detail)
    )


@router.get("/suggest", response_model=TermList)
async def suggest(
    request: Request, state: State, arguments: Annotated[SuggestArguments, Query()]
) -> Response:
    """Complete a word: the words of a field that begin with a prefix, the most frequent first."""
    return await answered(
        request, state, lambda searcher: searcher.suggest_terms(**dict(arguments))
    )


@router.get("/terms", response_model=TermList)
async def terms(
    request: Request, state: State, arguments: Annotated[TermArguments, Query()]
) -> Response:
    """List the most frequent words or values of a field."""
    return await answered(request, state, lambda searcher: searcher.top_terms(**dict(arguments)))


@router.get("/fields", response_model=FieldList)
async def fields(request: Request, state: State) -> Response:
    """List the fields that can be searched, filtered, sorted by or counted."""
    return await answered(request, state, lambda searcher: searcher.fields())


@router.get("/statistics", response_model=IndexStatistics)
async def statistics(request: Request, state: State) -> Response:
    """Describe the index: its size, languages, formats, folders and last change."""
    return await answered(request, state, lambda searcher: searcher.statistics(), cacheable=False)
