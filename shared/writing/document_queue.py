"""Queue of documents that Lucene writes while the next ones are prepared."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

import lucene
from java.lang import IllegalArgumentException
from java.util import Arrays

from shared.analysis.analyzers import writing
from shared.analysis.languages import UNDETERMINED
from shared.errors import InvalidDocumentError
from shared.java import vm
from shared.storage import lucene_errors
from shared.storage.lucene_errors import lacks_memory
from shared.storage.mapping import Batch
from shared.storage.stored_chunks import document_term

_MAX_WAITING_DOCUMENTS: Final = 4
"""Number of documents that may wait for Lucene; one would do if all took equally long."""


class DocumentWriter:
    """Writer of documents in the order of their submission, in a thread of its own.

    Python cuts a text and finds its language; Lucene analyzes and indexes it, which
    takes about twice as long and releases the GIL.
    """

    def __init__(self, writer: Any, path: Path) -> None:
        self._writer = writer
        self._path = path
        self._pending: deque[Future[int]] = deque()
        self._thread = ThreadPoolExecutor(1, "document-writer", initializer=vm.start)
        self._is_closed = False
        self._loss: BaseException | None = None

    def submit(self, document_id: str, batches: Iterator[Batch]) -> Future[int]:
        """Queue a document to replace the one with the same id.

        Returns a future with the number of its chunks or the error: `InvalidDocumentError` if it
        cannot be indexed, `IndexWriteError` if the file system refused to write.
        """
        try:
            begun = list(islice(batches, 2))
        except InvalidDocumentError as error:
            # Reported like an error of Lucene, after the documents before it.
            refused: Future[int] = Future()
            refused.set_exception(error)
            return refused
        while len(self._pending) >= _MAX_WAITING_DOCUMENTS:
            wait([self._pending.popleft()])
        future = self._thread.submit(self._write, document_id, chain(begun, batches))
        self._pending.append(future)
        if len(begun) > 1:
            # Only one long text at a time: it may have hundreds of megabytes.
            wait([future])
        return future

    def wait(self) -> None:
        """Wait until all submitted documents are written or have failed."""
        self._thread.submit(lambda: None).result()
        if self._loss:
            raise self._loss

    def close(self) -> None:
        """End the thread; a long document is abandoned after its current batch."""
        if self._is_closed:
            return
        self._is_closed = True
        # A thread that ends while it is attached leaks its Java counterpart.
        self._thread.submit(lucene.getVMEnv().detachCurrentThread)
        self._thread.shutdown()

    def _write(self, document_id: str, batches: Iterator[Batch]) -> int:
        with lucene_errors.writing(self._path):
            try:
                return self._replace(document_term(document_id), batches)
            except lucene.JavaError as error:
                thrown = error.getJavaException()
                if IllegalArgumentException.instance_(thrown) and not lacks_memory(thrown):
                    raise InvalidDocumentError(
                        f"the document {document_id[:80]!r} cannot be indexed: "
                        f"{lucene_errors.message(error)}"
                    ) from error
                raise

    def _replace(self, term: Any, batches: Iterator[Batch]) -> int:
        """Replace the chunks that have a term, and return the number of new ones."""
        language, first = next(batches, (UNDETERMINED, []))
        with writing(language):
            self._writer.updateDocuments(term, Arrays.asList(first))
        count = len(first)
        try:
            # A long document is written in batches, which need not fit into Java's memory at once;
            # readers see none of them before the next commit.
            for language, batch in self._while_open(batches):
                with writing(language):
                    self._writer.addDocuments(Arrays.asList(batch))
                count += len(batch)
        except BaseException as error:
            self._loss = error
            raise
        return count

    def _while_open(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        for batch in batches:
            if self._is_closed:
                raise CancelledError
            yield batch


def results(futures: Iterable[Future[int]]) -> Iterator[int]:
    """Yield the results of submitted documents in order, each as soon as it is available."""
    pending: deque[Future[int]] = deque()
    for future in futures:
        pending.append(future)
        while pending and pending[0].done():
            yield pending.popleft().result()
    for future in pending:
        yield future.result()
