"""Endpoints for the original files of documents, and for pictures of their pages."""

import os
import re
from collections.abc import AsyncIterator
from contextlib import ExitStack
from email.utils import formatdate
from functools import partial
from http import HTTPStatus
from io import BufferedReader
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import quote

import anyio
from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import Response, StreamingResponse

from server.answers.errors import DocumentFileError, TimeBudgetError
from server.api.arguments import MAX_QUERY_CHARACTERS, Arguments
from server.api.endpoint import Encoded, ProblemResponse, State
from server.pictures.page import PNG, page_picture
from server.pictures.worker import why_not_read
from server.state import ServerState
from shared.files.access import IrregularFileError
from shared.files.location import opened_file
from shared.files.originals import Originals
from shared.files.secret_files import reason_to_withhold
from shared.java.cancellation import Cancellation
from shared.model.filters import Filter
from shared.model.index_results import DocumentFile
from shared.model.schema import CONTAINER, SOURCE_DOCUMENT
from shared.settings.defaults import MAX_COUNT

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher

_INLINE: Final = frozenset(
    {"application/pdf", "image/gif", "image/jpeg", PNG, "image/webp", "text/plain"}
)
"""Media types that a browser may show; any other file is saved, since it could run a program."""

_SHOWN_AS_TEXT: Final = frozenset({"text/csv", "text/markdown", "text/tab-separated-values"})
"""Media types that a browser would save, and that it may show as text."""

_PART_BYTES: Final = 64 * 1_024

_RANGE: Final = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
"""A single range (RFC 9110, section 14.1.2). Several ranges are answered with the whole file, as
section 14.2 allows."""

router = APIRouter(prefix="/api/documents/{document_id}", tags=["documents"])


class PictureArguments(Arguments):
    q: Annotated[
        str,
        Field(
            max_length=MAX_QUERY_CHARACTERS,
            description="Query whose words are marked.",
            # With the id, the URL fits into what uvicorn accepts.
            json_schema_extra={"maxLength": 1_000},
        ),
    ] = ""


@router.get(
    "/file",
    response_class=StreamingResponse,
    responses={
        HTTPStatus.OK: {"content": {"application/octet-stream": {}}},
        HTTPStatus.PARTIAL_CONTENT: {"content": {"application/octet-stream": {}}},
    },
)
async def file(request: Request, state: State, document_id: Encoded) -> Response:
    """Read the original file of a document, as it is now, whole or a range of its bytes.

    Of a document made of something within a file, such as an attachment, it is the whole file.
    """
    found = await state.ask(lambda searcher: searcher.document_file(document_id))
    if found is None:
        raise DocumentFileError(document_id, "was not indexed from a file")
    await check_all_visible(state, found)
    closing = ExitStack()
    stream = await opened_original(closing, found, state)
    with closing:
        return _response(request, found, stream, closing)


router.add_api_route("/file", file, methods=["HEAD"], include_in_schema=False)


@router.get(
    "/pages/{page}.png",
    response_class=Response,
    responses={HTTPStatus.OK: {"content": {PNG: {}}}},
)
async def page(
    state: State,
    document_id: Encoded,
    page: Annotated[int, Field(ge=1, le=MAX_COUNT)],
    arguments: Annotated[PictureArguments, Query()],
) -> Response:
    """Show a page of a PDF as a picture, with the words of a query marked.

    The header Document-Changed says that the file is not the one that was indexed.
    """
    indexed, picture = await page_picture(state, document_id, page, arguments.q)
    headers = {"Cache-Control": "private, max-age=60"}
    if picture.content_hash != indexed.content_hash:
        headers["Document-Changed"] = "true"
    return Response(picture.png, headers=headers, media_type=PNG)


async def check_all_visible(state: ServerState, found: DocumentFile) -> None:
    """Check that the request may see all documents that were made of a file.

    A mailbox may have messages of several collections, of which a token sees only some.
    """
    if state.limit() is None:
        return
    count = partial(_chunks_made_of, container=found.container or found.source_document)
    within_budget = Cancellation(state.settings.time_budget)
    if await state.ask(count) < await state.pool.run(count, within_budget, within=None):
        reason = "comes from a file of which this token may see only parts; read its chunks"
        raise DocumentFileError(found.source_document, reason)


def _chunks_made_of(searcher: "Searcher", container: str) -> int:
    """Return the number of chunks of a file's own document and of those within it."""
    # The second is a field only if there is such a document.
    fields = [SOURCE_DOCUMENT, *({CONTAINER} & {*searcher.catalog.field_names()})]
    counts = (
        searcher.search("", filters=[Filter(field, value=container)], limit=1, content="none")
        for field in fields
    )
    return sum(found.totalHits for found in counts)


async def opened_original(
    closing: ExitStack, found: DocumentFile, state: ServerState
) -> BufferedReader:
    """Open the original file of a document, without following a link out of its folder."""
    budget, originals = state.settings.time_budget, state.settings.originals
    try:
        # A thread that waits for a network drive is left behind.
        with anyio.fail_after(budget):
            return await anyio.to_thread.run_sync(
                _open, closing, found, originals, abandon_on_cancel=True
            )
    except TimeoutError as error:
        raise TimeBudgetError(budget) from error


def _open(closing: ExitStack, found: DocumentFile, originals: Originals) -> BufferedReader:
    try:
        stream = closing.enter_context(opened_file(originals.located(found.folder, found.path)))
        if reason := reason_to_withhold(found, stream):
            raise DocumentFileError(found.source_document, reason)
    except (OSError, IrregularFileError) as error:
        raise DocumentFileError(found.source_document, why_not_read(error)) from error
    return stream


def _response(
    request: Request, found: DocumentFile, stream: BufferedReader, closing: ExitStack
) -> Response:
    """Return the file, or the part of it that the client wants."""
    status = os.fstat(stream.fileno())
    tag = f'"{status.st_mtime_ns:x}-{status.st_size:x}"'
    headers = {
        **_as_what(found),
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, no-cache",
        "ETag": tag,
        "Last-Modified": formatdate(status.st_mtime, usegmt=True),
    }
    if request.headers.get("if-none-match") == tag:
        return Response(None, HTTPStatus.NOT_MODIFIED, headers)
    start, end, code = 0, status.st_size, HTTPStatus.OK
    if request.headers.get("if-range", tag) == tag and (
        wanted := _RANGE.fullmatch(request.headers.get("range", ""))
    ):
        part = _part(wanted, status.st_size)
        if part is None:
            return ProblemResponse(
                HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE,
                f"the file has {status.st_size:,} bytes",
                {"Content-Range": f"bytes */{status.st_size}"},
            )
        start, end, code = *part, HTTPStatus.PARTIAL_CONTENT
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{status.st_size}"
    headers["Content-Length"] = str(end - start)
    if request.method == "HEAD":
        return Response(None, code, headers)
    return StreamingResponse(_parts(stream, start, end, closing.pop_all()), code, headers)


def _as_what(found: DocumentFile) -> dict[str, str]:
    """Return the headers by which a browser shows a file or saves it."""
    name = found.path.rpartition("/")[2]
    media_type = "text/plain" if found.media_type in _SHOWN_AS_TEXT else found.media_type
    if found.container:
        # The document's type is that of a part of the file.
        media_type = "application/octet-stream"
    shown = "inline" if media_type in _INLINE else "attachment"
    encoded = quote(name, safe="", errors="replace")
    return {
        "Content-Type": media_type,
        "Content-Disposition": f"{shown}; filename*=UTF-8''{encoded}",
    }


def _part(wanted: re.Match[str], size: int) -> tuple[int, int] | None:
    """Return the start and end of a range, or None if the file has no such bytes."""
    first, last = wanted.groups()
    if first:
        start, end = int(first), min(size, int(last) + 1) if last else size
    elif last:
        # The last bytes.
        start, end = max(0, size - int(last)), size
    else:
        return 0, size
    return (start, end) if start < end else None


async def _parts(
    stream: BufferedReader, start: int, end: int, closing: ExitStack
) -> AsyncIterator[bytes]:
    """Yield the bytes of a file; fewer, which breaks the connection, if it has become shorter."""
    # Starlette would close a plain generator only when it is collected.
    with closing:
        await anyio.to_thread.run_sync(stream.seek, start)
        while start < end:
            part = await anyio.to_thread.run_sync(stream.read, min(_PART_BYTES, end - start))
            if not part:
                return
            start += len(part)
            yield part
