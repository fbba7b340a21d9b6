"""The search page."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any, Final

from fastapi import APIRouter, Form, Query, Request
from starlette.background import BackgroundTask
from starlette.responses import Response

from server.answers.errors import client_message
from server.api.reading import State
from server.pages.answer import WholeAnswer, answer_model, whole_answer
from server.pages.rendering import page
from server.pages.search_state import FACETS, MAX_PAGE, RESULTS_PER_PAGE, SORTS, SearchState
from server.pages.texts import file_type_name, language_name
from server.runtime.state import ServerState
from shared.errors import FilterError, InvalidTextError, QueryError
from shared.model.request import SearchRequest
from shared.model.schema import COLLECTION
from shared.model.search_results import Facet, SearchAnswer

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher

router = APIRouter(include_in_schema=False)

_FACET_TITLES: Final = {
    "collection": "Collection",
    "type": "Type",
    "language": "Language",
    "author": "Author",
}

_VALUE_NAMES: Final[dict[str, Callable[[str], str]]] = {
    "collection": str,
    "type": file_type_name,
    "language": language_name,
    "author": str,
}

_MAX_FOLDERS: Final = 12
"""Maximum number of folders to choose from."""


@dataclass(frozen=True)
class _Choice:
    """A value to filter by: its name, the link to its results, and whether it is chosen."""

    name: str
    link: str
    is_chosen: bool
    count: int | None = None


@dataclass(frozen=True)
class _Found:
    """What a search page shows."""

    answer: SearchAnswer
    fields: frozenset[str]
    folders: list[str]


@router.get("/")
async def search(
    request: Request, state: State, asked: Annotated[SearchState, Query()]
) -> Response:
    """Search, and show the results; without a query, list the documents."""
    return await _results(request, state, asked)


@router.post("/")
async def ask(request: Request, state: State, asked: Annotated[SearchState, Form()]) -> Response:
    """Search, and have a language model answer the query, for browsers without JavaScript.

    Not by GET, which an address on any web site makes a browser send.
    """
    answer = await whole_answer(state, asked.q) if asked.has_query else None
    return await _results(request, state, asked, answer)


async def _results(
    request: Request, state: ServerState, asked: SearchState, answer: WholeAnswer | None = None
) -> Response:
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
        has_answers=answer_model(state) is not None,
        answer=answer,
    )
    if found and any(hit.page_start is not None for hit in found.answer.results):
        # The next click may be on a PDF, whose page is shown as a picture.
        response.background = BackgroundTask(state.renderer.prepare)
    return response


async def _search(state: ServerState, asked: SearchState) -> _Found:
    """Search.

    Raises:
        McpLuceneError: as `ServerState.ask` and `Searcher.search`.
    """
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
                facets=[key for key in FACETS.values() if key in fields],
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
    counted = {facet.field: facet for facet in found.answer.facets}
    facets = []
    for name, key in FACETS.items():
        choices = _choices(asked, name, counted.get(key) or Facet(key, [], 0))
        # A single value that is not chosen divides nothing.
        if len(choices) > 1 or any(choice.is_chosen for choice in choices):
            facets.append((_FACET_TITLES[name], choices))
    return facets


def _choices(asked: SearchState, name: str, facet: Facet) -> list[_Choice]:
    chosen = getattr(asked, name)
    values = {value.value: value.count for value in facet.values}
    if chosen and chosen not in values:
        values = {chosen: 0} | values
    return [
        _Choice(
            _VALUE_NAMES[name](value),
            asked.link(**{name: "" if value == chosen else value}),
            value == chosen,
            count,
        )
        for value, count in values.items()
    ]


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
