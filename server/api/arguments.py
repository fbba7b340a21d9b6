"""Arguments of the JSON API in the query of a URL; they have the names of the tools' arguments."""

from dataclasses import replace
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from server.tools import arguments as tool
from shared.model.filters import in_collection, parse_filter
from shared.model.request import (
    BY_ID,
    BY_SCORE,
    Content,
    SearchRequest,
    group_for,
    versions_for,
)

MAX_QUERY_CHARACTERS: Final = 8_000  # of a query in a URL; a longer one fits into ``POST /search``


class Arguments(BaseModel):
    """Arguments of an endpoint; those that do not exist are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Asked(Arguments):
    """What a search and an explanation have in common."""

    query: Annotated[
        str,
        Field(
            max_length=MAX_QUERY_CHARACTERS,
            description="Words, or Lucene's syntax; an empty query matches every chunk.",
        ),
    ] = ""
    limit: tool.Limit = 10
    offset: tool.Offset = 0
    filters: Annotated[
        list[str],
        Field(
            max_length=tool.MAX_FILTERS,
            description="Condition that every result must meet: FIELD=VALUE, FIELD!=VALUE, "
            "FIELD=A|B, FIELD^=PREFIX, FIELD>=MINIMUM, FIELD<=MAXIMUM or FIELD=*. Repeatable.",
        ),
    ] = []
    collection: tool.CollectionName = None
    operator: tool.Operator = "or"
    syntax: tool.Syntax = "auto"
    search: tool.Meaning = "both"
    recency: tool.Recency = None

    def request(self) -> SearchRequest:
        return SearchRequest(
            self.query,
            limit=self.limit,
            offset=self.offset,
            filters=[*map(parse_filter, self.filters), *in_collection(self.collection)],
            operator=self.operator,
            syntax=self.syntax,
            search=self.search,
            recency=self.recency,
        )


class SearchArguments(Asked):
    content: Annotated[
        Content,
        Field(
            description="full: the whole text; passages: only the parts around the matches, each "
            "match in <mark></mark>; none: no text."
        ),
    ] = "full"
    sort: tool.Sort = BY_SCORE
    facets: tool.Facets = []
    min_confidence: tool.MinConfidence = 0.0
    group: tool.Group = "auto"
    versions: tool.Versions = "auto"

    def request(self) -> SearchRequest:
        plain = super().request()
        group = group_for(self.group, self.content, self.sort)
        return replace(
            plain,
            content=self.content,
            sort=self.sort,
            facets=self.facets,
            min_confidence=self.min_confidence,
            group=group,
            versions=versions_for(self.versions, group, plain.filters),
        )


class ExplainArguments(Asked):
    limit: Annotated[int, Field(ge=1, le=20, description="Number of hits to explain.")] = 3
    detail: tool.Detail = "parsed"


class SuggestArguments(Arguments):
    prefix: Annotated[
        str, Field(min_length=1, max_length=1_000, description="First letters of the words.")
    ]
    field: tool.FieldName = "content"
    limit: tool.Limit = 10


class TermArguments(Arguments):
    field: tool.FieldName = "content"
    limit: tool.LongLimit = 20
    min_length: tool.MinLength = 1


class PageArguments(Arguments):
    offset: tool.Offset = 0
    limit: tool.LongLimit = 100


class DocumentArguments(PageArguments):
    prefix: Annotated[str, Field(max_length=MAX_QUERY_CHARACTERS, description="Of the ids.")] = ""
    collection: tool.CollectionName = None
    sort: tool.DocumentSort = BY_ID


class ChunkArguments(Arguments):
    start_index: tool.StartIndex = 1
    count: tool.Limit = 5


class SimilarArguments(Arguments):
    limit: Annotated[int, Field(ge=1, le=50)] = 5
