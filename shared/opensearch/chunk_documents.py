"""Documents of the cluster for the chunks of a document, and their way to it.

They are sent while the next ones are prepared.
"""

import hashlib
import math
import time
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from shared.analysis.analyzers import analyzer_of, positions_of
from shared.analysis.languages import UNDETERMINED
from shared.errors import (
    ClusterBusyError,
    ClusterRefusedError,
    InvalidDocumentError,
    McpLuceneError,
)
from shared.model import schema
from shared.model.document import Chunk, Document, FileState, Place
from shared.opensearch import layout
from shared.opensearch.connection import Operation
from shared.opensearch.state import Query, file_version_of, version_of
from shared.opensearch.store import Store
from shared.semantic.sentence_model import SentenceModel
from shared.storage.fingerprints import Fingerprinter
from shared.storage.mapping import (
    chunk_search_texts,
    details_for,
    document_search_texts,
    document_values,
    language_of_chunk,
    pack,
)

KEYWORDS: Final = frozenset((schema.SECTION, schema.LANGUAGES))
"""Search texts that are whole values."""


def chunk_operations(
    batch: int, document: Document, placed: Iterable[tuple[Chunk, Place]]
) -> Iterator[Operation]:
    """Yield the operations by which a batch writes chunks of a document, each with its place."""
    common = _common(document)
    version = version_of(batch, document.id)
    details = None
    fingerprinter = Fingerprinter()
    for chunk, place in placed:
        details = details or details_for(document, chunk)
        made = {**common, **_search_fields(document, chunk, place)}
        if keys := made.pop(schema.SECTION, None):
            key = layout.field(schema.metadata_field(schema.SECTION)).partition(".")[2]
            made[schema.METADATA] = {**made.get(schema.METADATA, {}), key: keys}
        made[schema.ID] = schema.keyword(chunk.id)
        made[schema.CHUNK_INDEX] = chunk.index
        made |= {layout.BATCH: batch, layout.VERSION: version}
        made["stored"] = {
            schema.ID: chunk.id,
            schema.TITLE: chunk.title,
            schema.CONTENT: chunk.content,
            schema.SOURCE_DOCUMENT: chunk.source_document,
            schema.CHUNK_INDEX: chunk.index,
            schema.DETAILS: details(place),
        }
        fingerprinter.add(chunk.content)
        if chunk.index == chunk.count:
            fingerprint = fingerprinter.fingerprint
            made[schema.FINGERPRINT] = fingerprint.terms
            made["stored"][schema.FINGERPRINT] = b64encode(fingerprint.dump()).decode()
        yield {"index": {"_id": document_id(batch, chunk.id)}}, made


def _search_fields(document: Document, chunk: Chunk, place: Place) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    section = str(place.get("section", ""))
    language = language_of_chunk(document, chunk.content)
    for name, text in chunk_search_texts(document, chunk.content, language, section):
        if name in KEYWORDS:
            found.setdefault(name, []).append(text)
        elif name in (schema.REVERSED, schema.DIGITS):
            found[layout.field(name)] = _distinct(analyzed(name, text))
        else:
            found[name] = analyzed(name, text, language)
    return found


def _common(document: Document) -> dict[str, Any]:
    """Return the fields that all chunks of a document share."""
    common: dict[str, Any] = {schema.SOURCE_DOCUMENT: schema.keyword(document.id)}
    for name, text in document_search_texts(document):
        common[layout.field(name)] = analyzed(name, text)
    for name, value in document_values(document):
        prefix, _, key = layout.field(name).partition(".")
        common.setdefault(prefix, {}).setdefault(key, []).append(value)
    return common


def analyzed(name: str, text: str, language: str = UNDETERMINED) -> str:
    """Return the terms of a text in a field of the schema, with blanks between their positions."""
    made = positions_of(analyzer_of(name, language), text)
    positions = (
        layout.ALTERNATIVES.join(dict.fromkeys(layout.sent(term) for _, term in terms))
        for _, terms in groupby(made, itemgetter(0))
    )
    return " ".join(positions)


def _distinct(terms: str) -> str:
    return " ".join(dict.fromkeys(terms.replace(layout.ALTERNATIVES, " ").split()))


def document_id(batch: int, chunk_id: str) -> str:
    """Return the id on the cluster of a chunk that was written with a batch."""
    return f"{batch}-{hashlib.sha256(chunk_id.encode()).hexdigest()[:32]}"


_MAX_WAITING: Final = 2_000
"""Number of operations that wait to be sent together."""


def file_operation(batch: int, source_document: str, state: FileState) -> Operation:
    source = {
        layout.KIND: layout.FILE,
        layout.BATCH: batch,
        layout.VERSION: file_version_of(batch, source_document),
        schema.SOURCE_DOCUMENT: schema.keyword(source_document),
        "stored": {schema.FILE_STATE: pack(source_document, state)},
    }
    return {"index": {"_id": file_id(batch, source_document)}}, source


def file_id(batch: int, source_document: str) -> str:
    """Return the id on the cluster of the state of a document's file, written with a batch."""
    return document_id(batch, f"{layout.FILE}\0{source_document}")


def delete_operation(id_: str) -> Operation:
    return {"delete": {"_id": id_}}, None


_VECTORS: Final = "vectors"
"""Beginning of the kind of the documents with the vectors of the windows of chunks.

A document of the cluster can only be written as a whole, and the terms of a chunk are not stored.
So its vectors, which are made when it is found by words already, are a document of their own, with
the version of the chunk, so that both are hidden and deleted together, and the batch of whoever has
embedded it. They are only read by the ids of chunks that a call may see."""


def kind_of(model: SentenceModel | None) -> str:
    """Return the kind of the documents with the vectors of a model; None has none."""
    if model is None:
        return _VECTORS
    made_by = hashlib.sha256((model.sha256 or model.dump()).encode()).hexdigest()
    return f"{_VECTORS}-{made_by[:16]}"


def are_vectors(model: SentenceModel | None) -> Query:
    """Return a condition that a document has the vectors of a chunk by a model."""
    return {"term": {layout.KIND: kind_of(model)}}


def are_of_others(model: SentenceModel | None) -> Query:
    """Return a condition that a document has the vectors of a chunk by another model."""
    is_any = {"prefix": {layout.KIND: _VECTORS}}
    return {"bool": {"filter": [is_any], "must_not": [are_vectors(model)]}}


def vectors_id(chunk: str, model: SentenceModel | None) -> str:
    """Return the id on the cluster of the vectors of a chunk, given by its own."""
    return f"{chunk}-{kind_of(model)}"


def vectors_operation(
    batch: int,
    model: SentenceModel | None,
    stored: Mapping[str, str],
    chunk: tuple[str, str] | None = None,
) -> Operation:
    """Return the operation by which a batch writes the vectors of a chunk.

    The chunk is given by its id on the cluster and its version if another batch has written it. The
    names that are stored with its vectors are for a batch that writes it again.
    """
    id_, version = chunk or (
        document_id(batch, stored[schema.ID]),
        version_of(batch, stored[schema.SOURCE_DOCUMENT]),
    )
    source = {layout.KIND: kind_of(model), layout.BATCH: batch, layout.VERSION: version}
    return {"index": {"_id": vectors_id(id_, model)}}, {**source, "stored": stored}


def value_in(stored: Mapping[str, str]) -> bytes:
    """Return the value of a chunk in what is stored of its vectors; empty if there is none."""
    try:
        return b64decode(stored[schema.VECTOR])
    except (KeyError, TypeError, ValueError):
        return b""


def gave_up(store: Store) -> ClusterBusyError:
    """Return the error of a writer whose batch was given up, or may be."""
    return ClusterBusyError(
        store.path,
        "the index was rebuilt meanwhile, or this writer has not committed for a day",
        "write again what was not committed, of which nothing is visible",
    )


class _Pending(Future[int]):
    """Result of a document that may still wait to be sent."""

    def __init__(self, queue: "BulkQueue", source_document: str, count: int) -> None:
        super().__init__()
        self._queue = queue
        self.source_document = source_document
        self.count = count

    def result(self, timeout: float | None = None) -> int:
        """Return the number of chunks, after they were sent."""
        if not self.done():
            self._queue.flush()
        return super().result(timeout)


class BulkQueue:
    """Operations that wait to be sent, and the results of their documents.

    One part is sent at a time, so that no more than two of them take memory. `refused` has the
    documents that the cluster did not accept, or not all of. Nothing is sent after the time
    `expires`.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.refused: set[str] = set()
        self.expires = math.inf
        self._waiting: list[Operation] = []
        self._pending: list[_Pending] = []
        self._sender = ThreadPoolExecutor(1, "cluster-writer")
        self._sending: Future[None] | None = None

    def add(self, operations: Iterable[Operation]) -> None:
        """Have operations wait to be sent."""
        self._waiting += operations

    def result(self, source_document: str, count: int) -> Future[int]:
        """Return the result of a document whose operations were added, and send what is enough."""
        pending = _Pending(self, source_document, count)
        self._pending.append(pending)
        if len(self._waiting) >= _MAX_WAITING:
            self._send()
        return pending

    def flush(self) -> None:
        """Send what waits to be sent, and wait until it is written.

        After an error, it is raised each time: what was not written must not be missing from a
        commit. After an interruption, the next call waits on.
        """
        self._send()
        self._wait()

    def withdraw(self) -> None:
        """Drop what waits, and wait until nothing is on its way."""
        self._waiting.clear()
        for pending in self._pending:
            pending.cancel()
        with suppress(McpLuceneError):
            self._wait()

    def close(self) -> None:
        self._sender.shutdown()

    def _send(self) -> None:
        self._wait()
        waiting, self._waiting = self._waiting, []
        pending, self._pending = self._pending, []
        if waiting or pending:
            self._sending = self._sender.submit(self._transfer, waiting, pending)

    def _wait(self) -> None:
        if self._sending:
            self._sending.result()
            self._sending = None

    def _transfer(self, operations: list[Operation], pending: list[_Pending]) -> None:
        try:
            problems = self._problems(
                operations, {schema.keyword(of.source_document) for of in pending}
            )
        except BaseException as error:
            for document in pending:
                document.set_exception(error)
            raise
        for document in pending:
            name = document.source_document
            if reason := problems.get(schema.keyword(name)):
                self.refused.add(name)
                text = f"the document {name[:80]!r} cannot be indexed: {reason}"
                document.set_exception(InvalidDocumentError(text))
            else:
                # It may have been refused before, with another text.
                self.refused.discard(name)
                document.set_result(document.count)

    def _problems(self, operations: list[Operation], awaited: set[str]) -> dict[str, str]:
        """Send operations, and return why some of the documents are refused that are waited for."""
        if time.time() > self.expires:
            raise gave_up(self._store)
        names = {
            action["index"]["_id"]: source.get(schema.SOURCE_DOCUMENT, action["index"]["_id"])
            for action, source in operations
            if source and "index" in action
        }
        problems = {names.get(id_, id_): why for id_, why in self._store.bulk(operations)}
        for name in problems.keys() - awaited:
            problem = f"{name[:80]}: {problems[name]}"
            raise ClusterRefusedError(self._store.path, problem)
        return problems
