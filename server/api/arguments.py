"""Arguments of the JSON API in the query of a URL; the names are those of the tools' arguments."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from server.tools.arguments import MAX_FILTERS, CollectionName, FieldName, Offset, Recency
from shared.model.filters import in_collection, parse_filter
from shared.model.request import (
    BY_ID,
    BY_SCORE,
    Content,
    Detail,
    DocumentSort,
    GroupChoice,
    Operator,
    SearchRequest,
    Syntax,
    VersionsChoice,
)
from shared.settings.defaults import MAX_COUNT

MAX_QUERY_CHARACTERS: Final = 8_000
"""Maximum length of a query in a URL, in characters; a longer one fits into ``POST /search``."""


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
    limit: Annotated[int, Field(ge=1, le=100, description="Maximum number of results.")] = 10
    offset: Offset = 0
    filters: Annotated[
        list[str],
        Field(
            max_length=MAX_FILTERS,
            description="Condition that every result must meet: FIELD=VALUE, FIELD!=VALUE, "
            "FIELD=A|B, FIELD^=PREFIX, FIELD>=MINIMUM, FIELD<=MAXIMUM or FIELD=*. Repeatable.",
        ),
    ] = []
    collection: CollectionName = None
    operator: Annotated[
        Operator, Field(description="or: any of the words; and: all of the words.")
    ] = "or"
    syntax: Annotated[
        Syntax,
        Field(
            description="auto: syntax only where clearly intended; plain: all characters are "
            "text; lucene: strictly Lucene's syntax."
        ),
    ] = "auto"

    search: Annotated[
        Literal["both", "words"],
        Field(description="both: by words and meaning, if the index has vectors; words: by words."),
    ] = "both"
    recency: Recency = None

    def request(self) -> SearchRequest:
        """Return the request for these arguments.

        Raises:
            FilterError: a filter is not in the notation.
        """
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
    """Arguments of a search."""

    content: Annotated[
        Content,
        Field(
            description="full: the whole text; passages: only the parts around the matches, each "
            "match in <mark></mark>; none: no text."
        ),
    ] = "full"
    sort: Annotated[
        str,
        Field(
            max_length=256,
            description="score (best first), source_document, chunk_index or a metadata field; a "
            "leading minus reverses the order.",
        ),
    ] = BY_SCORE
    facets: Annotated[
        list[str],
        Field(
            max_length=10,
            description="Metadata field whose values are counted among all matches. Repeatable.",
        ),
    ] = []
    min_confidence: Annotated[
        float, Field(ge=0, le=1, description="Omit results with a lower confidence.")
    ] = 0.0
    group: Annotated[
        GroupChoice,
        Field(
            description="document: each result is another document, with its best chunk and up to "
            "two others; limit, offset and facets count documents; none: each result is a chunk; "
            "auto: document with content=passages or sorted by modified, else none."
        ),
    ] = "auto"
    versions: Annotated[
        VersionsChoice,
        Field(
            description="newest: of several versions of a text only the newest that matches, with "
            "similar_documents for the others; all: each of them; auto: newest where results are "
            "documents, unless there is a filter on version_of."
        ),
    ] = "auto"


class ExplainArguments(Asked):
    """Arguments of an explanation."""

    limit: Annotated[int, Field(ge=1, le=20, description="Number of hits to explain.")] = 3
    detail: Annotated[
        Detail,
        Field(
            description="Each adds to the previous one: how the query was parsed, how it was "
            "rewritten, its terms, and the parts of the best hits' scores."
        ),
    ] = "parsed"


class SuggestArguments(Arguments):
    """Arguments of the completion of a word."""

    prefix: Annotated[
        str, Field(min_length=1, max_length=1_000, description="First letters of the words.")
    ]
    field: FieldName = "content"
    limit: Annotated[int, Field(ge=1, le=100, description="Maximum number of terms.")] = 10


class TermArguments(Arguments):
    """Arguments of a list of frequent terms."""

    field: FieldName = "content"
    limit: Annotated[int, Field(ge=1, le=1_000, description="Maximum number of terms.")] = 20
    min_length: Annotated[
        int, Field(ge=1, le=255, description="Minimum length of a term, in characters.")
    ] = 1


class PageArguments(Arguments):
    """A page of a list."""

    offset: Offset = 0
    limit: Annotated[int, Field(ge=1, le=1_000, description="Maximum number of entries.")] = 100


class DocumentArguments(PageArguments):
    """Arguments of a list of documents."""

    prefix: Annotated[str, Field(max_length=MAX_QUERY_CHARACTERS, description="Of the ids.")] = ""
    collection: CollectionName = None
    sort: Annotated[
        DocumentSort, Field(description="A leading minus puts the newest or greatest first.")
    ] = BY_ID


class ChunkArguments(Arguments):
    """A part of a document."""

    start_index: Annotated[
        int, Field(ge=1, le=MAX_COUNT, description="Number of the first chunk.")
    ] = 1
    count: Annotated[int, Field(ge=1, le=100, description="Maximum number of chunks.")] = 5


class SimilarArguments(Arguments):
    """Arguments of the chunks that are like another one."""

    limit: Annotated[int, Field(ge=1, le=50, description="Maximum number of chunks.")] = 5
