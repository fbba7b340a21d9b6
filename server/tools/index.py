"""The tools on the index as a whole: `list_fields` and `index_stats`."""

from dataclasses import replace
from typing import Any

from server.arguments import MaxCharacters
from server.budget import DEFAULT_CHARACTERS, fit, shorten_field
from server.state import ToolContext, ask
from shared.index_results import FieldList
from shared.results import IndexStatistics


async def list_fields(
    context: ToolContext, max_characters: MaxCharacters = DEFAULT_CHARACTERS
) -> FieldList:
    """List the fields of the index, what each holds and what can be done with it.

    Use this before a search with filters, sort or facets, to learn the names they may use and how
    values look; query_name is for the query itself, as in query_name:word. Then list the values
    of a field with top_terms, or those that begin in a certain way with suggest_terms.
    """
    answer = await ask(context, lambda searcher: searcher.fields())
    fields, notice = fit(answer.fields, max_characters, shorten_field)
    return replace(answer, fields=fields, notice=notice)


async def index_stats(
    context: ToolContext, max_characters: MaxCharacters = DEFAULT_CHARACTERS
) -> IndexStatistics:
    """Show the size of the index, its languages, formats, folders and last change.

    Use this to learn whether there is anything to search and in which languages to ask, or when
    the user asks about the index itself. For its documents use ListDocuments, for files that are
    missing list_failures.
    """
    answer = await ask(context, lambda searcher: searcher.statistics())
    mappings: dict[str, dict[str, Any]] = {
        "folders": answer.folders,
        "languages": answer.languages,
        "formats": answer.formats,
    }
    entries = [
        {name: {key: value}} for name, mapping in mappings.items() for key, value in mapping.items()
    ]
    kept, notice = fit(entries, max_characters, lambda entry, _: entry, outside=answer.path)
    fitting: dict[str, dict[str, Any]] = {name: {} for name in mappings}
    for entry in kept:
        for name, part in entry.items():
            fitting[name] |= part
    return replace(
        answer,
        folders=fitting["folders"],
        languages=fitting["languages"],
        formats=fitting["formats"],
        notice=notice,
    )
