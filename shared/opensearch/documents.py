"""Chunks and documents of an index on a cluster: by id, in order, listed."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from shared.errors import ChunkNotFoundError, DocumentNotFoundError
from shared.model import schema
from shared.model.chunks import chunk_id as id_of_chunk
from shared.model.document import FileState
from shared.model.index_results import (
    DocumentDetails,
    DocumentFile,
    DocumentList,
    DocumentSummary,
)
from shared.model.metadata import MODIFIED
from shared.model.request import DocumentSort
from shared.model.search_results import ChunkText, DocumentChunks, Neighbour
from shared.opensearch import layout
from shared.opensearch.queries import IS_CHUNK, IS_FILE, of_documents, visible
from shared.opensearch.snapshot import ClusterSnapshot
from shared.reading.documents import described, file_of, title_key
from shared.settings.defaults import MAX_COUNT
from shared.storage.mapping import unpack
from shared.storage.stored_chunks import from_lucene, summary_from_lucene

FIRST_CHUNK: Final = {"term": {schema.CHUNK_INDEX: 1}}
"""Condition that a chunk is the first one of its document, which represents the document."""

_MOST_PER_PAGE: Final = 10_000
_MOST_SUGGESTIONS: Final = 3
_LONGEST_MISSPELLED: Final = 200
_CHUNK_ID: Final = re.compile(r"(.+)-chunk-\d+", re.DOTALL)

Stored = Mapping[str, Any]


def find_chunk(snapshot: ClusterSnapshot, chunk_id: str) -> ChunkText:
    """Return the chunk with an id.

    Raises:
        ChunkNotFoundError: no chunk has the id.
    """
    conditions: list[Any] = [{"term": {schema.ID: schema.keyword(chunk_id)}}]
    if spellings := schema.any_spelling(chunk_id):
        conditions.append({"regexp": {schema.ID: {"value": spellings}}})
    for condition in conditions:
        query = snapshot.visible(condition)
        for stored in stored_in_order(snapshot, query, [{schema.CHUNK_INDEX: "asc"}], 1):
            return from_lucene(stored, snapshot.folders)
    raise ChunkNotFoundError(chunk_id, _similar_chunk_ids(snapshot, chunk_id))


def next_chunk(snapshot: ClusterSnapshot, chunk_id: str) -> Neighbour:
    """Return the chunk after another one in the same document; raises as `find_chunk`."""
    here = find_chunk(snapshot, chunk_id)
    after = _in_order(snapshot, here.source_document, here.chunk_index + 1, limit=2)
    if not after:
        return Neighbour(None, has_next=False, has_previous=True)
    return Neighbour(after[0], has_next=len(after) > 1, has_previous=True)


def previous_chunk(snapshot: ClusterSnapshot, chunk_id: str) -> Neighbour:
    """Return the chunk before another one in the same document; raises as `find_chunk`."""
    here = find_chunk(snapshot, chunk_id)
    last = here.chunk_index - 1
    before = _in_order(snapshot, here.source_document, 1, last, limit=2, order="desc")
    if not before:
        return Neighbour(None, has_next=True, has_previous=False)
    return Neighbour(before[0], has_next=True, has_previous=len(before) > 1)


def document_chunks(
    snapshot: ClusterSnapshot, source_document: str, start_index: int, count: int | None
) -> DocumentChunks:
    """Return chunks of a document in order, from number `start_index` on.

    Raises:
        DocumentNotFoundError: there is no such document.
    """
    total = chunk_count(snapshot, source_document)
    if not total and (spellings := schema.any_spelling(source_document)):
        spelled = {"regexp": {schema.SOURCE_DOCUMENT: {"value": spellings}}}
        query = snapshot.visible(spelled, FIRST_CHUNK)
        for stored in stored_in_order(snapshot, query, [{schema.SOURCE_DOCUMENT: "asc"}], 1):
            source_document = str(stored[schema.SOURCE_DOCUMENT])
            total = chunk_count(snapshot, source_document)
    if not total:
        raise DocumentNotFoundError(source_document, _similar_ids(snapshot, source_document))
    limit = total if count is None else min(count, total)
    chunks = _in_order(snapshot, source_document, start_index, limit=limit)
    return DocumentChunks(source_document, total, chunks)


def chunk_count(snapshot: ClusterSnapshot, source_document: str) -> int:
    """Return the number of chunks of a document; 0 if there is no such document."""
    return snapshot.count(snapshot.visible(of_documents([source_document])))


def chunks_of_page(snapshot: ClusterSnapshot, source_document: str, page: int) -> range:
    """Return the numbers of the chunks with text of a page; raises as `document_chunks`."""
    chunks = document_chunks(snapshot, source_document, 1, None).chunks
    first = bisect_left(chunks, page, key=lambda chunk: chunk.page_end or 0)
    end = bisect_right(chunks, page, lo=first, key=lambda chunk: chunk.page_start or 0)
    return range(1, len(chunks) + 1)[first:end]


def _in_order(
    snapshot: ClusterSnapshot,
    source_document: str,
    first: int,
    last: int = MAX_COUNT,
    *,
    limit: int,
    order: str = "asc",
) -> list[ChunkText]:
    if first > MAX_COUNT:
        return []
    numbers = {"range": {schema.CHUNK_INDEX: {"gte": first, "lte": last}}}
    query = snapshot.visible(of_documents([source_document]), numbers)
    found = stored_in_order(snapshot, query, [{schema.CHUNK_INDEX: order}], limit)
    return [from_lucene(stored, snapshot.folders) for stored in found]


def stored_in_order(
    snapshot: ClusterSnapshot, query: Mapping[str, Any], order: Sequence[Any], limit: int | None
) -> Iterator[Stored]:
    """Yield what is stored of the first documents of the cluster in an order, page by page.

    Args:
        snapshot: the state of the index.
        query: the documents.
        order: the order.
        limit: the maximum number; None for all.
    """
    after: list[Any] | None = None
    left = limit
    while left is None or left > 0:
        size = _MOST_PER_PAGE if left is None else min(left, _MOST_PER_PAGE)
        body: dict[str, Any] = {"query": query, "size": size, "sort": order, "_source": ["stored"]}
        if after is not None:
            body["search_after"] = after
        (answer,) = snapshot.search([body])
        hits = answer["hits"]["hits"]
        for hit in hits:
            yield hit["_source"]["stored"]
        if len(hits) < size:
            return
        after = hits[-1]["sort"]
        left = None if left is None else left - size


def all_stored(
    snapshot: ClusterSnapshot, query: Mapping[str, Any], order: Sequence[Any]
) -> Iterator[Stored]:
    """Yield what is stored of all documents of the cluster that a query matches, in an order.

    However long that takes, they are as they were at the beginning.
    """
    for hit in snapshot.every(query, size=_MOST_PER_PAGE, sort=order, _source=["stored"]):
        yield hit["_source"]["stored"]


def summaries(
    snapshot: ClusterSnapshot, query: Mapping[str, Any], order: Sequence[Any], limit: int | None
) -> Iterator[DocumentSummary]:
    """Yield the summaries of documents whose first chunks match a query."""
    found = (
        all_stored(snapshot, query, order)
        if limit is None
        else stored_in_order(snapshot, query, order, limit)
    )
    for stored in found:
        yield summary_from_lucene(stored, snapshot.folders)


def prefix_condition(field: str, prefix: str) -> dict[str, Any]:
    """Return a condition on the chunks whose value of a keyword field has a prefix.

    Raises:
        InvalidTextError: the prefix is not valid Unicode.
    """
    if not prefix:
        return dict(IS_CHUNK)
    if spellings := schema.any_spelling(prefix):
        return {"regexp": {layout.field(field): {"value": f"{spellings}.*"}}}
    return {"prefix": {layout.field(field): schema.keyword_prefix(prefix)}}


def list_documents(
    snapshot: ClusterSnapshot, prefix: str, offset: int, limit: int | None, sort: DocumentSort
) -> DocumentList:
    """List documents; see `shared.reading.searcher.Searcher.documents`."""
    having = prefix_condition(schema.SOURCE_DOCUMENT, prefix)
    documents = snapshot.visible(having, FIRST_CHUNK)
    end = None if limit is None else offset + limit
    name, is_descending = sort.removeprefix("-"), sort.startswith("-")
    direction = "desc" if is_descending else "asc"
    # Before the list, which may take longer than a call goes by one state.
    total_documents = snapshot.count(documents)
    total_chunks = snapshot.count(snapshot.visible(having))
    by_id = [{schema.SOURCE_DOCUMENT: "asc"}]
    if name in {"title", "chunks"}:
        every = list(summaries(snapshot, documents, by_id, None))
        every.sort(
            key=lambda of: title_key(of.title) if name == "title" else of.chunk_count,
            reverse=is_descending,
        )
        found = every[offset:end]
    else:
        order: list[Any] = [{schema.SOURCE_DOCUMENT: direction}]
        modified = schema.metadata_field(MODIFIED)
        if name == MODIFIED and modified in snapshot.known.fields:
            mode = "max" if is_descending else "min"
            by = {"order": direction, "mode": mode, "missing": "_last"}
            order = [{layout.field(modified): by}, *by_id]
        elif name == MODIFIED:
            order = by_id
        found = list(islice(summaries(snapshot, documents, order, end), offset, None))
    return DocumentList(total_documents=total_documents, total_chunks=total_chunks, documents=found)


def document_details(snapshot: ClusterSnapshot, source_document: str) -> DocumentDetails:
    """Return the details of a document; raises as `document_chunks`."""
    answer = document_chunks(snapshot, source_document, 1, 1)
    source_document, total, (first,) = answer.source_document, answer.total_chunks, answer.chunks
    (last,) = document_chunks(snapshot, source_document, total, 1).chunks
    stored = _first_stored(snapshot, source_document)
    return described(first, last, total, stored, snapshot.folders)


def document_file(snapshot: ClusterSnapshot, source_document: str) -> DocumentFile | None:
    """Return the file that a document was made from, if any; raises as `document_chunks`."""
    (first,) = document_chunks(snapshot, source_document, 1, 1).chunks
    source_document = first.source_document
    state = file_states(snapshot, of_documents([source_document])).get(source_document)
    return file_of(first, _first_stored(snapshot, source_document), state, snapshot.folders)


def _first_stored(snapshot: ClusterSnapshot, source_document: str) -> Stored:
    query = snapshot.visible(of_documents([source_document]), FIRST_CHUNK)
    (stored,) = stored_in_order(snapshot, query, [{schema.CHUNK_INDEX: "asc"}], 1)
    return stored


def file_states(snapshot: ClusterSnapshot, *conditions: Any) -> dict[str, FileState]:
    """Return the state of each file by the id of its document, whatever the call may see."""
    query = visible(snapshot.state, IS_FILE, *conditions)
    # That of the last batch is the newest.
    order = [{layout.BATCH: "asc"}, {schema.SOURCE_DOCUMENT: "asc"}]
    # Earlier ones are deleted at once, unlike chunks: only the newest state of the index will do.
    found = all_stored(snapshot.read(None), query, order)
    return dict(unpack(stored[schema.FILE_STATE]) for stored in found)


def files(snapshot: ClusterSnapshot) -> dict[str, FileState]:
    """Return the state of each file that the call may see by the id of its document."""
    states = file_states(snapshot)
    if not snapshot.limits.names:
        return states
    seen = document_terms(snapshot)
    return {name: state for name, state in states.items() if schema.keyword(name) in seen}


def document_terms(snapshot: ClusterSnapshot) -> set[str]:
    """Return the terms of the document ids."""
    hits = snapshot.every(
        snapshot.visible(FIRST_CHUNK), _source=False, docvalue_fields=[schema.SOURCE_DOCUMENT]
    )
    return {str(hit["fields"][schema.SOURCE_DOCUMENT][0]) for hit in hits}


def _similar_ids(snapshot: ClusterSnapshot, source_document: str) -> list[str]:
    """Return at most three document ids similar to one that does not exist."""
    chunk = _CHUNK_ID.fullmatch(source_document)
    if chunk and chunk_count(snapshot, chunk[1]):
        return [chunk[1]]
    if not source_document.strip() or len(source_document) > _LONGEST_MISSPELLED:
        return []
    name = source_document.replace("\\", "/").rsplit("/", 1)[-1] or source_document
    escaped = "".join(f"\\{sign}" if sign in r"\*?" else sign for sign in name)
    containing = {"value": f"*{escaped}*", "case_insensitive": True}
    for condition in (
        {"fuzzy": {schema.SOURCE_DOCUMENT: {"value": source_document, "fuzziness": 2}}},
        {"wildcard": {schema.SOURCE_DOCUMENT: containing}},
    ):
        query = {"bool": {"must": [condition], "filter": [snapshot.visible(FIRST_CHUNK)]}}
        order = ["_score", {schema.SOURCE_DOCUMENT: "asc"}]
        found = [
            str(stored[schema.SOURCE_DOCUMENT])
            for stored in stored_in_order(snapshot, query, order, _MOST_SUGGESTIONS)
        ]
        if found:
            return found
    return []


def _similar_chunk_ids(snapshot: ClusterSnapshot, wanted: str) -> list[str]:
    """Return at most three chunk ids similar to one that does not exist."""
    chunk = _CHUNK_ID.fullmatch(wanted)
    document = chunk[1] if chunk else wanted
    count = chunk_count(snapshot, document)
    if not count:
        return [id_of_chunk(near, 1) for near in _similar_ids(snapshot, document)]
    return [id_of_chunk(document, number) for number in sorted({1, count})]
