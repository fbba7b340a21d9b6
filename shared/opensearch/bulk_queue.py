"""Documents on their way to a cluster, which are sent while the next ones are prepared."""

from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Final

from shared.errors import InvalidDocumentError, McpLuceneError
from shared.opensearch.store import Store

_MAX_WAITING_BYTES: Final = 5_000_000
"""Size of the documents that wait to be sent together."""


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

    There is one request at a time, so that no more than two of them take memory.

    Args:
        store: the index.

    Attributes:
        refused: the documents that the cluster did not accept, or not all of, since the chunks
            were forgotten.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.refused: set[str] = set()
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._pending: deque[_Pending] = deque()
        self._sender = ThreadPoolExecutor(1, "cluster-writer")
        self._sending: Future[None] | None = None
        self._senders: dict[str, str] = {}

    def add(self, operations: Iterable[bytes]) -> None:
        """Have operations wait to be sent."""
        for operation in operations:
            self._waiting.append(operation)
            self._waiting_bytes += len(operation)

    def add_chunk(self, source_document: str, id_: str, operation: bytes) -> None:
        """Have a chunk wait to be sent.

        Args:
            source_document: the id of its document, which a refusal names.
            id_: its own id on the cluster.
            operation: the operation that writes it.
        """
        self._senders[id_] = source_document
        self.add([operation])

    def result(self, source_document: str, count: int) -> Future[int]:
        """Return the result of a document whose operations were added, and send what is enough.

        Args:
            source_document: its id.
            count: the number of its chunks.
        """
        pending = _Pending(self, source_document, count)
        self._pending.append(pending)
        if self._waiting_bytes >= _MAX_WAITING_BYTES:
            self._send()
        return pending

    def flush(self) -> None:
        """Send what waits to be sent, and wait until it is written.

        Raises:
            IndexWriteError: the cluster refused.
        """
        self._send()
        self._wait()

    def forget_chunks(self) -> None:
        """Forget which documents the chunks that were sent are of, after they were written."""
        self._senders.clear()
        self.refused.clear()

    def withdraw(self) -> None:
        """Drop what waits, and wait until nothing is on its way."""
        self._waiting.clear()
        self._waiting_bytes = 0
        while self._pending:
            self._pending.popleft().cancel()
        with suppress(McpLuceneError):
            self._wait()

    def close(self) -> None:
        """End the thread that sends."""
        self._sender.shutdown()

    def _send(self) -> None:
        """Begin to send what waits."""
        self._wait()
        waiting, self._waiting, self._waiting_bytes = self._waiting, [], 0
        pending, self._pending = self._pending, deque()
        if waiting or pending:
            self._sending = self._sender.submit(self._transfer, waiting, pending)

    def _wait(self) -> None:
        """Wait until what was sent is written.

        After an error, it is raised each time: what was not written must not be missing from a
        commit. After an interruption, the next call waits on.
        """
        if self._sending:
            self._sending.result()
            self._sending = None

    def _transfer(self, operations: list[bytes], pending: deque[_Pending]) -> None:
        try:
            problems = {
                self._senders.get(id_, id_): reason for id_, reason in self._store.bulk(operations)
            }
        except BaseException as error:
            for document in pending:
                document.set_exception(error)
            raise
        for document in pending:
            if reason := problems.get(document.source_document):
                self.refused.add(document.source_document)
                document.set_exception(_refused(document.source_document, reason))
            else:
                # It may have been refused before, with another text.
                self.refused.discard(document.source_document)
                document.set_result(document.count)


def _refused(source_document: str, reason: str) -> InvalidDocumentError:
    """Return the error of a document that the cluster does not accept."""
    return InvalidDocumentError(
        f"the document {source_document[:80]!r} cannot be indexed: {reason}"
    )
