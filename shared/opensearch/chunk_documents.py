"""Documents of the cluster for the chunks of a document, and their way to it.

They are sent while the next ones are prepared.
"""

import hashlib
import math
import time
from base64 import b64encode
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
from shared.messages import decodable
from shared.model import schema
from shared.model.document import Chunk, Document, FileState, Place
from shared.model.folders import file_term
from shared.opensearch import layout
from shared.opensearch.connection import Operation
from shared.opensearch.state import file_version_of, version_of
from shared.opensearch.store import Store
from shared.storage.fingerprints import Fingerprinter
from shared.storage.mapping import (
    chunk_search_texts,
    details_for,
    document_search_texts,
    language_of_chunk,
    metadata_text,
    pack,
    placed_chunks,
)

KEYWORDS: Final = frozenset((schema.SECTION, schema.LANGUAGES))
"""Search texts that are whole values."""


class ChunkDocuments:
    """The chunks of a document, as the cluster gets them.

    They may be cut already, each with its place. A document with more metadata than may be stored
    in each chunk raises `InvalidDocumentError`.
    """

    def __init__(
        self, document: Document, placed: Iterable[tuple[Chunk, Place]] | None = None
    ) -> None:
        if placed is None:
            document, placed = placed_chunks(document)
        self._document, self._placed = document, placed

    def __iter__(self) -> Iterator[dict[str, Any]]:
        document = self._document
        common = _common(document)
        details = None
        fingerprinter = Fingerprinter()
        for chunk, place in self._placed:
            details = details or details_for(document, chunk)
            made = {**common, **self._search_fields(chunk, place)}
            if keys := made.pop(schema.SECTION, None):
                made[schema.METADATA] = {
                    **made.get(schema.METADATA, {}),
                    layout.field(schema.metadata_field(schema.SECTION)).partition(".")[2]: keys,
                }
            made[schema.ID] = schema.keyword(chunk.id)
            made[schema.CHUNK_INDEX] = chunk.index
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
            yield made

    def _search_fields(self, chunk: Chunk, place: Place) -> Mapping[str, Any]:
        found: dict[str, Any] = {}
        section = str(place.get("section", ""))
        language = language_of_chunk(self._document, chunk.content)
        texts = chunk_search_texts(self._document, chunk.content, language, section)
        for name, text in texts:
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
    values: dict[str, list[str]] = {}
    numbers: dict[str, list[float]] = {}
    if document.file is not None:
        path = file_term(document.file.state.folder, decodable(document.file.path))
        values[schema.FILE_PATH] = [schema.keyword(path)]
    for name, value in document.metadata.items():
        for scalar in value if isinstance(value, list) else [value]:
            values.setdefault(name, []).append(schema.keyword(metadata_text(scalar)))
            if isinstance(scalar, int | float) and not isinstance(scalar, bool):
                numbers.setdefault(name, []).append(float(scalar))
    for of, known in ((schema.metadata_field, values), (schema.number_field, numbers)):
        for name, found in known.items():
            prefix, _, key = layout.field(of(name)).partition(".")
            common.setdefault(prefix, {})[key] = found
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


def chunk_operation(batch: int, chunk: Mapping[str, Any]) -> Operation:
    """Return the operation that writes a chunk, whether it is there or not."""
    stored = chunk["stored"]
    version = version_of(batch, stored[schema.SOURCE_DOCUMENT])
    source = {**chunk, layout.BATCH: batch, layout.VERSION: version}
    return {"index": {"_id": document_id(batch, stored[schema.ID])}}, source


def file_operation(batch: int, source_document: str, state: FileState) -> Operation:
    """Return the operation that writes the state of a document's file."""
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
    """Return the operation that removes a document of the cluster."""
    return {"delete": {"_id": id_}}, None


def gave_up(store: Store) -> ClusterBusyError:
    """Return the error of a writer whose batch was given up, or may be."""
    return ClusterBusyError(
        store.connection.address.path,
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
        """End the thread that sends."""
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
            raise ClusterRefusedError(self._store.connection.address.path, problem)
        return problems
