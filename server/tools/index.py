"""Tools for the index as a whole: its size, its fields, and their words and values."""

from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import Field

from server.answers.text import DEFAULT_CHARACTERS, brief_query, fit
from server.state import ToolContext, ask
from server.tools import arguments
from shared.messages import quantity, shortened
from shared.model.index_results import FieldList, IndexStatistics, TermList
from shared.model.metadata import ONLY_WITH_DOCUMENTS

_STEMS: Final = frozenset({"stems", "title_stems"})  # every query searches them, none names them

_BRIEF_CHARACTERS: Final = 4_000  # of a brief list of fields
_BRIEF_RESERVE: Final = 400  # for the rest of the list, including the notice

_BRIEF_EXAMPLES: Final = 2
_BRIEF_EXAMPLE_CHARACTERS: Final = 30


async def list_fields(
    context: ToolContext,
    detail: Annotated[
        arguments.ListDetail, Field(description="brief: the most useful fields; full: all fields.")
    ] = "brief",
    max_characters: arguments.MaxCharacters = DEFAULT_CHARACTERS,
) -> FieldList:
    """List the fields of the index: what each contains, and how it can be used.

    Use this before a search with filters, sort or facets, to learn names of fields and examples of
    values; in a query, write query_name:word. top_terms lists the values of a field, suggest_terms
    those with a prefix.
    """
    answer = await ask(context, lambda searcher: searcher.fields())
    if detail == "brief":
        return _brief(answer, min(max_characters, _BRIEF_CHARACTERS))
    fields, notice = fit(answer.fields, max_characters)
    return replace(answer, fields=fields, notice=notice)


def _brief(answer: FieldList, budget: int) -> FieldList:
    """Keep the fields that a model can use, those of most chunks first, with short examples."""
    own = [field for field in answer.fields if field.meaning and field.name not in _STEMS]
    metadata = sorted(
        (
            field
            for field in answer.fields
            if field.meaning is None and field.name not in ONLY_WITH_DOCUMENTS
        ),
        key=lambda field: (-field.chunks, field.name),
    )
    shorter = [
        replace(field, examples=[_brief_example(text) for text in field.examples[:_BRIEF_EXAMPLES]])
        for field in [*own, *metadata]
    ]
    fields, _ = fit(shorter, budget, reserve=_BRIEF_RESERVE)
    notice = None
    if left_out := len(answer.fields) - len(fields):
        notice = (
            f"{quantity(left_out, 'field')} left out: the least useful, and those that the fewest "
            "chunks have. List all with detail=full."
        )
    return replace(answer, fields=fields, notice=notice)


def _brief_example(text: str) -> str:
    return shortened(text, _BRIEF_EXAMPLE_CHARACTERS)


async def index_stats(
    context: ToolContext, max_characters: arguments.MaxCharacters = DEFAULT_CHARACTERS
) -> IndexStatistics:
    """Show the size of the index, its languages, formats, folders and last change.

    Use this to learn what there is to search, or when the user asks about the index itself.
    ListDocuments lists its documents, list_failures missing files.
    """
    answer = await ask(context, lambda searcher: searcher.statistics())
    names = ("folders", "languages", "formats")
    entries = [
        {name: {key: value}} for name in names for key, value in getattr(answer, name).items()
    ]
    kept, notice = fit(entries, max_characters, outside=answer.path)
    fitting: dict[str, Any] = {name: {} for name in names}
    for entry in kept:
        for name, part in entry.items():
            fitting[name] |= part
    return replace(answer, **fitting, notice=notice)


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
    field: arguments.FieldName = "content",
    limit: arguments.Limit = 10,
    max_characters: arguments.MaxCharacters = DEFAULT_CHARACTERS,
) -> TermList:
    """List the words in the index that begin with a prefix, the most frequent first.

    Use this when Search finds nothing, to learn how the documents spell a word, or to complete a
    name or a filter value as spelled here. complete is false if not all words were examined.
    """
    answer = await ask(
        context, lambda searcher: searcher.suggest_terms(prefix, field=field, limit=limit)
    )
    return _fitted(answer, max_characters)


async def top_terms(
    context: ToolContext,
    field: arguments.FieldName = "content",
    limit: arguments.LongLimit = 20,
    min_length: arguments.MinLength = 1,
    max_characters: arguments.MaxCharacters = DEFAULT_CHARACTERS,
) -> TermList:
    """List the most frequent words or values of a field, with the number of chunks of each.

    Use this on a metadata field, such as author or language, to learn the values to filter by. On
    content, words such as "the" come first: increase min_length to learn what the documents are
    about.
    """
    answer = await ask(
        context,
        lambda searcher: searcher.top_terms(field=field, limit=limit, min_length=min_length),
    )
    return _fitted(answer, max_characters)


def _fitted(answer: TermList, max_characters: int) -> TermList:
    prefix = brief_query(answer.prefix, max_characters)
    outside = [answer.field, prefix]
    terms, cut = fit(answer.terms, max_characters, outside=outside)
    notice = " ".join(filter(None, (answer.notice, cut))) or None
    return replace(answer, prefix=prefix, terms=terms, notice=notice)
