"""An index on a cluster, open for writing."""

import hashlib
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from shared.errors import (
    ClusterRefusedError,
    ClusterUnreachableError,
    IndexFolderError,
    IndexMissingError,
    IndexOnClusterError,
    InvalidDocumentError,
    McpLuceneError,
)
from shared.java import vm
from shared.model import schema
from shared.model.chunks import chunk_id
from shared.model.document import Document, FileState
from shared.model.failures import Failure, dump_failures, parsed_failures
from shared.model.folders import IndexedFolders
from shared.opensearch.chunk_documents import (
    ChunkDocuments,
    Words,
    document_id,
)
from shared.opensearch.storage import layout
from shared.opensearch.storage.address import Address
from shared.opensearch.storage.connection import Connection
from shared.opensearch.storage.queries import IS_CHUNK, IS_FILE, of_documents, visible
from shared.opensearch.storage.state import GRACE_SECONDS, FrozenError, State
from shared.opensearch.storage.store import (
    Store,
    create_operation,
    delete_operation,
    index_operation,
    refused_document,
)
from shared.semantic.sentence_model import SentenceModel
from shared.settings.defaults import DEFAULT_WAIT
from shared.storage.mapping import pack
from shared.writing.index import Index as FolderIndex

_MAX_WAITING_BYTES: Final = 5_000_000
"""Size of the documents that wait to be sent together."""

_RENEWAL_SECONDS: Final = 30.0
"""Seconds between the signs of life of a batch."""

_MOST_REPLACED: Final = 20_000
"""Number of replaced documents in the state from which a commit waits until some are removed, so
that searches need not leave out more."""

_NO_VECTORS: Final = "there are no vectors"

_MOST_KNOWN_WORDS: Final = 500_000
"""Number of words that are remembered as sent."""


def create(path: Path | str, *, shards: int | None = None, replicas: int | None = None) -> bool:
    """Create an empty index.

    Args:
        path: the address of the index.
        shards: the number of its shards; None for one.
        replicas: the number of copies of each shard besides the first; None for one as soon as
            there is a second node.

    Returns:
        False if there was an index already, which is left unchanged.
    """
    return Store(Connection(Address.of(path))).create(shards, replicas)


def holds_index(path: Path | str) -> bool:
    """Check whether there is an index, whether it can be used or not; false without a cluster."""
    try:
        Store(Connection(Address.of(path))).mapping()
    except (IndexMissingError, ClusterUnreachableError):
        return False
    except IndexFolderError:
        return True
    return True


def load_failures(path: Path | str) -> dict[str, Failure]:
    """Return the failures by document id; see `shared.model.failures`."""
    store = Store(Connection(Address.of(path)))
    query = {"ids": {"values": [layout.FAILURES_ID]}}
    try:
        (answer,) = store.connection.search([{"query": query}])
    except IndexMissingError:
        return {}
    found = answer["hits"]["hits"]
    if not found:
        return {}
    return parsed_failures(store.connection.address.path, found[0]["_source"]["state"]["json"])


def save_failures(path: Path | str, failures: Mapping[str, Failure]) -> None:
    """Store the failures in the index."""
    store = Store(Connection(Address.of(path)))
    store.connection.request(
        "PUT",
        f"/{store.name}/_doc/{layout.FAILURES_ID}",
        {"state": {"json": dump_failures(failures)}},
        refresh="true",
    )


class _Pending(Future[int]):
    """Result of a document that may still wait to be sent."""

    def __init__(self, index: "Index", source_document: str, count: int) -> None:
        super().__init__()
        self._index = index
        self.source_document = source_document
        self.count = count

    def result(self, timeout: float | None = None) -> int:
        """Return the number of chunks, after they were sent."""
        if not self.done():
            self._index.flush()
        return super().result(timeout)


class Index(FolderIndex):
    """An index on a cluster, open for writing by any number of processes at once.

    It is used like that of a folder. What is written between two commits is a batch, which becomes
    visible as a whole; of two batches with the same document, the one that was begun later wins.

    Args:
        path: the address of the index.
        wait: without a meaning here, since writers need not wait for each other.
        program: the kind of program, for starting the virtual machine that analyzes texts.
        create: true to create the index if there is none.

    Attributes:
        path: the address of the index.
        created: true if the index was created when it was opened.

    Raises:
        IndexFolderError: the index cannot be used; the class says why.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        wait: float = DEFAULT_WAIT,  # noqa: ARG002 - as for a folder
        program: vm.Program = "batch",
        create: bool = False,
    ) -> None:
        address = Address.of(path)
        self.path = address.path
        self._program = program
        self._store = Store(Connection(address))
        self.created = create and self._store.create()
        if not self.created:
            self._store.mapping()
        state, _ = self._store.state()
        self._batch: int | None = None
        self._renewed = 0.0
        self._counts: dict[str, int] = {}
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._pending: deque[_Pending] = deque()
        self._sender = ThreadPoolExecutor(1, "cluster-writer")
        self._sending: Future[None] | None = None
        self._senders: dict[str, str] = {}
        self._touched: list[str] = []
        self._known_words: set[tuple[str, str]] = set()
        self._folders = IndexedFolders.load(state.folders, self.path)
        self._folders_changed = False
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._closed:
            return
        try:
            if error_type is None:
                self.commit()
            else:
                self._withdraw()
        finally:
            self._closed = True
            self._sender.shutdown()
            self._store.connection.close()

    def submit(self, document: Document) -> Future[int]:
        """Add a document, replacing the one with the same id if there is one.

        Returns:
            A future with the number of chunks, or the error of the document.
        """
        with vm.attached(self._program):
            try:
                chunks = ChunkDocuments(document)
                batch = self._begin()
                count = 0
                for made in chunks:
                    id_ = document_id(batch, made["stored"][schema.ID])
                    self._senders[id_] = document.id
                    self._write(index_operation(id_, {**made, layout.BATCH: batch}))
                    count += 1
            except InvalidDocumentError as error:
                refused: Future[int] = Future()
                refused.set_exception(error)
                return refused
        if document.file is not None and count:
            self._write(file_operation(batch, document.id, document.file.state))
        self._note(document.id, count)
        self._write_words(chunks.words)
        pending = _Pending(self, document.id, count)
        self._pending.append(pending)
        if self._waiting_bytes >= _MAX_WAITING_BYTES:
            self._send()
        return pending

    def delete(self, source_document: str) -> int:
        """Remove all chunks of a document.

        Returns:
            The number of removed chunks; 0 if there was no such document.
        """
        count = self.chunk_count(source_document)
        if count:
            self.delete_documents([source_document])
        return count

    def delete_documents(self, source_documents: Iterable[str]) -> None:
        """Remove all chunks of each document; unknown ids are ignored."""
        for name in source_documents:
            self._begin()
            self._note(name, 0)

    def update_file_state(self, source_document: str, state: FileState) -> None:
        """Store another state of the file of a document whose text is unchanged.

        Does nothing if there is no such document.
        """
        if self.chunk_count(source_document):
            self._write(file_operation(self._begin(), source_document, state))
            self._touched.append(source_document)

    @property
    def folders(self) -> IndexedFolders:
        """Folders that documents come from; setting them makes them part of the next commit."""
        return self._folders

    @folders.setter
    def folders(self, folders: IndexedFolders) -> None:
        self._begin()
        self._folders, self._folders_changed = folders, True

    @property
    def sentence_model(self) -> SentenceModel | None:
        """None, since there are no vectors on a cluster."""
        return None

    @sentence_model.setter
    def sentence_model(self, model: SentenceModel | None) -> None:
        if model is not None:
            raise IndexOnClusterError(self.path, _NO_VECTORS)

    def set_vectors(self, vectors: Mapping[str, tuple[str, bytes]]) -> int:
        """Refuse vectors, which are not supported on a cluster.

        Raises:
            IndexOnClusterError: always.
        """
        del vectors
        raise IndexOnClusterError(self.path, _NO_VECTORS)

    def chunk_count(self, source_document: str) -> int:
        """Return the number of chunks of a document, including uncommitted ones."""
        if source_document in self._counts:
            return self._counts[source_document]
        state, _ = self._store.state()
        query = visible(state, IS_CHUNK, of_documents([source_document]))
        (answer,) = self._store.connection.search(
            [{"query": query, "size": 0, "track_total_hits": True}]
        )
        return int(answer["hits"]["total"]["value"])

    def commit(self) -> None:
        """Make all changes so far visible at once, to every search that starts afterwards.

        Raises:
            IndexWriteError: the cluster refused to write.
            ClusterRefusedError: it took this writer for dead; nothing of what was written since the
                last commit is visible.
        """
        self.flush()
        batch = self._batch
        if batch is None:
            return
        self._store.refresh()
        changed = [schema.keyword(name) for name in self._counts]
        # Before earlier chunks are looked for: those of a batch that is open may appear afterwards.
        before, _ = self._store.state()
        replaced = (
            changed if before.has_earlier(batch) else self._with_chunks_before(batch, changed)
        )
        folders = self._folders.dump(self.path) if self._folders_changed else None

        def publish(state: State) -> State:
            return state.published(batch, replaced, time.time(), folders)

        try:
            state = self._store.change(publish, lambda state: state.is_published(batch))
        except KeyError as error:
            self._batch = None
            raise self._expired() from error
        if self._touched:
            earlier_states = [IS_FILE, of_documents(self._touched), _before(batch)]
            self._delete({"bool": {"filter": earlier_states}})
        self._batch, self._folders_changed = None, False
        self._touched.clear()
        self._counts.clear()
        self._senders.clear()
        self.clean(state)

    def clean(self, state: State) -> None:
        """Delete the chunks that no search can see any more, as far as it is time."""
        now = time.time()
        while sum(len(of.documents) for of in state.replaced.values()) > _MOST_REPLACED and not (
            state.removable(now)
        ):
            # Never longer than the time for which replaced chunks are kept.
            time.sleep(GRACE_SECONDS / 60)
            now = time.time()
            if state.open:
                break
        removable, dead = state.removable(now), state.expired(now)
        gone = state.forgettable(now)
        for batch in removable:
            documents = [*state.replaced[batch].documents]
            self._delete({"bool": {"filter": [_terms(documents), _before(batch)]}})
        for batch in (*dead, *gone):
            self._delete({"term": {layout.BATCH: batch}})
        if removable or dead or gone:

            def cleaned(state: State) -> State:
                for batch in state.expired(now):
                    state = state.withdrawn(batch, now)
                return state.removed(removable).forgotten(gone)

            self._store.change(cleaned)

    def flush(self) -> None:
        """Send what waits to be sent, and wait until it is written.

        Raises:
            IndexWriteError: the cluster refused.
        """
        self._send()
        self._wait()

    def _send(self) -> None:
        """Send what waits to be sent while the next documents are prepared.

        There is one request at a time, so that no more than two of them take memory.
        """
        self._wait()
        waiting, self._waiting, self._waiting_bytes = self._waiting, [], 0
        pending, self._pending = self._pending, deque()
        if waiting or pending:
            self._sending = self._sender.submit(self._transfer, waiting, pending)

    def _wait(self) -> None:
        """Wait until what was sent is written."""
        sending, self._sending = self._sending, None
        if sending:
            sending.result()

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
                document.set_exception(refused_document(document.source_document, reason))
            else:
                document.set_result(document.count)

    def _begin(self) -> int:
        """Return the number of the batch, beginning one if there is none."""
        if self._closed:
            raise ValueError(f"the index at {self.path} is closed")
        now = time.time()
        if self._batch is None:
            numbers: list[int] = []

            def open_(state: State) -> State:
                opened, number = state.opened(now)
                numbers.append(number)
                return opened

            try:
                self._store.change(open_)
            except FrozenError as error:
                raise ClusterRefusedError(
                    self.path, "the index is being rebuilt", "wait until that has ended"
                ) from error
            self._batch, self._renewed = numbers[-1], now
        elif now - self._renewed > _RENEWAL_SECONDS:
            batch = self._batch
            try:
                self._store.change(lambda state: state.renewed(batch, now))
            except KeyError as error:
                raise self._expired() from error
            self._renewed = now
        return self._batch

    def _expired(self) -> ClusterRefusedError:
        return ClusterRefusedError(
            self.path,
            "this writer was silent for so long that it was taken for dead",
            "write again what was not committed, of which nothing is visible",
        )

    def _note(self, source_document: str, count: int) -> None:
        """Remember the chunks of a document, and remove those of this batch that are left over."""
        before = self._counts.get(source_document, 0)
        batch = self._begin()
        for number in range(count + 1, before + 1):
            self._write(delete_operation(document_id(batch, chunk_id(source_document, number))))
        self._counts[source_document] = count

    def _write(self, operation: bytes) -> None:
        self._waiting.append(operation)
        self._waiting_bytes += len(operation)

    def _write_words(self, words: Words) -> None:
        """Send the words that are new, so that similar ones can be found among them."""
        if len(self._known_words) > _MOST_KNOWN_WORDS:
            self._known_words.clear()
        for operation in word_operations(words, self._known_words):
            self._write(operation)

    def _with_chunks_before(self, batch: int, documents: list[str]) -> list[str]:
        """Return those of some documents that have chunks of earlier batches."""
        found: list[str] = []
        for begin in range(0, len(documents), 1000):
            part = documents[begin : begin + 1000]
            query = {"bool": {"filter": [_terms(part), _before(batch)]}}
            names = {"terms": {"field": schema.SOURCE_DOCUMENT, "size": len(part)}}
            (answer,) = self._store.connection.search(
                [{"query": query, "size": 0, "aggs": {"names": names}}]
            )
            found += (bucket["key"] for bucket in answer["aggregations"]["names"]["buckets"])
        return found

    def _withdraw(self) -> None:
        """Give up the batch; what it wrote is never visible."""
        batch, self._batch = self._batch, None
        self._waiting.clear()
        while self._pending:
            self._pending.popleft().cancel()
        try:
            with suppress(McpLuceneError):
                self._wait()
            if batch is not None:
                state = self._store.change(lambda state: state.withdrawn(batch, time.time()))
                is_alone = not state.open and not state.changed
                if self.created and is_alone:
                    self._store.remove()
                else:
                    self._store.refresh()
                    self._delete({"term": {layout.BATCH: batch}})
            elif self.created and not self._store.state()[0].changed:
                self._store.remove()
        except McpLuceneError:
            # It stays hidden, and the next writer removes it.
            return

    def _delete(self, query: Mapping[str, Any]) -> None:
        ids = list(self._store.ids(query))
        for _ in self._store.bulk(map(delete_operation, ids)):
            # A chunk that is gone already.
            continue


def word_operations(words: Words, known: set[tuple[str, str]]) -> Iterator[bytes]:
    """Yield the operations that write words which are not known yet, and add them to the known."""
    for name, found in words.items():
        new = {word for word in found if (name, word) not in known}
        known.update((name, word) for word in new)
        for word in new:
            source = {name: word}
            if name != schema.STEMS:
                source["reversed"] = word[::-1]
            digest = hashlib.sha256(word.encode()).hexdigest()[:32]
            yield create_operation(f"{name}-{digest}", {"word": source})


def _terms(documents: list[str]) -> dict[str, Any]:
    return {"terms": {schema.SOURCE_DOCUMENT: documents}}


def _before(batch: int) -> dict[str, Any]:
    return {"range": {layout.BATCH: {"lt": batch}}}


def file_operation(batch: int, source_document: str, state: FileState) -> bytes:
    """Return the operation that writes the state of a document's file."""
    source = {
        layout.KIND: layout.FILE,
        layout.BATCH: batch,
        schema.SOURCE_DOCUMENT: schema.keyword(source_document),
        "stored": {schema.FILE_STATE: pack(source_document, state)},
    }
    return index_operation(document_id(batch, f"{layout.FILE}\0{source_document}"), source)
