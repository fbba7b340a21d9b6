"""The page of a document, open at one of its chunks."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from server.answers.errors import DocumentFileError, TimeBudgetError, client_message
from server.api.arguments import MAX_QUERY_CHARACTERS
from server.api.endpoint import Encoded, State
from server.api.files import check_all_visible, opened_original
from server.pages.rendering import document_title, encoded, page, part_of, place, without_marks
from server.pictures.page import PDF
from server.state import ServerState
from shared.errors import QueryError
from shared.model.document import addition
from shared.model.filters import Filter
from shared.model.index_results import DocumentDetails, DocumentFile
from shared.model.metadata import FILE_TYPE
from shared.model.request import SearchRequest
from shared.model.schema import SOURCE_DOCUMENT
from shared.model.search_results import ChunkText, Hit
from shared.settings.defaults import MAX_COUNT

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher

router = APIRouter(include_in_schema=False)

_BEFORE: Final = 1
_AFTER: Final = 3  # numbers of chunks shown before and after the one that the page is opened at

CHANGED: Final = (
    "The file was saved again after it was indexed, and may differ from this text. The next "
    "synchronization reads it."
)

_STEP: Final = 5  # chunks that a link adds
_MAX_SHOWN: Final = 60  # chunks on a page; those at the other end are left out beyond it
_MAX_MATCHES: Final = 50  # matching chunks to jump to
_MAX_PICTURES: Final = 3  # pages shown as pictures; a chunk rarely stands on more than two

_HIDDEN_METADATA: Final = frozenset(
    {"author", "content_hash", "file_extension", "file_name", "file_path", "file_size"}
    | {"file_type", "language", "modified"}
)
"""Metadata keys that are shown with a name of their own, or tell people nothing."""


_Number = Annotated[int, Field(ge=1, le=MAX_COUNT)] | None  # number of a chunk


class DocumentView(BaseModel):
    """The parameters of the page; unknown ones are ignored."""

    model_config = ConfigDict(frozen=True)

    q: Annotated[str, Field(max_length=MAX_QUERY_CHARACTERS)] = ""
    chunk: _Number = None  # that the page is opened at; by default the first that matches
    start: _Number = None  # of the first chunk shown; by default a few before `chunk`
    end: _Number = None  # of the last one; by default a few after it

    def link(self, **changes: Any) -> str:
        """Return the query string of this view with other parameters."""
        values = self.model_dump(exclude_none=True, exclude={"start", "end"}) | changes
        return "?" + urlencode({name: value for name, value in values.items() if value})


@dataclass(frozen=True)
class _Part:
    chunk: ChunkText
    text: str  # with marks, without what its neighbour shows
    is_match: bool
    citation: str  # to be copied


@dataclass(frozen=True)
class _Original:
    path: str | None  # None if it cannot be opened any more
    notice: str | None  # what has changed since it was indexed, in a sentence


@dataclass(frozen=True)
class _Shown:
    details: DocumentDetails
    file: DocumentFile | None
    target: int
    parts: list[_Part]
    matches: list[int]


@router.get("/documents/{document_id}")
async def document(
    request: Request, state: State, document_id: Encoded, view: Annotated[DocumentView, Query()]
) -> Response:
    shown = await state.ask(lambda searcher: _shown(searcher, document_id, view))
    original = await _original(state, shown.file) if shown.file else None
    first, last = shown.parts[0].chunk.chunk_index, shown.parts[-1].chunk.chunk_index
    target = next(part for part in shown.parts if part.chunk.chunk_index == shown.target)
    count = shown.details.chunk_count
    return page(
        request,
        "document",
        view=view,
        details=shown.details,
        title=shown.details.title,
        metadata=_metadata(shown.details),
        parts=shown.parts,
        target=shown.target,
        matches=sorted(shown.matches),
        earlier=_walk(view, shown.target, first - 1, (max(1, first - _STEP), last))
        if first > 1
        else None,
        later=_walk(view, shown.target, last + 1, (first, min(last + _STEP, count)))
        if last < count
        else None,
        pictures=_pictures(view, target.chunk)
        if shown.details.metadata.get(FILE_TYPE) == PDF
        and not (shown.file and shown.file.container)
        else [],
        original=original,
    )


def _shown(searcher: "Searcher", document_id: str, view: DocumentView) -> _Shown:
    """Read the part of a document that the page shows."""
    details = searcher.document_details(document_id)
    in_document = Filter(SOURCE_DOCUMENT, "eq", document_id)
    found = _found(searcher, view.q, in_document, limit=_MAX_MATCHES, content="none")
    matches = [hit.chunk_index for hit in found]
    target = min(view.chunk or (matches[0] if matches else 1), details.chunk_count)
    start, end = _window(view, target, details.chunk_count)
    # One more before, so that the first one does not repeat its end.
    read = searcher.document_chunks(
        document_id, start_index=max(1, start - 1), count=end - start + 2
    ).chunks
    chunks = [chunk for chunk in read if chunk.chunk_index <= end]
    in_window = Filter("chunk_index", "range", minimum=max(1, start - 1), maximum=end)
    found = _found(searcher, view.q, in_document, in_window, limit=_MAX_SHOWN + 1, content="marked")
    marked = {hit.chunk_index: hit.content or "" for hit in found}
    texts = _without_repetitions(chunks, marked, target)
    parts = [
        _Part(chunk, text, chunk.chunk_index in matches, _citation(chunk))
        for chunk, text in zip(chunks, texts, strict=True)
        if chunk.chunk_index >= start
    ]
    return _Shown(details, searcher.document_file(document_id), target, parts, matches)


async def _original(state: ServerState, file: DocumentFile) -> _Original:
    """Return the link to the original file, and what has changed since it was indexed."""
    with ExitStack() as closing:
        try:
            await check_all_visible(state, file)
            stream = await opened_original(closing, file, state)
        except (DocumentFileError, TimeBudgetError) as error:
            return _Original(None, f"{client_message(error)}.")
        status = os.fstat(stream.fileno())
    known = [(file.size, status.st_size), (file.modified_ns, status.st_mtime_ns)]
    is_changed = any(earlier not in {None, now} for earlier, now in known)
    path = f"api/documents/{encoded(file.source_document)}/file"
    return _Original(path, CHANGED if is_changed else None)


def _window(view: DocumentView, target: int, count: int) -> tuple[int, int]:
    """Return the numbers of the first and the last chunk to show, with the target between them."""
    start = min(view.start or target - _BEFORE, target)
    start = max(start, target - _MAX_SHOWN // 2, 1)
    end = max(view.end or target + _AFTER, target)
    return start, min(end, start + _MAX_SHOWN - 1, count)


def _found(searcher: "Searcher", query: str, *filters: Filter, **options: Any) -> list[Hit]:
    """Search within a document, which can be read whatever the query is."""
    if not query.strip():
        return []
    try:
        return searcher.search(SearchRequest(query, filters=[*filters], **options)).results
    except QueryError:
        return []


def _without_repetitions(
    chunks: Sequence[ChunkText], marked: dict[int, str], target: int
) -> list[str]:
    """Return the texts of neighbouring chunks, each part that two of them share only once.

    The target keeps its beginning, since the page is opened there.
    """
    texts = [marked.get(chunk.chunk_index, chunk.content) for chunk in chunks]
    for number in range(1, len(chunks)):
        chunk, last_end = chunks[number], chunks[number - 1].char_end or 0
        added = addition(chunk.content, chunk.char_start or 0, chunk.char_end or 0, last_end)
        shared = max(0, len(chunk.content) - len(added))
        if chunks[number].chunk_index == target:
            end = max(0, len(without_marks(texts[number - 1])) - shared)
            texts[number - 1] = part_of(texts[number - 1], end=end)
        else:
            texts[number] = part_of(texts[number], shared).lstrip()
    return texts


def _citation(chunk: ChunkText) -> str:
    parts = [document_title(chunk), chunk.section, place(chunk), chunk.file_path or chunk.id]
    return ", ".join(filter(None, parts))


def _metadata(details: DocumentDetails) -> list[tuple[str, str]]:
    """Return further metadata with readable names."""
    return [
        (
            key.replace("_", " ").capitalize(),
            ", ".join(map(str, value)) if isinstance(value, list) else str(value),
        )
        for key, value in details.metadata.items()
        if key not in _HIDDEN_METADATA
    ]


def _walk(view: DocumentView, target: int, to: int, window: tuple[int, int]) -> str:
    """Return a link to a larger part of the document, or another one if it would be too large."""
    start, end = window
    fits = end - start < _MAX_SHOWN and target - start <= _MAX_SHOWN // 2
    link = view.link(chunk=target, start=start, end=end) if fits else view.link(chunk=to)
    return f"{link}#chunk-{to}"


def _pictures(view: DocumentView, chunk: ChunkText) -> list[dict[str, Any]]:
    """Return the pictures of the pages of a PDF on which a chunk stands."""
    if chunk.page_start is None:
        return []
    last = min(chunk.page_end or chunk.page_start, chunk.page_start + _MAX_PICTURES - 1)
    folder = f"api/documents/{encoded(chunk.source_document)}/pages"
    query = f"?{urlencode({'q': view.q})}" if view.q else ""
    return [
        {"page": page, "path": f"{folder}/{page}.png{query}"}
        for page in range(chunk.page_start, last + 1)
    ]
