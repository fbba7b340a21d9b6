"""The tool `Search`."""

from dataclasses import replace
from typing import Annotated, Final, Literal

from pydantic import Field

from server.answers.budget import (
    brief_facets,
    brief_hits,
    brief_others,
    brief_passages,
    fit,
    shorten_hit,
)
from server.answers.text import DEFAULT_CHARACTERS, brief_query
from server.runtime.state import ToolContext, ask
from server.tools.arguments import CollectionName, Filters, MaxCharacters, Offset, Recency
from shared.model.filters import in_collection
from shared.model.request import (
    BY_SCORE,
    Content,
    GroupChoice,
    Operator,
    SearchRequest,
    Syntax,
    VersionsChoice,
    group_for,
    versions_for,
)
from shared.model.search_results import SearchAnswer

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
            description='Words to look for, or Lucene\'s query syntax: "a phrase", +required '
            "-excluded, prefix*, typo~, title:word, author:name, filetype:pdf, folder:name, "
            "language:de. An empty query matches every chunk."
        ),
    ],
    limit: Annotated[int, Field(ge=1, le=100, description="Maximum number of results.")] = 10,
    offset: Offset = 0,
    filters: Annotated[
        Filters,
        Field(
            description="Conditions on metadata, source_document, id or chunk_index that every "
            'result must meet, such as {"field": "year", "operator": "range", "minimum": '
            "2020}. in and not_in take a list as value; range takes minimum, maximum or "
            "both, as numbers or ISO 8601 dates; exists takes no value. version_of takes a "
            "source_document."
        ),
    ] = [],  # noqa: B006 - pydantic copies the default for each call
    collection: CollectionName = None,
    operator: Annotated[
        Operator, Field(description="or: any of the words; and: all of the words.")
    ] = "or",
    syntax: Annotated[
        Syntax,
        Field(
            description="auto: syntax only where clearly intended; plain: all characters are "
            "text; lucene: strictly Lucene's syntax."
        ),
    ] = "auto",
    content: Annotated[
        ContentChoice,
        Field(
            description="auto: the whole text if it is short, else passages; full: the whole text; "
            "passages: the parts around the matches, each match in <mark></mark>; none: no text."
        ),
    ] = "auto",
    sort: Annotated[
        str,
        Field(
            description="score (best first), source_document, chunk_index or a metadata field "
            "such as modified; a leading minus puts the greatest or newest first."
        ),
    ] = BY_SCORE,
    facets: Annotated[
        list[str],
        Field(
            max_length=10,
            description="Metadata fields, such as language or author, whose values are counted "
            "among all matches.",
        ),
    ] = [],  # noqa: B006 - pydantic copies the default for each call
    min_confidence: Annotated[
        float,
        Field(ge=0, le=1, description="Omit results with a lower confidence."),
    ] = 0.0,
    search: Annotated[
        Literal["both", "words"],
        Field(
            description="both: rank by words and, if the index has vectors, meaning; words: by "
            "words only."
        ),
    ] = "both",
    group: Annotated[
        GroupChoice,
        Field(
            description="document: each result is a document with its best chunk and up to two "
            "others; none: a chunk; auto: document with content=passages or sorted by modified."
        ),
    ] = "auto",
    versions: Annotated[
        VersionsChoice,
        Field(
            description="newest: of versions of a text only the newest; auto: newest with "
            "group=document."
        ),
    ] = "auto",
    recency: Recency = None,
    max_characters: MaxCharacters = DEFAULT_CHARACTERS,
) -> SearchAnswer:
    """Search the user's documents and return the matching chunks, best first.

    Use this first for any question the documents may answer, with a few specific words in their
    language. If a chunk ends too early, continue with get_next_chunk; if content
    is null, read the whole chunk with get_document_chunks. For a table or a figure of a PDF, see
    its page with show_page. totalHits is the number of all matching chunks. confidence, from 0 to
    1, is the likelihood that a result answers the query; if low_confidence is true, try other
    words, or say that the documents probably do not answer it. suggestion is a corrected query;
    unless suggestion_applied is true, search again with it. note says how the query was understood
    if that is in doubt. matched is meaning for a result with none of the words. Cite
    file_path, or else source_document, with section, and page_start, slide_start, sheet_start or
    line_start.
    """
    rewriting = await context.request_context.lifespan_context.rewriting(query, syntax)
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
        rewritten=rewriting.rewritten,
        search=search,
        recency=recency,
        group=grouped,
        versions=versions_for(versions, grouped, filters),
    )
    answer = await ask(
        context,
        lambda searcher: searcher.search(request),
        partial=True,
    )
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
    outside = [shown, suggestion, counted, rewritten, rewriting.diagnostics, note]
    results, cut = fit(hits, max_characters, shorten_hit, outside=outside)
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
        diagnostics=rewriting.diagnostics,
    )
