"""The search page, whose URL holds the whole state of a search."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, HTTPException, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.background import BackgroundTask
from starlette.responses import Response

from server.answers.errors import client_message
from server.api.arguments import MAX_QUERY_CHARACTERS
from server.api.endpoint import State
from server.api.established import usable_model
from server.pages.rendering import file_type_name, language_name, page
from server.state import ServerState
from shared.errors import FilterError, InvalidTextError, QueryError
from shared.model.filters import Filter
from shared.model.metadata import AUTHOR, FILE_TYPE, LANGUAGE, MODIFIED
from shared.model.request import BY_SCORE, SearchRequest
from shared.model.schema import COLLECTION, VERSION_OF
from shared.model.search_results import SearchAnswer

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher

RESULTS_PER_PAGE: Final = 10

MAX_PAGE: Final = 1_000  # number of the last page of results; beyond it a better query helps more

_MAX_VALUE_CHARACTERS: Final = 1_000

Sort = Literal["score", "-modified", "modified", "source_document"]

SORTS: Final[dict[Sort, str]] = {
    "score": "Best",
    "-modified": "Newest",
    "modified": "Oldest",
    "source_document": "Path",
}
"""Sort orders with their names."""


class _Facet(NamedTuple):
    """A metadata key whose values are counted, its title, and the names of its values."""

    key: str
    title: str
    name_of: Callable[[str], str] = str


_FACETS: Final = {
    "collection": _Facet(COLLECTION, "Collection"),
    "type": _Facet(FILE_TYPE, "Type", file_type_name),
    "language": _Facet(LANGUAGE, "Language", language_name),
    "author": _Facet(AUTHOR, "Author"),
}
"""What is counted, by parameter."""

_Value = Annotated[str, Field(max_length=_MAX_VALUE_CHARACTERS)]
_Day = Annotated[str, Field(pattern=r"^(\d{4}(-\d\d(-\d\d)?)?)?$")]


class SearchState(BaseModel):
    """The parameters of the page; unknown ones are ignored."""

    model_config = ConfigDict(frozen=True)

    q: Annotated[str, Field(max_length=MAX_QUERY_CHARACTERS)] = ""
    folder: _Value = ""  # prefix of the ids of documents: a folder, with its last slash
    collection: _Value = ""
    type: _Value = ""
    language: _Value = ""
    author: _Value = ""
    version_of: _Value = ""  # id of a document, to show all versions of its text
    since: _Day = ""  # of the last change, ISO 8601; also a year or a month
    until: _Day = ""
    sort: Sort | Literal[""] = ""
    group: Literal["none", ""] = ""  # to show passages, not the documents that have them
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
        return bool(self.hidden("q", "sort", "group"))

    @property
    def groups(self) -> bool:
        """True if a result is a document with its best passages.

        Without a query each document is listed once, by its first chunk alone.
        """
        return self.has_query and not self.group

    @property
    def order(self) -> Sort:
        return self.sort or ("score" if self.has_query else "-modified")

    def sort_order(self, fields: frozenset[str]) -> str:
        """Return the sort order for a search of an index that has some fields."""
        return self.order if MODIFIED in fields or MODIFIED not in self.order else BY_SCORE

    def filters(self) -> list[Filter]:
        found = [
            Filter(facet.key, "eq", value)
            for name, facet in _FACETS.items()
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


router = APIRouter(include_in_schema=False)

_MAX_FOLDERS: Final = 12  # folders to choose from


@dataclass(frozen=True)
class _Choice:
    """A value to filter by: its name, the link to its results, and whether it is chosen."""

    name: str
    link: str
    is_chosen: bool
    count: int | None = None


@dataclass(frozen=True)
class _Found:
    answer: SearchAnswer
    fields: frozenset[str]
    folders: list[str]


@router.get("/")
async def search(
    request: Request, state: State, asked: Annotated[SearchState, Query()]
) -> Response:
    """Search, and show the results; without a query, list the documents."""
    began = time.perf_counter()
    error, found = None, None
    try:
        found = await _search(state, asked)
    except (FilterError, InvalidTextError, QueryError) as refused:
        error = client_message(refused)
    response = page(
        request,
        "search",
        HTTPStatus.BAD_REQUEST if error else HTTPStatus.OK,
        asked=asked,
        error=error,
        found=found.answer if found else None,
        seconds=time.perf_counter() - began,
        facets=_facets(asked, found) if found else [],
        folders=_folders(asked, found) if found else [],
        sorts=_sorts(asked, found) if found else [],
        pages=_pages(asked, found.answer) if found else None,
        has_answers=_has_answers(state),
    )
    if found and any(hit.page_start is not None for hit in found.answer.results):
        # The next click may be on a PDF, whose page is shown as a picture.
        response.background = BackgroundTask(state.renderer.prepare)
    return response


def _has_answers(state: ServerState) -> bool:
    try:
        usable_model(state)
    except HTTPException:
        return False
    return True


async def _search(state: ServerState, asked: SearchState) -> _Found:
    rewriting = await state.rewriting(asked.q, "auto")

    def search(searcher: "Searcher") -> _Found:
        fields = frozenset(searcher.catalog.field_names())
        if searcher.collections:
            fields |= {COLLECTION}
        answer = searcher.search(
            SearchRequest(
                asked.q,
                limit=RESULTS_PER_PAGE,
                offset=(asked.page - 1) * RESULTS_PER_PAGE,
                filters=asked.filters(),
                content="passages",
                sort=asked.sort_order(fields),
                facets=[facet.key for facet in _FACETS.values() if facet.key in fields],
                rewritten=rewriting.rewritten,
                group="document" if asked.groups else "none",
                versions="newest" if asked.groups and not asked.version_of else "all",
            )
        )
        prefixes = sorted({folder.prefix for folder in searcher.folders()})
        return _Found(answer, fields, prefixes)

    return await state.ask(search, partial=True)


def _facets(asked: SearchState, found: _Found) -> list[tuple[str, list[_Choice]]]:
    """Return the choices of each facet; a chosen value stays even if nothing has it."""
    counted = {facet.field: facet.values for facet in found.answer.facets}
    facets = []
    for name, facet in _FACETS.items():
        chosen = getattr(asked, name)
        values = {value.value: value.count for value in counted.get(facet.key, ())}
        if chosen and chosen not in values:
            values = {chosen: 0} | values
        # A single value that is not chosen divides nothing.
        if len(values) > 1 or chosen:
            choices = [
                _Choice(
                    facet.name_of(value),
                    asked.link(**{name: "" if value == chosen else value}),
                    value == chosen,
                    count,
                )
                for value, count in values.items()
            ]
            facets.append((facet.title, choices))
    return facets


def _folders(asked: SearchState, found: _Found) -> list[_Choice]:
    """Return the folders to choose from: those of the index, and those of the results' files."""
    of_results = {
        f"{hit.source_document.rpartition('/')[0]}/"
        for hit in found.answer.results
        if "/" in hit.source_document
    }
    known = sorted({*found.folders, *of_results, *([asked.folder] if asked.folder else [])} - {""})
    choices = [
        _Choice(prefix.rstrip("/"), asked.link(folder="" if is_chosen else prefix), is_chosen)
        for prefix in known
        if (is_chosen := prefix == asked.folder) or prefix.startswith(asked.folder)
    ]
    return choices[:_MAX_FOLDERS] if len(choices) > 1 or asked.folder else []


def _sorts(asked: SearchState, found: _Found) -> list[_Choice]:
    return [
        _Choice(name, asked.link(sort=order), order == asked.order)
        for order, name in SORTS.items()
        if (asked.has_query or order != "score")
        and ("modified" not in order or "modified" in found.fields)
    ]


def _pages(asked: SearchState, found: SearchAnswer) -> dict[str, Any]:
    """Return the number of pages, and the links to the pages before and after this one."""
    total = found.totalHits if found.total_documents is None else found.total_documents
    last = min(-(-total // RESULTS_PER_PAGE), MAX_PAGE)
    here = asked.page
    if asked.groups and len(found.results) < RESULTS_PER_PAGE:
        # The total counts older versions, too, which are not shown.
        last = min(last, here)
    return {
        "last": last,
        "previous": asked.link(page=here - 1 if here > 2 else 0) if here > 1 else None,  # noqa: PLR2004 - the first page has no number
        "next": asked.link(page=here + 1) if here < last else None,
    }
