"""The tools on the terms of a field: `suggest_terms` and `top_terms`."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from server.arguments import FieldName, MaxCharacters
from server.budget import DEFAULT_CHARACTERS, brief_query, fit, shorten_term
from server.state import ToolContext, ask
from shared.index_results import TermList


async def suggest_terms(
    context: ToolContext,
    prefix: Annotated[
        str,
        Field(
            min_length=1,
            max_length=1_000,
            description="How the words begin; case and accents make no difference, except for "
            "ids and keys of the metadata.",
        ),
    ],
    field: FieldName = "content",
    limit: Annotated[int, Field(ge=1, le=100, description="Terms to return.")] = 10,
    max_characters: MaxCharacters = DEFAULT_CHARACTERS,
) -> TermList:
    """List the words of the index that begin with a prefix, those in most chunks first.

    Use this when Search finds nothing, to learn how the documents spell a word, or to complete a
    word, a name, or a value to filter by. Then search for the words that fit, or filter by the
    value as it is spelled here. complete is false if the prefix is too short to look at all words.
    """
    answer = await ask(
        context, lambda searcher: searcher.suggest_terms(prefix, field=field, limit=limit)
    )
    return _fitted(answer, max_characters)


async def top_terms(
    context: ToolContext,
    field: FieldName = "content",
    limit: Annotated[int, Field(ge=1, le=1_000, description="Terms to return.")] = 20,
    min_length: Annotated[
        int, Field(ge=1, le=255, description="Only terms of at least so many characters.")
    ] = 1,
    max_characters: MaxCharacters = DEFAULT_CHARACTERS,
) -> TermList:
    """List the words, or the values of a metadata key, that most chunks have, with their number.

    Use this on a key of the metadata, such as author or language, to learn the values to filter
    Search by. On content, words such as "the" and "and" come first: raise min_length to learn
    what the documents are about. For words that begin in a certain way use suggest_terms.
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
