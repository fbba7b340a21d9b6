"""Arguments that several tools share, with their bounds and descriptions."""

from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from server.answers.text import MAX_CHARACTERS
from shared.model.filters import Filter
from shared.model.request import MAX_DAYS

MAX_FILTERS: Final = 100
"""Maximum number of filters of a search."""

MAX_FILTER_VALUES: Final = 1_000
"""Maximum number of values in all filters together."""

ChunkId = Annotated[
    str,
    Field(min_length=1, description="id of a chunk in a result."),
]

DocumentId = Annotated[str, Field(min_length=1, description="source_document of a result.")]

FieldName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=256,
        description="Name of a field from list_fields, such as content, title or author.",
    ),
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
    str | None,
    Field(max_length=60, description="Name of a collection, which alone is searched or listed."),
]

ListDetail = Literal["brief", "full"]
"""Detail of a list: the fields that a model can use for its next step, or all of them."""

Offset = Annotated[int, Field(ge=0, le=1_000_000, description="Number of results to skip.")]

Recency = Annotated[
    float | None,
    Field(
        gt=0,
        le=MAX_DAYS,
        description="Prefer new documents: days of age that halve a score.",
    ),
]

MaxCharacters = Annotated[
    int,
    Field(
        ge=2_000,
        le=MAX_CHARACTERS,
        description="Maximum length of the answer; texts are cut to fit.",
    ),
]
