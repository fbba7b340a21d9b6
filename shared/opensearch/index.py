"""An index on a cluster, open for writing."""

from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from shared.errors import (
    ClusterBusyError,
    ClusterUnreachableError,
    IndexFolderError,
    IndexMissingError,
    IndexOnClusterError,
    InvalidDocumentError,
    McpLuceneError,
)
from shared.java import vm
from shared.messages import decodable
from shared.model import schema
from shared.model.chunks import chunk_id
from shared.model.document import Document, FileState
from shared.model.folders import FolderTakenError, IndexedFolders
from shared.opensearch.chunk_documents import (
    ChunkDocuments,
    document_id,
)
from shared.opensearch.storage import layout
from shared.opensearch.storage.address import Address
from shared.opensearch.storage.batches import Batches
from shared.opensearch.storage.bulk_queue import BulkQueue
from shared.opensearch.storage.connection import Connection
from shared.opensearch.storage.operations import (
    delete_operation,
    file_id,
    file_operation,
    index_operation,
)
from shared.opensearch.storage.queries import IS_CHUNK, of_documents, visible
from shared.opensearch.storage.store import Store
from shared.semantic.sentence_model import SentenceModel
from shared.settings.defaults import DEFAULT_WAIT
from shared.storage.field_names import keys_of_documents
from shared.writing.index import Index as FolderIndex

_NO_VECTORS: Final = "there are no vectors"


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
        state, _ = self._store.state()
        self._batches = Batches(self._store)
        self._queue = BulkQueue(self._store)
        self._batch = 0
        self._counts: dict[str, int] = {}
        self._touched: list[str] = []
        self._folders = self._published_folders = IndexedFolders.load(state.folders, self.path)
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
            self._batches.close()
            self._queue.close()
            self._store.connection.close()

    @cached_property
    def _keys(self) -> set[str]:
        return keys_of_documents(layout.fields_of(self._store.mapping()))

    def submit(self, document: Document) -> Future[int]:
        """Add a document, replacing the one with the same id if there is one.

        Returns:
            A future with the number of chunks, or the error of the document.
        """
        document, _ = self.within_limits(document)
        with vm.attached(self._program):
            try:
                chunks = ChunkDocuments(document)
                batch = self._begin()
                count = 0
                for made in chunks:
                    id_ = document_id(batch, made["stored"][schema.ID])
                    operation = index_operation(id_, {**made, layout.BATCH: batch})
                    self._queue.add_chunk(document.id, id_, operation)
                    count += 1
            except InvalidDocumentError as error:
                refused: Future[int] = Future()
                refused.set_exception(error)
                return refused
        if document.file is not None and count:
            self._queue.add([file_operation(batch, document.id, document.file.state)])
        self._note(document.id, count)
        return self._queue.result(document.id, count)

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
            self._queue.add([file_operation(self._begin(), source_document, state)])
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

    def set_vectors(self, values: Mapping[str, bytes]) -> int:
        """Refuse vectors, which are not supported on a cluster.

        Raises:
            IndexOnClusterError: always.
        """
        del values
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
            ClusterBusyError: it took this writer for dead, or another one has added a folder
                with the same ids; nothing of what was written since the last commit is visible.
        """
        self.flush()
        batch = self._batches.number
        if batch is None:
            return
        self._take_back_refused(batch)
        folders = self._with_folders if self._folders_changed else None
        state = self._batches.publish(self._counts, folders)
        touched = [*self._touched]
        # Before what may fail: the next batch has none of this.
        self._published_folders, self._folders_changed = self._folders, False
        self._forget()
        self._batches.clean(state, batch, touched)

    def _take_back_refused(self, batch: int) -> None:
        """Remove the documents from the batch that the cluster did not accept as a whole.

        Their earlier versions stay, as in a folder, with the states of their files.
        """
        refused = [*self._queue.refused]
        if not refused:
            return
        for name in refused:
            count = self._counts.get(name, 0)
            ids = [document_id(batch, chunk_id(name, number)) for number in range(1, count + 1)]
            self._queue.add(map(delete_operation, [*ids, file_id(batch, name)]))
        self.flush()
        for name in refused:
            self._counts.pop(name, None)
        self._touched = [name for name in self._touched if name not in refused]
        self._queue.refused.clear()

    def flush(self) -> None:
        """Send what waits to be sent, and wait until it is written.

        Raises:
            IndexWriteError: the cluster refused.
        """
        self._queue.flush()

    def _begin(self) -> int:
        """Return the number of the batch, beginning one if there is none."""
        if self._closed:
            raise ValueError(f"the index at {self.path} is closed")
        if self._batches.is_unsure:
            # Nothing further may get into a batch that is visible already.
            self.commit()
        batch = self._batches.begin()
        if batch != self._batch:
            # What is known is of a batch that was taken for dead.
            self._forget()
            self._batch = batch
        return batch

    def _forget(self) -> None:
        """Forget what was written with the last batch."""
        self._touched.clear()
        self._counts.clear()
        self._queue.forget_chunks()

    def _note(self, source_document: str, count: int) -> None:
        """Remember the chunks of a document, and remove those of this batch that are left over."""
        before = self._counts.get(source_document, 0)
        batch = self._begin()
        left_over = (chunk_id(source_document, number) for number in range(count + 1, before + 1))
        self._queue.add(delete_operation(document_id(batch, id_)) for id_ in left_over)
        self._counts[source_document] = count

    def _with_folders(self, others: str) -> str:
        """Return the folders of the index with the changes of this writer.

        Raises:
            ClusterBusyError: another writer has added a folder with the same ids.
        """
        try:
            return self._folders.changed(self._published_folders, others, self.path)
        except FolderTakenError as error:
            raise ClusterBusyError(
                self.path,
                f"{decodable(error.other)} was added to the index meanwhile, and the documents of "
                f"{decodable(str(error.folder.path))} may get the same ids",
                "run the command again, which gives them others",
            ) from error

    def _withdraw(self) -> None:
        """Give up the batch; what it wrote is never visible."""
        batch = self._batches.number
        self._queue.withdraw()
        try:
            state = self._batches.withdraw() or self._store.state()[0]
            if self.created and not state.open and not state.changed:
                self._store.remove()
            elif batch is not None and batch in state.abandoned:
                # Else its commit has succeeded, and only the answer was lost.
                self._batches.delete_chunks(batch)
        except McpLuceneError:
            # It stays hidden, and the next writer removes it.
            return
