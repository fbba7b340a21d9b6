"""Documents as resources: the text, in parts if it is long."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic_core import to_json

from server.answers.errors import ResourceNotFoundError
from server.answers.fence import fenced, fenced_answer
from server.answers.joining import joined
from server.answers.text import MAX_CHARACTERS, brief
from server.answers.uris import ResourceUri
from server.resources.contents import Contents, PartOptions, fits_beside, options_of
from server.runtime.state import ToolContext, ask
from server.tools.table import chosen_tools
from shared.messages import quantity
from shared.model.chunks import MIN_CHARACTERS_PER_CHUNK

_DOCUMENT_ENVELOPE_CHARACTERS: Final = 1_000
"""Characters reserved for the rest of the response, including the notice, besides ids and URIs."""

_TOOL: Final = "get_document_chunks"
"""Name of the tool that can also read on."""


async def read_document(context: ToolContext, uri: ResourceUri) -> Contents:
    """Read the text of a document or of a part of it, without the overlap of chunks.

    The text ends with the last chunk that fits, followed by a notice about reading on.

    Raises:
        DocumentNotFoundError: the document does not exist.
        ResourceNotFoundError: an option is invalid, or the part does not exist.
    """
    options: PartOptions = options_of(uri, PartOptions)
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
    if not fits_beside({"title": meta["title"]}, options):
        meta["title"] = brief(meta["title"])
    meta = fenced_answer(meta)
    wanted = total if options.count is None else min(total, start + options.count - 1)
    left = (
        options.max_characters
        - _DOCUMENT_ENVELOPE_CHARACTERS
        - len(str(uri))
        - len(to_json(meta).decode())
    )
    fitted = joined(answer.chunks, left)
    if is_short := fitted.is_cut or fitted.end < wanted:
        # The URI of the next part appears in the notice and in the metadata.
        fitted = joined(answer.chunks, left - 2 * len(str(uri)))
    meta["end_index"] = fitted.end
    if fitted.end < total:
        meta["next"] = str(ResourceUri(uri.kind, uri.name, {"start_index": str(fitted.end + 1)}))
    notice = _notice(context, options.max_characters, meta) if is_short else ""
    return Contents(fenced(fitted.text) + notice, meta=meta)


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
