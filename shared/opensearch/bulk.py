"""Documents on their way to a cluster, which are sent while the next ones are prepared."""

import math
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final

from shared.errors import (
    ClusterBusyError,
    ClusterRefusedError,
    InvalidDocumentError,
    McpLuceneError,
)
from shared.model import schema
from shared.model.document import FileState
from shared.opensearch import layout
from shared.opensearch.chunk_documents import document_id
from shared.opensearch.connection import Operation
from shared.opensearch.state import file_version_of, version_of
from shared.opensearch.store import Store
from shared.storage.mapping import pack

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
