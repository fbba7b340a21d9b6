"""Resources about the index: its statistics, the values of a field, a language's documents."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import to_json

from server.answers.errors import LanguageNotFoundError
from server.answers.fence import fenced_answer
from server.answers.text import DEFAULT_CHARACTERS, fitting
from server.answers.uris import ResourceUri
from server.resources.contents import JSON, Contents, Options, options_of
from server.runtime.known_values import known_languages
from server.runtime.state import ToolContext, ask
from server.tools.index import index_stats
from server.tools.terms import top_terms
from shared.messages import quantity
from shared.model.filters import Filter
from shared.model.metadata import LANGUAGE
from shared.model.search_results import without_unknown

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher

_MAX_LISTED_DOCUMENTS: Final = 100

_LANGUAGE_ENVELOPE_CHARACTERS: Final = 1_500
"""Characters reserved for the rest of the response besides the documents."""

_MAX_JSON_CHARACTERS: Final = DEFAULT_CHARACTERS // 2
"""Maximum length of the JSON, in characters, so that it fits into a response when quoted."""


async def read_statistics(context: ToolContext, uri: ResourceUri) -> Contents:
    """Read the statistics of the index, as the tool `index_stats` returns them.

    Raises:
        ResourceNotFoundError: the URI has options, which this resource does not support.
    """
    options_of(uri, Options)
    return _json(asdict(await index_stats(context, _MAX_JSON_CHARACTERS)))


async def read_field(context: ToolContext, uri: ResourceUri) -> Contents:
    """Read the most frequent words or values of a field, as the tool `top_terms` returns them.

    Raises:
        FieldNotFoundError: the field does not exist.
        ResourceNotFoundError: the URI has options, which this resource does not support.
    """
    options_of(uri, Options)
    return _json(asdict(await top_terms(context, uri.name, max_characters=_MAX_JSON_CHARACTERS)))


async def read_language(context: ToolContext, uri: ResourceUri) -> Contents:
    """Read the list of documents in a language, ordered by id: at most 100.

    Raises:
        LanguageNotFoundError: no document is in the language.
        ResourceNotFoundError: the URI has options, which this resource does not support.
    """
    options_of(uri, Options)
    total, ids = await ask(context, lambda searcher: _in_language(searcher, uri.name))
    documents = [
        {"source_document": name, "uri": str(ResourceUri("document", name))} for name in ids
    ]
    fit = fitting(
        (to_json(entry).decode() for entry in documents),
        DEFAULT_CHARACTERS - _LANGUAGE_ENVELOPE_CHARACTERS,
    )
    left_out = total - fit
    return _json(
        {
            "language": uri.name,
            "total_documents": total,
            "documents": documents[:fit],
            "notice": f"{quantity(left_out, 'more document')} not listed here; find them with "
            f"Search and a filter on {LANGUAGE}"
            if left_out
            else None,
        }
    )


def _in_language(searcher: Searcher, language: str) -> tuple[int, list[str]]:
    known = known_languages(searcher)
    if language not in known:
        raise LanguageNotFoundError(language, known)
    # Filters on the first chunk find each document once.
    first_chunks = [Filter(LANGUAGE, value=language), Filter("chunk_index", value=1)]
    found = searcher.search(
        "",
        limit=_MAX_LISTED_DOCUMENTS,
        filters=first_chunks,
        content="none",
        sort="source_document",
    )
    return found.totalHits, [hit.source_document for hit in found.results]


def _json(value: dict[str, Any]) -> Contents:
    return Contents(to_json(fenced_answer(without_unknown(value))).decode(), JSON)
