"""Arguments that several tools and endpoints share, with their bounds and descriptions."""

from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from server.answers.text import MAX_CHARACTERS
from shared.model import request
from shared.model.filters import Filter
from shared.settings.defaults import MAX_COUNT

MAX_FILTERS: Final = 100  # filters of a search
MAX_FILTER_VALUES: Final = 1_000  # values in all filters together

ChunkId = Annotated[str, Field(min_length=1, description="id of a result.")]

DocumentId = Annotated[str, Field(min_length=1, description="source_document of a result.")]

FieldName = Annotated[
    str, Field(min_length=1, max_length=256, description="Field, as list_fields names it.")
]


def _with_few_values(given: Any) -> Any:
    """Return the filters as a client sent them, unless they have too many values to check."""
    filters = [part for part in given if isinstance(part, dict)] if isinstance(given, list) else []
    lists = [part["value"] for part in filters if isinstance(part.get("value"), list)]
    if (values := sum(map(len, lists))) > MAX_FILTER_VALUES:
        raise PydanticCustomError(
            "too_many_values",
            "All filters together have at most {most} values, not {values}",
            {"most": MAX_FILTER_VALUES, "values": values},
        )
    return given


Filters = Annotated[list[Filter], Field(max_length=MAX_FILTERS), BeforeValidator(_with_few_values)]

CollectionName = Annotated[
    str | None, Field(max_length=60, description="Search or list only this collection.")
]

Operator = Annotated[
    request.Operator, Field(description="or: any of the words; and: all of the words.")
]

Syntax = Annotated[
    request.Syntax,
    Field(
        description="auto: syntax where clearly intended; plain: all is text; lucene: strictly "
        "Lucene's syntax."
    ),
]

Meaning = Annotated[
    Literal["both", "words"],
    Field(description="both: by words and, if the index has vectors, meaning; words: by words."),
]

Sort = Annotated[
    str,
    Field(
        max_length=256,
        description="score (best first), source_document, chunk_index or a metadata field such as "
        "modified; a leading minus reverses.",
    ),
]

Facets = Annotated[
    list[str],
    Field(max_length=10, description="Metadata fields whose values are counted in all matches."),
]

MinConfidence = Annotated[
    float, Field(ge=0, le=1, description="Omit results with a lower confidence.")
]

Group = Annotated[
    request.GroupChoice,
    Field(
        description="document: each result is a document with its best chunk and up to two others; "
        "none: a chunk; auto: document with content=passages or sorted by modified."
    ),
]

Versions = Annotated[
    request.VersionsChoice,
    Field(
        description="newest: of versions of a text only the newest; auto: newest with "
        "group=document."
    ),
]

Detail = Annotated[
    request.Detail,
    Field(
        description="Each adds to the previous: how the query was parsed; steps of rewriting; "
        "terms and how many chunks have each; parts of the best hits' scores."
    ),
]

Recency = Annotated[
    float | None,
    Field(
        gt=0,
        le=request.MAX_DAYS,
        description="Prefer new documents: days of age that halve a score.",
    ),
]

DocumentSort = Annotated[
    request.DocumentSort, Field(description="A leading minus puts the newest or greatest first.")
]

ListDetail = Literal["brief", "full"]  # the fields for a model's next step, or all of them

Offset = Annotated[int, Field(ge=0, le=1_000_000, description="Results to skip.")]

Limit = Annotated[int, Field(ge=1, le=100, description="Maximum results.")]

LongLimit = Annotated[int, Field(ge=1, le=1_000, description="Maximum results.")]

MinLength = Annotated[int, Field(ge=1, le=255, description="Minimum length of a term.")]

StartIndex = Annotated[int, Field(ge=1, le=MAX_COUNT, description="Number of the first chunk.")]

MaxCharacters = Annotated[
    int, Field(ge=2_000, le=MAX_CHARACTERS, description="Maximum answer length.")
]
