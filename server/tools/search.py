"""The tool `Search`."""

from dataclasses import replace
from typing import Annotated, Final

from pydantic import Field

from server.arguments import Filters, MaxCharacters, Offset
from server.budget import (
    DEFAULT_CHARACTERS,
    brief_facets,
    brief_passages,
    brief_query,
    fit,
    shorten_hit,
)
from server.rewriting import rewriting_of
from server.state import ToolContext, ask
from shared.results import SearchAnswer
from shared.search_options import BY_SCORE, Content, Operator, Syntax

PARTIAL: Final = (
    "The time for a search was over: results are the best of what was found until then, and "
    "totalHits counts only that. Ask with fewer or more specific words."
)


async def search(
    context: ToolContext,
    query: Annotated[
        str,
        Field(
            description='Words to look for. Lucene\'s query syntax works too: "a phrase", '
            "+required -excluded, prefix*, typo~, title:word, author:name, filetype:pdf, "
            "folder:name, language:de. An empty query shows every chunk."
        ),
    ],
    limit: Annotated[int, Field(ge=1, le=100, description="Results to return.")] = 10,
    offset: Offset = 0,
    filters: Annotated[
        Filters,
        Field(
            description="Conditions that every result meets, on source_document, id, chunk_index "
            'or metadata, such as {"field": "year", "operator": "range", "minimum": 2020}.'
        ),
    ] = [],  # noqa: B006 - pydantic copies the default for each call
    operator: Annotated[
        Operator, Field(description="Whether one of the words is enough or all are needed.")
    ] = "or",
    syntax: Annotated[
        Syntax,
        Field(
            description="auto: characters count as syntax where they can be meant so; plain: "
            "every character is text; lucene: the syntax to the letter."
        ),
    ] = "auto",
    content: Annotated[
        Content,
        Field(
            description="full: the whole text of each result; passages: only the parts around "
            "the matches, each match between <mark> and </mark>; none: no text."
        ),
    ] = "full",
    sort: Annotated[
        str,
        Field(
            description="score: best first; or source_document, chunk_index or a field of the "
            "metadata such as modified; with a minus before it the greatest or newest first."
        ),
    ] = BY_SCORE,
    facets: Annotated[
        list[str],
        Field(
            max_length=10,
            description="Fields of the metadata, such as language or author, whose values are "
            "counted among all matches: what to filter by next.",
        ),
    ] = [],  # noqa: B006 - pydantic copies the default for each call
    min_confidence: Annotated[
        float,
        Field(ge=0, le=1, description="Leave out results whose confidence is less; 0 keeps all."),
    ] = 0.0,
    max_characters: MaxCharacters = DEFAULT_CHARACTERS,
) -> SearchAnswer:
    """Search the user's documents and return the chunks that match, best first.

    Use this first for any question the documents may answer; use few, specific words, in the
    language of the documents. If the answer is cut off at a chunk's end, go on with
    get_next_chunk and the chunk's id. totalHits tells how many chunks match in all. confidence
    tells how likely a result answers, from 0 to 1; with low_confidence the documents hardly answer
    the question: say so, or ask with other words. suggestion is the query as it may have been
    meant; without suggestion_applied it was not looked for, so ask again with it. note says how the
    query was understood where that may not be what was meant. Cite file_path,
    or else source_document, with page_start, slide_start, sheet_start or line_start.
    """
    rewriting = await rewriting_of(context, query, syntax)
    answer = await ask(
        context,
        lambda searcher: searcher.search(
            query,
            limit=limit,
            offset=offset,
            filters=filters,
            operator=operator,
            syntax=syntax,
            content=content,
            sort=sort,
            facets=facets,
            min_confidence=min_confidence,
            rewritten=rewriting.rewritten,
        ),
        partial=True,
    )
    shown = brief_query(query, max_characters)
    suggestion, rewritten, note = (
        text and brief_query(text, max_characters)
        for text in (answer.suggestion, answer.rewritten, answer.note)
    )
    counted, facets_cut = brief_facets(answer.facets, max_characters)
    hits = [brief_passages(hit) for hit in answer.results]
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
