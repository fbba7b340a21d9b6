"""Documents of an index, and the files that are missing from it: lists and details."""

import unicodedata
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeVar

from shared.errors import DocumentDamagedError
from shared.model import index_results as results, metadata, schema
from shared.model.failures import load_failures
from shared.model.metadata import MODIFIED
from shared.model.request import BY_ID, DocumentSort
from shared.query.filters import beginning_with
from shared.query.tree import Everything, Node, Values
from shared.reading.backend import FIRST_CHUNK, Backend, Stored, chunks_of, first_of
from shared.reading.chunks import document_chunks
from shared.storage.stored_chunks import SUMMARY_FIELDS, details_of, summary_from_lucene

Chunk = TypeVar("Chunk")

_MAX_TITLE_KEY_CHARACTERS: Final = 100
"""Number of characters of a title that are compared when sorting."""

_MAX_PREVIEW_CHARACTERS: Final = 300

_BLOCK: Final = 1_000
"""Number of documents that are looked up by their ids at once."""


def list_documents(
    backend: Backend, prefix: str, offset: int, limit: int | None, sort: DocumentSort
) -> results.DocumentList:
    """List documents; see `shared.reading.searcher.Searcher.documents`."""
    chunks = with_prefix(prefix)
    documents = first_of(chunks) if prefix else FIRST_CHUNK
    # Counted first: on a cluster a long list may take longer than the index stays the same.
    totals = backend.count(documents), backend.count(chunks)
    name, end = sort.removeprefix("-"), None if limit is None else offset + limit
    if name in {"title", "chunks"}:
        known = _sort_keys(backend, documents) if prefix else backend.once(_all_sort_keys)
        keys = known.titles if name == "title" else known.chunks
        # Python's sort is stable, also in reverse, so that ties stay in the order of the ids.
        order = sorted(range(len(keys)), key=keys.__getitem__, reverse=sort.startswith("-"))
        found = _by_id(backend, [known.ids[place] for place in order[offset:end]])
    else:
        if name == MODIFIED and schema.metadata_field(MODIFIED) not in backend.fields:
            sort = BY_ID
        found = summaries(backend, documents, sort, offset, limit)
    return results.DocumentList(*totals, list(found))


def with_prefix(prefix: str) -> Node:
    """Return a tree for the chunks of the documents whose id has a prefix."""
    return beginning_with(schema.SOURCE_DOCUMENT, prefix) if prefix else Everything()


def summaries(
    backend: Backend, tree: Node, sort: str = BY_ID, offset: int = 0, limit: int | None = None
) -> Iterator[results.DocumentSummary]:
    """Yield the summaries of documents whose first chunks a tree matches."""
    for stored in backend.stored(tree, SUMMARY_FIELDS, sort, offset, limit):
        yield summary_from_lucene(stored, backend.folders)


def _by_id(backend: Backend, ids: Sequence[str]) -> Iterator[results.DocumentSummary]:
    """Yield the summaries of documents in the order of their ids in a list."""
    for begin in range(0, len(ids), _BLOCK):
        block = ids[begin : begin + _BLOCK]
        documents = Values(schema.SOURCE_DOCUMENT, tuple(map(schema.keyword, block)))
        found = {of.source_document: of for of in summaries(backend, first_of(documents))}
        yield from (found[id_] for id_ in block if id_ in found)


class _SortKeys(NamedTuple):
    """What documents are sorted by that is only stored, each at the place of its document."""

    ids: Sequence[str]  # in alphabetical order
    titles: Sequence[int]  # ranks
    chunks: Sequence[int]


def _all_sort_keys(backend: Backend) -> _SortKeys:
    """Read the titles and the numbers of chunks of all documents, 3 s for 100,000 of them."""
    return _sort_keys(backend, FIRST_CHUNK)


def _sort_keys(backend: Backend, documents: Node) -> _SortKeys:
    # In the order of the index: neighbours are stored and compressed together.
    every = [
        (str(stored.get(schema.SOURCE_DOCUMENT)), _title_key(details.title), details.chunk_count)
        for stored in backend.stored(documents, SUMMARY_FIELDS)
        if (details := details_of(stored))
    ]
    every.sort()
    titles = {title: rank for rank, title in enumerate(sorted({title for _, title, _ in every}))}
    return _SortKeys(
        [id_ for id_, _, _ in every],
        array("i", (titles[title] for _, title, _ in every)),
        array("i", (count for _, _, count in every)),
    )


def _title_key(title: str) -> str:
    """Return a title without case and accents, which are ignored when sorting."""
    plain = unicodedata.normalize("NFKD", title[:_MAX_TITLE_KEY_CHARACTERS])
    return "".join(sign for sign in plain if not unicodedata.combining(sign)).casefold()


def list_failures(backend: Backend, offset: int, limit: int | None) -> results.FailureList:
    """List failures in the order of their ids; see `shared.reading.searcher.Searcher.failures`."""
    if backend.is_part:
        return results.FailureList(0, [])
    failures = sorted(load_failures(backend.path).items())
    shown = failures[offset:] if limit is None else failures[offset : offset + limit]
    folders = backend.folders
    return results.FailureList(
        len(failures),
        [
            results.FailedFile(
                source_document=name,
                file_path=folders.file_path(failure.folder, failure.path) or failure.path,
                kind=failure.kind,
                reason=failure.reason,
                tried=failure.tried,
            )
            for name, failure in shown
        ],
    )


def document_details(backend: Backend, source_document: str) -> results.DocumentDetails:
    """Return the details of a document, or raise `DocumentNotFoundError`."""
    answer = document_chunks(backend, source_document, 1, 1)
    source_document, total = answer.source_document, answer.total_chunks
    first = _found(backend, source_document, answer.chunks)
    end = document_chunks(backend, source_document, total, 1)
    last = _found(backend, source_document, end.chunks)
    stored = _first_stored(backend, source_document)
    summary = summary_from_lucene(stored, backend.folders)
    language = summary.metadata.get(metadata.LANGUAGE)
    return results.DocumentDetails(
        source_document=source_document,
        title=summary.title,
        chunk_count=total,
        language=language if isinstance(language, str) else None,
        words=details_of(stored).words or 0,
        characters=last.char_end,
        preview=_preview(first.content.strip()),
        metadata=summary.metadata,
        file_path=summary.file_path,
    )


def document_file(backend: Backend, source_document: str) -> results.DocumentFile | None:
    """Return the file of a document; None if it was not made from a file of the indexed folders."""
    source_document = document_chunks(backend, source_document, 1, 1).source_document
    details, folders = details_of(_first_stored(backend, source_document)), backend.folders
    file_path = folders.file_path(details.folder, details.file_path)
    folder = None if details.folder is None else folders.path_of(details.folder)
    media_type, content_hash, left_out = (
        details.metadata.get(key)
        for key in (metadata.FILE_TYPE, metadata.CONTENT_HASH, metadata.LEFT_OUT)
    )
    if (
        file_path is None
        or details.file_path is None
        or (details.folder is not None and folder is None)
        or not isinstance(media_type, str)
        or not isinstance(content_hash, str)
    ):
        return None
    state = backend.file_states(source_document).get(source_document)
    return results.DocumentFile(
        source_document=source_document,
        title=details.title,
        file_path=file_path,
        folder=folder,
        path=details.file_path,
        media_type=media_type,
        content_hash=content_hash,
        size=state.size if state else None,
        modified_ns=state.modified_ns or None if state else None,
        container=state.container if state else None,
        file_hash=state.content_hash if state else None,
        left_out=left_out if isinstance(left_out, int) else None,
    )


def _first_stored(backend: Backend, source_document: str) -> Stored:
    first = first_of(chunks_of(source_document))
    return _found(backend, source_document, backend.stored(first, SUMMARY_FIELDS, limit=1))


def _found(backend: Backend, source_document: str, chunks: Iterable[Chunk]) -> Chunk:
    """Return the chunk of a document that was asked for, which a damaged one may lack."""
    for chunk in chunks:
        return chunk
    raise DocumentDamagedError(backend.path, source_document, "a chunk is missing")


def _preview(text: str) -> str:
    """Return the first words of a text."""
    if len(text) <= _MAX_PREVIEW_CHARACTERS:
        return text
    words = text[: _MAX_PREVIEW_CHARACTERS + 1].rsplit(None, 1)
    return f"{words[0][:_MAX_PREVIEW_CHARACTERS]}…"
