"""The tools `Search` and `explain_query`."""

from dataclasses import replace
from typing import Annotated, Final, Literal

from pydantic import Field, WithJsonSchema

from server.answers.budget import (
    brief_facets,
    brief_hits,
    brief_others,
    brief_passages,
    fit,
    fit_explanation,
)
from server.answers.text import DEFAULT_CHARACTERS, brief_query
from server.state import ToolContext, ask
from server.tools import arguments
from shared.model.filters import in_collection
from shared.model.request import BY_SCORE, Content, SearchRequest, group_for, versions_for
from shared.model.search_results import QueryExplanation, SearchAnswer

PARTIAL: Final = (
    "The search ran out of time: results are the best of those found so far, and totalHits "
    "counts only these. Search with fewer or more specific words."
)


ContentChoice = Literal["auto", Content]
"""Amount of text in a hit: chosen by its length, or as for the command line."""


async def search(
    context: ToolContext,
    query: Annotated[
        str,
        Field(
            description='Words, or Lucene syntax: "a phrase", +required -excluded, prefix*, typo~, '
            "title:word, author:name, filetype:pdf, folder:name, language:de. An empty query "
            "matches every chunk."
        ),
    ],
    limit: arguments.Limit = 10,
    offset: arguments.Offset = 0,
    filters: Annotated[
        arguments.Filters,
        Field(
            description="Conditions on metadata, source_document, id or chunk_index, such as "
            '{"field": "year", "operator": "range", "minimum": 2020}. in and not_in take a list as '
            "value; range minimum, maximum or both, as numbers or ISO 8601 dates; exists no value. "
            "version_of takes a source_document."
        ),
    ] = [],  # noqa: B006 - pydantic copies the default for each call
    collection: arguments.CollectionName = None,
    operator: arguments.Operator = "or",
    syntax: arguments.Syntax = "auto",
    content: Annotated[
        ContentChoice,
        Field(
            description="auto: the whole text if it is short, else passages; full: the whole text; "
            "passages: parts around the matches, each in <mark></mark>; none: no text."
        ),
    ] = "auto",
    sort: arguments.Sort = BY_SCORE,
    facets: arguments.Facets = [],  # noqa: B006 - pydantic copies the default for each call
    min_confidence: arguments.MinConfidence = 0.0,
    search: arguments.Meaning = "both",
    group: arguments.Group = "auto",
    versions: arguments.Versions = "auto",
    recency: arguments.Recency = None,
    max_characters: arguments.MaxCharacters = DEFAULT_CHARACTERS,
) -> SearchAnswer:
    """Search the user's documents and return the matching chunks, best first.

    Use this first for any question the documents may answer, with a few specific words in their
    language. If a chunk ends too early, continue with get_next_chunk; if content is null, read it
    with get_document_chunks; see a table or figure of a PDF with show_page. totalHits counts all
    matching chunks. confidence, from 0 to 1, is the likelihood that a result answers the query; if
    low_confidence is true, try other words, or say that the documents probably do not answer it.
    suggestion is a corrected query: search again with it, unless suggestion_applied is true. note
    says how a doubtful query was understood. matched is meaning for a result with none of the
    words. Cite file_path, or else source_document, with section, and page_start, slide_start,
    sheet_start or line_start.
    """
    grouped = group_for(group, content, sort)
    request = SearchRequest(
        query,
        limit=limit,
        offset=offset,
        filters=[*filters, *in_collection(collection)],
        operator=operator,
        syntax=syntax,
        content="both" if content == "auto" else content,
        sort=sort,
        facets=facets,
        min_confidence=min_confidence,
        search=search,
        recency=recency,
        group=grouped,
        versions=versions_for(versions, grouped, filters),
    )
    state = context.request_context.lifespan_context
    answer = await state.search(request, context.report_progress)
    shown = brief_query(query, max_characters)
    suggestion, rewritten, note = (
        text and brief_query(text, max_characters)
        for text in (answer.suggestion, answer.rewritten, answer.note)
    )
    counted, facets_cut = brief_facets(answer.facets, max_characters)
    hits = (
        brief_hits([brief_others(hit) for hit in answer.results])
        if content == "auto"
        else [brief_passages(hit) for hit in answer.results]
    )
    outside = [shown, suggestion, counted, rewritten, answer.diagnostics, note]
    results, cut = fit(hits, max_characters, outside=outside)
    notices = [PARTIAL if answer.partial else None, facets_cut, cut]
    return replace(
        answer,
        query=shown,
        suggestion=suggestion,
        rewritten=rewritten,
        note=note,
        results=results,
        facets=counted,
        notice=" ".join(filter(None, notices)) or None,
    )


_AS_IN_SEARCH: Final = WithJsonSchema(
    {"type": "array", "items": {"type": "object"}, "description": "As in Search."}
)


async def explain_query(
    context: ToolContext,
    query: Annotated[str, Field(description="The query, as for Search.")],
    detail: arguments.Detail = "parsed",
    limit: Annotated[int, Field(ge=1, le=20, description="Hits to explain.")] = 3,
    offset: arguments.Offset = 0,
    filters: Annotated[arguments.Filters, _AS_IN_SEARCH] = [],  # noqa: B006 - as above
    operator: Annotated[arguments.Operator, Field(description="As in Search.")] = "or",
    syntax: Annotated[arguments.Syntax, Field(description="As in Search.")] = "auto",
    search: Annotated[arguments.Meaning, Field(description="As in Search.")] = "both",
    recency: arguments.Recency = None,
    max_characters: arguments.MaxCharacters = DEFAULT_CHARACTERS,
) -> QueryExplanation:
    """Explain the results of a query, or why it has none.

    Use this when Search misses an expected result or ranks it low, to learn how the query was
    parsed, how many chunks contain each word, and what each adds to a score; then search again with
    other words. suggest_terms lists words of the index.
    """
    rewriting = await context.request_context.lifespan_context.rewriting(query, syntax)
    request = SearchRequest(
        query,
        limit=limit,
        offset=offset,
        filters=filters,
        operator=operator,
        syntax=syntax,
        rewritten=rewriting.rewritten,
        search=search,
        recency=recency,
    )
    answer = await ask(context, lambda searcher: searcher.explain(request, detail=detail))
    return fit_explanation(replace(answer, diagnostics=rewriting.diagnostics), max_characters)
