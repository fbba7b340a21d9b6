"""The state of a search on the page, which its URL holds whole."""

from typing import Annotated, Any, Final, Literal
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field

from server.api.arguments import MAX_QUERY_CHARACTERS
from shared.model.filters import Filter
from shared.model.metadata import AUTHOR, FILE_TYPE, LANGUAGE, MODIFIED
from shared.model.request import BY_SCORE
from shared.model.schema import COLLECTION, VERSION_OF

RESULTS_PER_PAGE: Final = 10

MAX_PAGE: Final = 1_000
"""Number of the last page of results; beyond it a better query helps more."""

_MAX_VALUE_CHARACTERS: Final = 1_000

NEWEST: Final = f"-{MODIFIED}"

Sort = Literal["score", "-modified", "modified", "source_document"]

SORTS: Final[dict[Sort, str]] = {
    "score": "Best",
    "-modified": "Newest",
    "modified": "Oldest",
    "source_document": "Path",
}
"""Sort orders with their names."""

FACETS: Final = {
    "collection": COLLECTION,
    "type": FILE_TYPE,
    "language": LANGUAGE,
    "author": AUTHOR,
}
"""Metadata key of each parameter whose values are counted."""

_Value = Annotated[str, Field(max_length=_MAX_VALUE_CHARACTERS)]
_Day = Annotated[str, Field(pattern=r"^(\d{4}(-\d\d(-\d\d)?)?)?$")]


class SearchState(BaseModel):
    """The parameters of the page; unknown ones are ignored.

    Attributes:
        q: the query.
        folder: prefix of the ids of documents: a folder, with its last slash.
        collection: name of a collection.
        type: media type of the file.
        language: code of the document's language.
        author: its author.
        version_of: id of a document, to show all versions of its text.
        since: first day of the last change, ISO 8601; also a year or a month.
        until: last day of it.
        sort: sort order; None for the best first, or the newest without a query.
        group: ``none`` to show passages one by one, not the documents that have them.
        page: number of the page of results.
    """

    model_config = ConfigDict(frozen=True)

    q: Annotated[str, Field(max_length=MAX_QUERY_CHARACTERS)] = ""
    folder: _Value = ""
    collection: _Value = ""
    type: _Value = ""
    language: _Value = ""
    author: _Value = ""
    version_of: _Value = ""
    since: _Day = ""
    until: _Day = ""
    sort: Sort | Literal[""] = ""
    group: Literal["none", ""] = ""
    page: Annotated[int, Field(ge=1, le=MAX_PAGE)] = 1

    def link(self, **changes: Any) -> str:
        """Return the query string of this search with other parameters, on its first page."""
        values = self.model_dump(exclude_defaults=True, exclude={"page"}) | changes
        return "?" + urlencode({name: value for name, value in values.items() if value})

    def hidden(self, *without: str) -> dict[str, str]:
        """Return the parameters that a form on the page sends beside its own."""
        return self.model_dump(exclude_defaults=True, exclude={"page", *without})

    @property
    def has_query(self) -> bool:
        """True if there is a query; without one the page lists documents."""
        return bool(self.q.strip())

    @property
    def has_filters(self) -> bool:
        """True if there is any filter."""
        return bool(self.hidden("q", "sort", "group"))

    @property
    def groups(self) -> bool:
        """True if a result is a document with its best passages.

        Without a query each document is listed once, by its first chunk alone.
        """
        return self.has_query and not self.group

    @property
    def order(self) -> Sort:
        """The sort order in effect."""
        return self.sort or ("score" if self.has_query else "-modified")

    def sort_order(self, fields: frozenset[str]) -> str:
        """Return the sort order for a search of an index that has some fields."""
        return self.order if MODIFIED in fields or MODIFIED not in self.order else BY_SCORE

    def filters(self) -> list[Filter]:
        """Return the filters of the search."""
        found = [
            Filter(key, "eq", value)
            for name, key in FACETS.items()
            if (value := getattr(self, name))
        ]
        if self.folder:
            found.append(Filter("source_document", "prefix", self.folder))
        if self.version_of:
            found.append(Filter(VERSION_OF, "eq", self.version_of))
        if self.since or self.until:
            found.append(
                Filter(MODIFIED, "range", minimum=self.since or None, maximum=self.until or None)
            )
        if not self.has_query:
            # Without a query each document is listed once.
            found.append(Filter("chunk_index", "eq", 1))
        return found
