"""The tools `search` and `fetch`, the pair that some assistants require of every connector.

Their arguments and results are those that OpenAI requires for deep research and connectors.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import quote

from pydantic import Field
from pydantic_core import to_json

from server.answers.text import (
    DEFAULT_CHARACTERS,
    ENVELOPE_CHARACTERS,
    ResourceUri,
    brief,
    check_room,
    fenced_parts,
    fit,
)
from server.state import ServerState, ToolContext, ask
from server.tools.read import joined
from shared.errors import ChunkNotFoundError
from shared.model.document import MIN_CHARACTERS_PER_CHUNK, chunk_id
from shared.model.request import SearchRequest
from shared.model.search_results import ChunkText, Citation, DocumentChunks

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher

_MAX_CHUNKS: Final = DEFAULT_CHARACTERS // MIN_CHARACTERS_PER_CHUNK + 2  # that fit into an answer
_MAX_METADATA_KEYS: Final = 12  # metadata keys of a text, besides its place

_NEXT: Final = "next"


@dataclass(frozen=True)
class FoundItem:
    id: str
    title: str
    url: str


@dataclass(frozen=True)
class FoundItems:
    results: list[FoundItem]  # best first


@dataclass(frozen=True)
class FetchedItem:
    id: str
    title: str
    text: str  # of the document, or of a part of it
    url: str
    metadata: dict[str, str]


async def search(
    context: ToolContext,
    query: Annotated[
        str, Field(description="A few specific words, in the language of the documents.")
    ],
) -> FoundItems:
    """Search the user's documents and return the best part of each by id and address, best first.

    Use this first for any question that the documents may answer, then read results with fetch.
    """
    request = SearchRequest(query, content="none", group="document", versions="newest")
    state = context.request_context.lifespan_context
    answer = await state.search(request, context.report_progress)
    items = [
        FoundItem(hit.id, brief(hit.title), _url(state, hit.source_document, hit.chunk_index))
        for hit in answer.results
    ]
    # Without a field for a notice, those that do not fit are left out.
    return FoundItems(fit(items, DEFAULT_CHARACTERS)[0])


async def fetch(
    context: ToolContext,
    id: Annotated[str, Field(min_length=1, description="id of a result of search.")],  # noqa: A002 - assistants require the name
) -> FetchedItem:
    """Read the text of a result of search; cite its url.

    Use this to answer from a document. A short document is read as a whole, a long one from the
    result on: next in metadata is then the id to read on with.
    """
    check_room(id, DEFAULT_CHARACTERS)
    state = context.request_context.lifespan_context
    whole, rest = await ask(context, lambda searcher: _read(searcher, id))
    first = rest.chunks[0]
    name, index, total = rest.source_document, first.chunk_index, rest.total_chunks
    title = brief(first.title.removesuffix(f" - Part {index}" if total > 1 else ""))
    url = _url(state, name, index)
    metadata = dict(_metadata(first)) | {_NEXT: chunk_id(name, total)}
    others = to_json(fenced_parts({"id": id, "title": title, "url": url, "metadata": metadata}))
    room = DEFAULT_CHARACTERS - ENVELOPE_CHARACTERS - len(others.decode())
    text = joined(whole.chunks, room)
    if text.is_cut or text.end < total:
        text = joined(rest.chunks, room)
    if text.end < total:
        metadata[_NEXT] = chunk_id(name, text.end + 1)
    else:
        del metadata[_NEXT]
    return FetchedItem(id, title, text.text, url, metadata)


def _read(searcher: "Searcher", name: str) -> tuple[DocumentChunks, DocumentChunks]:
    """Return the chunks of a document from its beginning, and from the named chunk on."""
    try:
        chunk = searcher.chunk(name)
    except ChunkNotFoundError:
        whole = searcher.document_chunks(name, count=_MAX_CHUNKS)
        return whole, whole
    document, start = chunk.source_document, chunk.chunk_index
    whole = searcher.document_chunks(document, count=_MAX_CHUNKS)
    return whole, searcher.document_chunks(document, start_index=start, count=_MAX_CHUNKS)


def _url(state: ServerState, source_document: str, index: int) -> str:
    """Return the address of a chunk: a page of the server, over stdio the URI of its resource."""
    if state.public_base is None:
        return str(ResourceUri("chunk", chunk_id(source_document, index)))
    return f"{state.public_base}/documents/{quote(source_document, safe='')}?chunk={index}"


def _metadata(chunk: ChunkText) -> Iterator[tuple[str, str]]:
    """Yield the place and the metadata of a chunk as texts, which some assistants require."""
    plain = asdict(chunk)
    places = ["source_document", *(field.name for field in fields(Citation))]
    yield from ((name, str(plain[name])) for name in places if plain[name] is not None)
    for key, value in islice(chunk.metadata.items(), _MAX_METADATA_KEYS):
        values = value if isinstance(value, list) else [value]
        yield key, brief(", ".join(map(str, values)))
