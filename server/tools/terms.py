"""Tools for the terms of a field: `suggest_terms` and `top_terms`."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from server.answers.budget import fit, shorten_term
from server.answers.text import DEFAULT_CHARACTERS, brief_query
from server.runtime.state import ToolContext, ask
from server.tools.arguments import FieldName, MaxCharacters
from shared.model.index_results import TermList


async def suggest_terms(
    context: ToolContext,
    prefix: Annotated[
        str,
        Field(
            min_length=1,
            max_length=1_000,
            description="First letters of the words. Case and accents matter only in ids and "
            "metadata.",
        ),
    ],
    field: FieldName = "content",
    limit: Annotated[int, Field(ge=1, le=100, description="Maximum number of terms.")] = 10,
    max_characters: MaxCharacters = DEFAULT_CHARACTERS,
) -> TermList:
    """List the words in the index that begin with a prefix, the most frequent first.

    Use this when Search finds nothing, to learn how the documents spell a word, or to complete a
    name or a filter value. Then search for suitable words, or filter by the value as spelled here.
    complete is false if there were too many words to examine all of them.
    """
    answer = await ask(
        context, lambda searcher: searcher.suggest_terms(prefix, field=field, limit=limit)
    )
    return _fitted(answer, max_characters)


async def top_terms(
    context: ToolContext,
    field: FieldName = "content",
    limit: Annotated[int, Field(ge=1, le=1_000, description="Maximum number of terms.")] = 20,
    min_length: Annotated[
        int, Field(ge=1, le=255, description="Minimum length of a term, in characters.")
    ] = 1,
    max_characters: MaxCharacters = DEFAULT_CHARACTERS,
) -> TermList:
    """List the most frequent words or values of a field, with the number of chunks of each.

    Use this on a metadata field, such as author or language, to learn the values that Search can
    filter by. On content, words such as "the" and "and" come first: increase min_length to learn
    what the documents are about. For words with a prefix, use suggest_terms.
    """
    answer = await ask(
        context,
        lambda searcher: searcher.top_terms(field=field, limit=limit, min_length=min_length),
    )
    return _fitted(answer, max_characters)


def _fitted(answer: TermList, max_characters: int) -> TermList:
    prefix = brief_query(answer.prefix, max_characters)
    outside = [answer.field, prefix]
    terms, cut = fit(answer.terms, max_characters, shorten_term, outside=outside)
    notice = " ".join(filter(None, (answer.notice, cut))) or None
    return replace(answer, prefix=prefix, terms=terms, notice=notice)
