"""Documents written by Lucene while the next ones are made ready."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from itertools import chain
from pathlib import Path
from typing import Any, Final

import lucene
from java.lang import IllegalArgumentException
from java.util import Arrays
from org.apache.lucene.index import Term

from shared.errors import InvalidDocumentError
from shared.java import vm
from shared.model import schema
from shared.storage import lucene_errors
from shared.storage.lucene_errors import lacks_memory

_AHEAD: Final = 4
"""Documents that wait for Lucene; one would do if all took equally long."""


class DocumentWriter:
    """Writes documents in the order in which they come, in a thread of its own.

    To cut a text, to tell its language and to find its names is Python's work; to analyze and to
    index it is Lucene's, which takes about twice as long and does not hold Python's lock.

    Args:
        writer: Lucene's writer of the index.
        path: the index folder, for messages.
    """

    def __init__(self, writer: Any, path: Path) -> None:
        self._writer = writer
        self._path = path
        self._pending: deque[Future[int]] = deque()
        self._thread = ThreadPoolExecutor(1, "document-writer", initializer=vm.start)
        self._is_closed = False
        self._loss: BaseException | None = None

    def submit(self, document_id: str, batches: Iterator[list[Any]]) -> Future[int]:
        """Write a document in place of the one with the same id, soon.

        Args:
            document_id: its id.
            batches: its chunks as Lucene documents, in order.

        Returns:
            What will have the number of its chunks, or the error: `InvalidDocumentError` if it
            cannot be indexed, `IndexWriteError` if the file system refused to write.
        """
        try:
            first, more = next(batches, []), next(batches, [])
        except InvalidDocumentError as error:
            # Told like what Lucene refuses, after the documents before it.
            refused: Future[int] = Future()
            refused.set_exception(error)
            return refused
        while len(self._pending) >= _AHEAD:
            wait([self._pending.popleft()])
        future = self._thread.submit(self._write, document_id, chain((first, more), batches))
        self._pending.append(future)
        if more:
            # One long text at a time: it may have hundreds of megabytes.
            wait([future])
        return future

    def wait(self) -> None:
        """Wait until all that was submitted is written, or has failed.

        Raises:
            BaseException: what a long document failed with whose older version is gone, so that
                nothing may be committed.
        """
        self._thread.submit(lambda: None).result()
        if self._loss:
            raise self._loss

    def close(self) -> None:
        """End the thread; of a long document it breaks off after the part that it is at."""
        if self._is_closed:
            return
        self._is_closed = True
        # A thread that ends while it is attached leaks its Java twin.
        self._thread.submit(lucene.getVMEnv().detachCurrentThread)
        self._thread.shutdown()

    def _write(self, document_id: str, batches: Iterator[list[Any]]) -> int:
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

    def _replace(self, term: Any, batches: Iterator[list[Any]]) -> int:
        """Write chunks in place of those with a term; returns their number."""
        first = next(batches)
        self._writer.updateDocuments(term, Arrays.asList(first))
        count = len(first)
        try:
            # A long document goes in by parts, which need not fit into Java's memory at once;
            # readers see none of them before the next commit.
            for batch in self._while_open(filter(None, batches)):
                self._writer.addDocuments(Arrays.asList(batch))
                count += len(batch)
        except BaseException as error:
            self._loss = error
            raise
        return count

    def _while_open(self, batches: Iterator[list[Any]]) -> Iterator[list[Any]]:
        for batch in batches:
            if self._is_closed:
                raise CancelledError
            yield batch


def results(futures: Iterable[Future[int]]) -> Iterator[int]:
    """The results of what is submitted, in this order; each is told soon after it is there.

    Args:
        futures: of `DocumentWriter.submit`; the next one is asked for while those before are at
            work.
    """
    pending: deque[Future[int]] = deque()
    for future in futures:
        pending.append(future)
        while pending and pending[0].done():
            yield pending.popleft().result()
    for future in pending:
        yield future.result()


def document_term(source_document: str) -> Any:
    """The term that all chunks of a document have, and no others."""
    return Term(schema.SOURCE_DOCUMENT, schema.keyword(source_document))
