"""Resources: the text of documents and chunks, and facts about the index."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any, Final

from mcp.server.lowlevel.helper_types import ReadResourceContents
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import to_json

from server.answers.errors import LanguageNotFoundError, ResourceNotFoundError, argument_errors
from server.answers.text import (
    DEFAULT_CHARACTERS,
    ENVELOPE_CHARACTERS,
    MAX_CHARACTERS,
    ResourceUri,
    brief,
    cut,
    fenced,
    fenced_answer,
    fenced_parts,
    fitting,
    json_characters,
    shorten_chunk,
)
from server.pictures.page import PNG, page_picture
from server.state import ToolContext, ask
from server.tools.arguments import MaxCharacters
from server.tools.index import index_stats, top_terms
from server.tools.read import joined
from server.tools.table import chosen_tools
from shared.messages import quantity
from shared.model.document import MIN_CHARACTERS_PER_CHUNK, chunk_id
from shared.model.filters import Filter
from shared.model.metadata import LANGUAGE
from shared.model.search_results import ChunkText, without_unknown
from shared.settings.defaults import MAX_COUNT

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher

TEXT: Final = "text/plain"
JSON: Final = "application/json"

_METADATA_BUDGET_DIVISOR: Final = 4  # the metadata of a text take at most this part of a response


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LengthOptions(Options):
    max_characters: MaxCharacters = DEFAULT_CHARACTERS


class PartOptions(LengthOptions):
    start_index: Annotated[int, Field(ge=1, le=MAX_COUNT)] = 1
    count: Annotated[int, Field(ge=1, le=MAX_COUNT)] | None = None  # all that follow


class PageOptions(Options):
    page: Annotated[int, Field(ge=1, le=MAX_COUNT)]
    query: str = ""  # whose words are marked


def _options_of(uri: ResourceUri, model: type[Options]) -> Any:
    try:
        return model.model_validate(dict(uri.options))
    except ValidationError as error:
        raise ResourceNotFoundError(str(uri), argument_errors(error, model)) from error


def _fits_beside(known: dict[str, Any], options: LengthOptions) -> bool:
    """Check whether metadata leaves enough of a response for the text."""
    return (
        len(to_json(fenced_parts(known)).decode())
        <= options.max_characters // _METADATA_BUDGET_DIVISOR
    )


_TOOL: Final = "get_document_chunks"  # name of the tool that can also read on


async def read_document(context: ToolContext, uri: ResourceUri) -> ReadResourceContents:
    """Read the text of a document or of a part of it, without the overlap of chunks.

    The text ends with the last chunk that fits, followed by a notice about reading on.
    """
    options: PartOptions = _options_of(uri, PartOptions)
    start = options.start_index
    most = options.max_characters // MIN_CHARACTERS_PER_CHUNK + 2
    count = most if options.count is None else min(options.count, most)
    answer = await ask(
        context,
        lambda searcher: searcher.document_chunks(uri.name, start_index=start, count=count),
    )
    total = answer.total_chunks
    if not answer.chunks:
        reason = f"the document has {quantity(total, 'chunk')}, but start_index is {start:,}"
        raise ResourceNotFoundError(str(uri), reason)
    first = answer.chunks[0]
    meta: dict[str, Any] = {
        "source_document": uri.name,
        "title": first.title.removesuffix(f" - Part {start}" if total > 1 else ""),
        **({"file_path": first.file_path} if first.file_path else {}),
        "total_chunks": total,
        "start_index": start,
    }
    if not _fits_beside({"title": meta["title"]}, options):
        meta["title"] = brief(meta["title"])
    meta = fenced_answer(meta)
    wanted = total if options.count is None else min(total, start + options.count - 1)
    left = (
        options.max_characters - ENVELOPE_CHARACTERS - len(str(uri)) - len(to_json(meta).decode())
    )
    fitted = joined(answer.chunks, left)
    if is_short := fitted.is_cut or fitted.end < wanted:
        # The URI of the next part appears in the notice and in the metadata.
        fitted = joined(answer.chunks, left - 2 * len(str(uri)))
    meta["end_index"] = fitted.end
    if fitted.end < total:
        meta["next"] = str(ResourceUri(uri.kind, uri.name, {"start_index": str(fitted.end + 1)}))
    notice = _notice(context, options.max_characters, meta) if is_short else ""
    return ReadResourceContents(fenced(fitted.text) + notice, TEXT, meta)


def _notice(context: ToolContext, max_characters: int, meta: Mapping[str, Any]) -> str:
    """Return a notice about the text left out, and the ways to read it."""
    ways = [f"ask for up to {MAX_CHARACTERS:,} characters with max_characters"]
    if "next" in meta:
        if _TOOL in chosen_tools(context.request_context.lifespan_context.settings):
            ways.insert(0, f"call {_TOOL} with start_index {meta['end_index'] + 1}")
        ways.insert(0, f"read {meta['next']}")
    return (
        f"\n\n[To keep this answer under {max_characters:,} characters, it ends with chunk "
        f"{meta['end_index']:,} of {meta['total_chunks']:,}. For more, {', or '.join(ways)}.]"
    )


_MAX_URI_CHARACTERS_FOR_NEIGHBOURS: Final = 5_000
"""Maximum length of a URI with which the response includes URIs of the neighbours, in
characters."""


async def read_chunk(context: ToolContext, uri: ResourceUri) -> ReadResourceContents:
    options: LengthOptions = _options_of(uri, LengthOptions)
    chunk, total = await ask(context, lambda searcher: _find(searcher, uri.name))
    content, known = chunk.content, replace(chunk, content="")
    cuts = []
    if not _fits_beside({"title": chunk.title, "metadata": chunk.metadata}, options):
        known = shorten_chunk(known, 0)
        cuts.append("title and metadata")
    meta = fenced_answer(
        _meta(known, total, with_uris=len(str(uri)) <= _MAX_URI_CHARACTERS_FOR_NEIGHBOURS)
    )
    around = ENVELOPE_CHARACTERS + len(str(uri)) + len(to_json(meta).decode())
    excess = json_characters(fenced(content)) + around - options.max_characters
    if excess > 0:
        content = cut(content, excess)
        cuts.append("the text")
    notice = (
        f"\n\n[To keep this answer under {options.max_characters:,} characters, "
        f"{' and '.join(cuts)} was cut; ask for up to {MAX_CHARACTERS:,} with max_characters.]"
    )
    return ReadResourceContents(fenced(content) + (notice if cuts else ""), TEXT, meta)


def _meta(chunk: ChunkText, total: int, *, with_uris: bool) -> dict[str, Any]:
    """Return the metadata of a chunk, given the number of chunks of its document."""
    meta: dict[str, Any] = without_unknown(asdict(chunk))
    del meta["content"]
    meta["total_chunks"] = total
    if with_uris:
        name, index = chunk.source_document, chunk.chunk_index
        meta["document"] = str(ResourceUri("document", name))
        if index < total:
            meta["next"] = str(ResourceUri("chunk", chunk_id(name, index + 1)))
        if index > 1:
            meta["previous"] = str(ResourceUri("chunk", chunk_id(name, index - 1)))
    return meta


def _find(searcher: Searcher, identifier: str) -> tuple[ChunkText, int]:
    """Return a chunk, and the number of chunks of its document."""
    chunk = searcher.chunk(identifier)
    name, index = chunk.source_document, chunk.chunk_index
    return chunk, searcher.document_chunks(name, start_index=index, count=1).total_chunks


_MAX_LISTED_DOCUMENTS: Final = 100

_LANGUAGE_ENVELOPE_CHARACTERS: Final = 1_500  # for the response besides the documents
_MAX_JSON_CHARACTERS: Final = DEFAULT_CHARACTERS // 2  # since it is quoted in a response


async def read_page(context: ToolContext, uri: ResourceUri) -> ReadResourceContents:
    options: PageOptions = _options_of(uri, PageOptions)
    state = context.request_context.lifespan_context
    _, picture = await page_picture(state, uri.name, options.page, options.query)
    meta = {"source_document": uri.name, "page_start": options.page, "pages": picture.pages}
    return ReadResourceContents(picture.png, PNG, meta)


async def read_statistics(context: ToolContext, uri: ResourceUri) -> ReadResourceContents:
    _options_of(uri, Options)
    return _json(asdict(await index_stats(context, _MAX_JSON_CHARACTERS)))


async def read_field(context: ToolContext, uri: ResourceUri) -> ReadResourceContents:
    _options_of(uri, Options)
    return _json(asdict(await top_terms(context, uri.name, max_characters=_MAX_JSON_CHARACTERS)))


async def read_language(context: ToolContext, uri: ResourceUri) -> ReadResourceContents:
    """Read the list of documents in a language, ordered by id: at most 100."""
    _options_of(uri, Options)
    total, ids = await ask(context, lambda searcher: _in_language(searcher, uri.name))
    documents = [
        {"source_document": name, "uri": str(ResourceUri("document", name))} for name in ids
    ]
    fit = fitting(
        (to_json(entry).decode() for entry in documents),
        DEFAULT_CHARACTERS - _LANGUAGE_ENVELOPE_CHARACTERS,
    )
    left_out = total - fit
    return _json(
        {
            "language": uri.name,
            "total_documents": total,
            "documents": documents[:fit],
            "notice": f"{quantity(left_out, 'more document')} not listed here; find them with "
            f"Search and a filter on {LANGUAGE}"
            if left_out
            else None,
        }
    )


def _in_language(searcher: Searcher, language: str) -> tuple[int, list[str]]:
    known = [*searcher.statistics().languages]
    if language not in known:
        raise LanguageNotFoundError(language, known)
    # Filters on the first chunk find each document once.
    first_chunks = [Filter(LANGUAGE, value=language), Filter("chunk_index", value=1)]
    found = searcher.search(
        "",
        limit=_MAX_LISTED_DOCUMENTS,
        filters=first_chunks,
        content="none",
        sort="source_document",
    )
    return found.totalHits, [hit.source_document for hit in found.results]


def _json(value: dict[str, Any]) -> ReadResourceContents:
    return ReadResourceContents(to_json(fenced_answer(without_unknown(value))).decode(), JSON)
