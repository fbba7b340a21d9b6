"""The tool `explain_query`."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from server.arguments import Filters, MaxCharacters, Offset
from server.budget import DEFAULT_CHARACTERS, fit_explanation
from server.rewriting import rewriting_of
from server.state import ToolContext, ask
from shared.explained import QueryExplanation
from shared.search_options import Detail, Operator, Syntax


async def explain_query(
    context: ToolContext,
    query: Annotated[str, Field(description="The query as it would be given to Search.")],
    detail: Annotated[
        Detail,
        Field(
            description="parsed: what was understood and how many chunks match; steps: what each "
            "step made of it, too; terms: the terms with the number of chunks that have them, "
            "too; scores: how the scores of the best hits came about, too."
        ),
    ] = "parsed",
    limit: Annotated[int, Field(ge=1, le=20, description="Hits whose scores are explained.")] = 3,
    offset: Offset = 0,
    filters: Annotated[
        Filters, Field(description="The filters as they would be given to Search.")
    ] = [],  # noqa: B006 - pydantic copies the default for each call
    operator: Annotated[
        Operator, Field(description="Whether one of the words is enough or all are needed.")
    ] = "or",
    syntax: Annotated[Syntax, Field(description="How the query is read, as in Search.")] = "auto",
    max_characters: MaxCharacters = DEFAULT_CHARACTERS,
) -> QueryExplanation:
    """Explain why a query finds what it finds, or why it finds nothing.

    Use this when Search misses what should be there or ranks it low: it shows how the query was
    read, which words the index has and in how many chunks, and what each adds to a score. Then
    search again with other words. For words that the index has use suggest_terms.
    """
    rewriting = await rewriting_of(context, query, syntax)
    answer = await ask(
        context,
        lambda searcher: searcher.explain(
            query,
            detail=detail,
            limit=limit,
            offset=offset,
            filters=filters,
            operator=operator,
            syntax=syntax,
            rewritten=rewriting.rewritten,
        ),
    )
    return fit_explanation(replace(answer, diagnostics=rewriting.diagnostics), max_characters)
