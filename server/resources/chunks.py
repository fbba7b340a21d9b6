"""Chunks as resources: the text, with its position and neighbours as metadata."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import to_json

from server.answers.budget import shorten_chunk
from server.answers.fence import fenced, fenced_answer
from server.answers.text import MAX_CHARACTERS, cut, json_characters
from server.answers.uris import ResourceUri
from server.resources.contents import Contents, LengthOptions, fits_beside, options_of
from server.runtime.state import ToolContext, ask
from shared.model.chunks import chunk_id
from shared.model.search_results import ChunkText, without_unknown

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher

_CHUNK_ENVELOPE_CHARACTERS: Final = 1_000
"""Characters reserved for the rest of the response, including the notice, besides ids and URIs."""

_MAX_URI_CHARACTERS_FOR_NEIGHBOURS: Final = 5_000
"""Maximum length of a URI with which the response includes URIs of the neighbours, in
characters."""


async def read_chunk(context: ToolContext, uri: ResourceUri) -> Contents:
    """Read the text of a chunk.

    Raises:
        ChunkNotFoundError: the chunk does not exist.
        ResourceNotFoundError: an option is invalid.
    """
    options: LengthOptions = options_of(uri, LengthOptions)
    chunk, total = await ask(context, lambda searcher: _find(searcher, uri.name))
    content, known = chunk.content, replace(chunk, content="")
    cuts = []
    if not fits_beside({"title": chunk.title, "metadata": chunk.metadata}, options):
        known = shorten_chunk(known, 0)
        cuts.append("title and metadata")
    meta = fenced_answer(
        _meta(known, total, with_uris=len(str(uri)) <= _MAX_URI_CHARACTERS_FOR_NEIGHBOURS)
    )
    around = _CHUNK_ENVELOPE_CHARACTERS + len(str(uri)) + len(to_json(meta).decode())
    excess = json_characters(fenced(content)) + around - options.max_characters
    if excess > 0:
        content = cut(content, excess)
        cuts.append("the text")
    notice = (
        f"\n\n[To keep this answer under {options.max_characters:,} characters, "
        f"{' and '.join(cuts)} was cut; ask for up to {MAX_CHARACTERS:,} with max_characters.]"
    )
    return Contents(fenced(content) + (notice if cuts else ""), meta=meta)


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
