"""The tool `explain_query`."""

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from server.answers.budget import fit_explanation
from server.answers.text import DEFAULT_CHARACTERS
from server.runtime.state import ToolContext, ask
from server.tools.arguments import Filters, MaxCharacters, Offset, Recency
from shared.model.request import Detail, Operator, SearchRequest, Syntax
from shared.model.search_results import QueryExplanation


async def explain_query(
    context: ToolContext,
    query: Annotated[str, Field(description="The query, as for Search.")],
    detail: Annotated[
        Detail,
        Field(
            description="Each adds to the previous one. parsed: how the query was parsed, and "
            "how many chunks match; steps: how it was rewritten; terms: how many chunks "
            "contain each term; scores: the parts of the best hits' scores."
        ),
    ] = "parsed",
    limit: Annotated[int, Field(ge=1, le=20, description="Number of hits to explain.")] = 3,
    offset: Offset = 0,
    filters: Annotated[Filters, Field(description="As in Search.")] = [],  # noqa: B006 - pydantic copies the default for each call
    operator: Annotated[Operator, Field(description="As in Search.")] = "or",
    syntax: Annotated[Syntax, Field(description="As in Search.")] = "auto",
    search: Annotated[Literal["both", "words"], Field(description="As in Search.")] = "both",
    recency: Recency = None,
    max_characters: MaxCharacters = DEFAULT_CHARACTERS,
) -> QueryExplanation:
    """Explain the results of a query, or why it has none.

    Use this when Search misses an expected result or ranks it low: it shows how the query was
    parsed, how many chunks contain each word, and what each word adds to a score. Then search
    again with other words. To learn which words are in the index, use suggest_terms.
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
