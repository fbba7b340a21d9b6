"""Pages from templates, with links that hold under any path of a proxy, and words for people."""

import re
from collections.abc import Iterator
from functools import cache
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from mcp.server.auth.middleware.auth_context import get_access_token
from starlette.responses import HTMLResponse, Response

from server.api.endpoint import NOT_CACHED, ProblemResponse
from server.state import ServerState, granted_scopes
from shared.installation import software_version
from shared.messages import quantity
from shared.model.search_results import MARKS, Citation, place_in_file

_MARK: Final = re.compile("|".join(map(re.escape, MARKS)))

_LANGUAGES: Final = {
    "ar": "Arabic",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fa": "Persian",
    "fi": "Finnish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "hu": "Hungarian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sv": "Swedish",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "und": "Undetermined",
    "vi": "Vietnamese",
    "zh": "Chinese",
}
"""English names of frequent languages; others are shown by their code."""

_FILE_TYPES: Final = {
    "application/epub+zip": "E-book",
    "application/json": "JSON",
    "application/msword": "Word",
    "application/pdf": "PDF",
    "application/rtf": "Rich Text",
    "application/vnd.ms-excel": "Excel",
    "application/vnd.ms-outlook": "E-mail",
    "application/vnd.oasis.opendocument.presentation": "OpenDocument slides",
    "application/vnd.oasis.opendocument.spreadsheet": "OpenDocument sheet",
    "application/vnd.oasis.opendocument.text": "OpenDocument text",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "PowerPoint",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "Excel",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "Word",
    "message/rfc822": "E-mail",
    "text/csv": "CSV",
    "text/html": "Web page",
    "text/markdown": "Markdown",
    "text/plain": "Text",
    "text/rtf": "Rich Text",
    "text/x-source": "Source code",
}
"""Names of frequent media types; others are shown as they are."""

_KILO: Final = 1000


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text with marks: each with whether it is marked.

    A document may contain the tags of marks itself, so they need not be balanced.
    """
    is_marked, end = False, 0
    for tag in _MARK.finditer(text):
        if part := text[end : tag.start()]:
            yield part, is_marked
        is_marked, end = tag.group() == MARKS[0], tag.end()
    if part := text[end:]:
        yield part, is_marked


def without_marks(text: str) -> str:
    return _MARK.sub("", text)


def marked(text: str) -> Markup:
    """Return a text as HTML: its marks are elements, everything else is escaped."""
    shown = (
        Markup("<mark>{}</mark>").format(part) if is_marked else Markup.escape(part)
        for part, is_marked in pieces(text)
    )
    return Markup("").join(shown)


def part_of(text: str, start: int = 0, end: int | None = None) -> str:
    """Return a part of a text with marks, whose characters are counted without tags."""
    kept, position = [], 0
    for part, is_marked in pieces(text):
        last = len(part) if end is None else max(0, end - position)
        shown = part[max(0, start - position) : last]
        kept.append(f"{MARKS[0]}{shown}{MARKS[1]}" if is_marked and shown else shown)
        position += len(part)
    return "".join(kept)


def document_title(chunk: Any) -> str:
    """Return the title of a chunk's document: that of a chunk ends with its number."""
    title = str(chunk.title).removesuffix(f" - Part {chunk.chunk_index}")
    return title or str(chunk.source_document)


def place(chunk: Citation) -> str:
    return place_in_file(chunk, "\u2013")


def language_name(code: str) -> str:
    return _LANGUAGES.get(code, code)


def file_type_name(media_type: str) -> str:
    return _FILE_TYPES.get(media_type, media_type)


def day(moment: Any) -> str:
    return str(moment)[:10]


def file_size(size: float) -> str:
    """Return a number of bytes in a readable unit of powers of 1,000."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < _KILO or unit == "GB":
            break
        size /= _KILO
    return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"


def encoded(text: str) -> str:
    """Return a text as one part of a path, with its slashes percent-encoded."""
    return quote(text, safe="")


def page(
    request: Request,
    template: str,
    status: HTTPStatus = HTTPStatus.OK,
    headers: dict[str, str] | None = None,
    **values: Any,
) -> Response:
    text = (
        _environment()
        .get_template(f"{template}.html")
        .render(
            root=root(request.scope["path"]),
            # A token is required, and the request has one.
            is_signed_in=get_access_token() is not None,
            is_administrator=is_administrator(request),
            version=software_version(),
            **values,
        )
    )
    return HTMLResponse(text, status, NOT_CACHED | (headers or {}))


def root(path: str) -> str:
    """Return the way from a path to the root of the server, such as ``../``.

    Links are relative, since a proxy may serve the root under any path.
    """
    return "../" * (path.count("/") - 1) or "./"


def is_administrator(request: Request) -> bool:
    """Check whether the server writes, and the request may have it do so."""
    # Middleware refuses requests before they reach the application that has the state.
    state: ServerState | None = getattr(request.app.state, "server", None)
    return bool(state and state.administration) and "admin" in granted_scopes(request)


@cache
def _environment() -> Environment:
    # It loads Java's classes.
    from shared.search.confidence import confidence_word

    environment = Environment(
        loader=PackageLoader("server.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "confidence": confidence_word,
        "day": day,
        "file_size": file_size,
        "file_type": file_type_name,
        "language": language_name,
        "marked": marked,
        "part": encoded,
        "place": place,
        "quantity": quantity,
        "title": document_title,
    }
    # The address of a file changes with the version, which browsers keep.
    environment.globals["asset"] = lambda name: f"static/{name}?v={software_version()}"
    return environment


_FOR_PROGRAMS: Final = ("/api/", "/search", "/index/", "/static/")  # whose errors are problems

_TITLES: Final = {
    HTTPStatus.BAD_REQUEST: "This cannot be searched",
    HTTPStatus.FORBIDDEN: "This is not allowed",
    HTTPStatus.NOT_FOUND: "Nothing is here",
    HTTPStatus.SERVICE_UNAVAILABLE: "The index cannot be searched now",
    HTTPStatus.UNPROCESSABLE_ENTITY: "This address is not understood",
}


def as_page(request: Request, answer: Response, *, is_foreign: bool = False) -> Response:
    """Return a problem as a page if the request asks for a page, else as it is.

    For people whom a page of another site has sent there the page has a link to the same address.
    """
    path = request.scope["path"]
    is_for_people = "text/html" in request.headers.get("accept", "")
    if not (
        isinstance(answer, ProblemResponse) and is_for_people and not path.startswith(_FOR_PROGRAMS)
    ):
        return answer
    status = HTTPStatus(answer.status_code)
    kept = {
        name: value
        for name, value in answer.headers.items()
        if name in {"allow", "retry-after", "www-authenticate"}
    }
    title = _TITLES.get(status, status.phrase)
    return page(
        request, "error", status, kept, title=title, detail=answer.detail, is_foreign=is_foreign
    )
