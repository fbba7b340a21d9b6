"""An index on a cluster, open for writing."""

import time
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Final

from shared.chunking import placed_chunks
from shared.errors import (
    ClusterBusyError,
    ClusterUnreachableError,
    IndexWriteError,
    InvalidDocumentError,
    McpLuceneError,
)
from shared.java import vm
from shared.model import schema
from shared.model.document import Document, FileState, chunk_id
from shared.model.folders import IndexedFolders
from shared.opensearch import layout
from shared.opensearch.chunk_documents import (
    BulkQueue,
    are_of_others,
    are_vectors,
    chunk_operations,
    delete_operation,
    document_id,
    file_id,
    file_operation,
    gave_up,
    value_in,
    vectors_operation,
)
from shared.opensearch.connection import Connection
from shared.opensearch.state import (
    ABANDONED_SECONDS,
    GRACE_SECONDS,
    IS_CHUNK,
    IS_FILE,
    Query,
    State,
    any_of,
    file_version_of,
    of_documents,
    version_of,
    visible,
)
from shared.opensearch.store import Store
from shared.semantic.sentence_model import SentenceModel
from shared.semantic.windows import KEY_BYTES, key_of
from shared.settings.defaults import DEFAULT_WAIT
from shared.storage.field_names import keys_of_documents
from shared.storage.mapping import as_indexed
from shared.storage.passages import text_of
from shared.writing.index import Index as FolderIndex

_MOST_REPLACED: Final = 20_000
"""Number of replaced versions in the state from which a commit waits until some are deleted, since
every search reads the state and leaves them out."""

_MOST_KNOWN: Final = 100_000
"""Number of chunks whose texts a batch compares with those they replace, to keep their vectors."""

_LOOKED_UP: Final = 1_000
"""Number of documents whose earlier versions are looked up in one request."""


class Index(FolderIndex):
    """An index on a cluster, open for writing by any number of processes at once.

    It is used like that of a folder; writers need not wait for each other. What is written between
    two commits is a batch, which becomes visible as a whole; of two batches with the same document,
    the one that is committed later wins. After an error of the cluster everything but closing
    raises it again, since a part of the batch may be missing; nothing of it becomes visible.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        wait: float = DEFAULT_WAIT,  # noqa: ARG002 - as for a folder
        program: vm.Program = "batch",
        create: bool = False,
    ) -> None:
        self._program = program
        self._store = Store(Connection(path))
        self.path = self._store.path
        self.created = create and self._store.create()
        if not create:
            self._store.described()
        state, _ = self._store.state()
        self._queue = BulkQueue(self._store)
        self._batch: int | None = None
        self._error: McpLuceneError | None = None
        self._counts: dict[str, int] = {}
        self._touched: set[str] = set()
        self._embedded: set[str] = set()
        self._texts: dict[str, bytes] = {}
        self._folders = self._store.folders_in(state)
        self._stored_folders = state.folders
        self._model = self._store.model_in(state)
        self._changes: dict[str, str] = {}
        self._closed = False

    def __exit__(self, error_type: type[BaseException] | None, *_: object) -> None:
        if self._closed:
            return
        is_committed = False
        try:
            if error_type is None:
                self.commit()
                is_committed = True
        finally:
            self._closed = True
            if not is_committed:
                self._withdraw()
            self._queue.close()
            self._store.connection.close()

    @cached_property
    def _keys(self) -> set[str]:
        return keys_of_documents(layout.fields_of(self._store.described()["mappings"]))

    def submit(self, document: Document) -> Future[int]:
        document, _ = self.within_limits(document)
        with vm.attached(self._program):
            try:
                document = as_indexed(document)
                batch = self._begin()
                made = [*chunk_operations(batch, document, placed_chunks(document))]
            except InvalidDocumentError as error:
                refused: Future[int] = Future()
                refused.set_exception(error)
                return refused
        self._note(document.id, len(made))
        self._queue.add(made)
        if self._model:
            stored = (chunk["stored"] for _, chunk in made if chunk)
            contents = ((of[schema.ID], of[schema.CONTENT]) for of in stored)
            self._texts |= {id_: key_of(document.title, content) for id_, content in contents}
        if len(self._texts) > _MOST_KNOWN:
            self._texts.clear()
        if document.file is not None and made:
            self._queue.add([file_operation(batch, document.id, document.file.state)])
        return self._queue.result(document.id, len(made))

    def delete_documents(self, source_documents: Iterable[str]) -> None:
        for name in source_documents:
            self._note(name, 0)

    def update_file_state(self, source_document: str, state: FileState) -> None:
        if self.chunk_count(source_document):
            self._queue.add([file_operation(self._begin(), source_document, state)])
            self._touched.add(source_document)

    @property
    def folders(self) -> IndexedFolders:
        """Folders that documents come from; setting them makes them part of the next commit."""
        return self._folders

    @folders.setter
    def folders(self, folders: IndexedFolders) -> None:
        self._begin()
        self._folders = folders
        self._changes["folders"] = folders.dump(self.path)

    @property
    def sentence_model(self) -> SentenceModel | None:
        """Sentence model of the vectors; see `shared.writing.index.Index`."""
        return self._model

    @sentence_model.setter
    def sentence_model(self, model: SentenceModel | None) -> None:
        self._begin()
        self._model = model
        self._changes["model"] = model.dump() if model else ""

    def set_vectors(self, values: Mapping[str, bytes]) -> int:
        if self._model is None:
            return 0
        batch, ids, stored = self._begin(), list(values), 0
        for begin in range(0, len(ids), _LOOKED_UP):
            self._queue.flush()
            names = [schema.keyword(id_) for id_ in ids[begin : begin + _LOOKED_UP]]
            query = visible(self._store.state()[0], IS_CHUNK, any_of(schema.ID, names))
            for hit in self._store.connection.hits(query, _source=[layout.VERSION, "stored"]):
                text, version = text_of(hit["_source"]["stored"]), hit["_source"][layout.VERSION]
                value = values.get(text.id)
                if value and value[:KEY_BYTES] == key_of(text.title, text.content):
                    of = {schema.ID: text.id, schema.SOURCE_DOCUMENT: text.source_document}
                    of[schema.VECTOR] = b64encode(value).decode()
                    operation = vectors_operation(batch, self._model, of, (hit["_id"], version))
                    self._queue.add([operation])
                    self._embedded.add(version)
                    stored += 1
        return stored

    def chunk_count(self, source_document: str) -> int:
        if source_document in self._counts:
            return self._counts[source_document]
        state, _ = self._store.state()
        query = visible(state, IS_CHUNK, of_documents([source_document]))
        counted = {"query": query, "size": 0, "track_total_hits": True}
        (answer,) = self._store.connection.search([counted])
        return int(answer["hits"]["total"]["value"])

    def commit(self) -> None:
        """Make all changes so far visible at once, to every search that starts afterwards.

        After an error nothing of what was written since the last commit is visible. Only if the
        cluster did not answer, all of it may be.
        """
        if self._error:
            raise self._error
        try:
            self._queue.flush()
            if self._batch is not None:
                self._clean(self._publish(self._batch))
        except McpLuceneError as error:
            self._error = error
            raise

    def _publish(self, batch: int) -> State:
        self._store.refresh()

        def published(state: State) -> State:
            # The ids of documents depend on which other folders there are.
            if "folders" in self._changes and state.folders != self._stored_folders:
                raise ClusterBusyError(
                    self.path,
                    "somebody else has changed the folders of the index meanwhile",
                    "run the command again",
                )
            # Looked up anew for each state: those of a batch published meanwhile are earlier, too.
            versions = self._earlier_versions(state)
            self._keep_vectors(batch, versions)
            versions += self._gone_versions(state)
            # The earlier version of what the cluster has refused stays.
            for name in self._queue.refused:
                versions += [version_of(batch, name), file_version_of(batch, name)]
            return state.published(batch, versions, time.time(), **self._changes)

        try:
            state = self._store.change(published, lambda state: batch in state.replaced)
        except KeyError as error:
            raise gave_up(self._store) from error
        self._batch = None
        changes, self._changes = self._changes, {}
        self._stored_folders = changes.get("folders", self._stored_folders)
        refused = self._queue.refused
        for written in (self._counts, self._touched, self._embedded, self._texts, refused):
            written.clear()
        if "model" in changes:
            with suppress(McpLuceneError):
                # Nobody reads them any more.
                self._store.delete(are_of_others(self._model))
        return state

    def _earlier_versions(self, state: State) -> list[str]:
        """Return the versions that a state shows of what the batch has replaced."""
        accepted = [name for name in self._counts if name not in self._queue.refused]
        touched = [name for name in self._touched if name not in self._counts]
        return [
            *self._versions(state, of_documents, accepted),
            *self._versions(state, of_documents, touched, IS_FILE),
        ]

    def _keep_vectors(self, batch: int, earlier: list[str]) -> None:
        """Give the chunks of the batch the vectors of those they replace with the same text."""
        for begin in range(0, len(earlier) if self._texts else 0, _LOOKED_UP):
            versions = any_of(layout.VERSION, earlier[begin : begin + _LOOKED_UP])
            query = {"bool": {"filter": [versions, are_vectors(self._model)]}}
            for hit in self._store.connection.hits(query):
                stored = hit["_source"]["stored"]
                if self._texts.get(stored[schema.ID]) == value_in(stored)[:KEY_BYTES]:
                    self._queue.add([vectors_operation(batch, self._model, stored)])
            self._queue.flush()
            self._store.refresh()

    def _gone_versions(self, state: State) -> set[str]:
        """Return the versions of chunks that the batch has embedded and a state does not show.

        If they were deleted before it has sent their vectors, these are to be deleted, too.
        """
        are = partial(any_of, layout.VERSION)
        return self._embedded - {*self._versions(state, are, [*self._embedded], IS_CHUNK)}

    def _versions(
        self, state: State, of: Callable[[list[str]], Query], names: list[str], *conditions: Query
    ) -> Iterator[str]:
        """Yield the versions that a state shows of what some names mean."""
        for begin in range(0, len(names), _LOOKED_UP):
            query = visible(state, of(names[begin : begin + _LOOKED_UP]), *conditions)
            versions = {"terms": {"field": layout.VERSION, "size": 10 * _LOOKED_UP}}
            body = {"query": query, "size": 0, "aggs": {"versions": versions}}
            (answer,) = self._store.connection.search([body])
            for bucket in answer["aggregations"]["versions"]["buckets"]:
                yield str(bucket["key"])

    def _clean(self, state: State) -> None:
        """Delete what no search can see any more; if the cluster cannot, the next commit does."""
        now = time.time()
        while len(state.hidden_versions) > _MOST_REPLACED and not state.removable(now):
            time.sleep(GRACE_SECONDS / 60)
            now = time.time()
        with suppress(ClusterUnreachableError, IndexWriteError):
            if expired := state.expired(now):
                state = self._store.change(lambda state: state.withdrawn(expired, now))
            removable, forgettable = state.removable(now), state.forgettable(now)
            # Deleted with those that are forgotten, a day later, if that fails.
            batches = [*expired, *forgettable]
            versions = [name for batch in removable for name in state.replaced[batch].versions]
            is_deleted = self._store.delete(any_of(layout.VERSION, versions)) if versions else True
            if batches:
                is_deleted &= self._store.delete(any_of(layout.BATCH, list(map(str, batches))))
            if is_deleted and (removable or forgettable):
                self._store.change(lambda state: state.without({*removable, *forgettable}))

    def _begin(self) -> int:
        """Return the number of the batch, beginning one if there is none."""
        if self._closed:
            raise ValueError(f"the index at {self.path} is closed")
        if self._error:
            raise self._error
        if self._batch is None:
            number, at = 0, 0.0

            def opened(state: State) -> State:
                nonlocal number, at
                at = time.time()
                after, number = state.opened(at)
                return after

            # Its time tells it from one that another writer has opened with this number.
            self._store.change(opened, lambda state: state.open.get(number) == at)
            self._batch = number
            # Its number is hidden for as long again, for what is under way then.
            self._queue.expires = at + ABANDONED_SECONDS
        return self._batch

    def _note(self, source_document: str, count: int) -> None:
        """Remember the chunks of a document, and remove those of this batch that are left over."""
        batch = self._begin()
        before = self._counts.get(source_document, 0)
        for id_ in (chunk_id(source_document, of) for of in range(count + 1, before + 1)):
            self._texts.pop(id_, None)
            self._queue.add([delete_operation(document_id(batch, id_))])
        if before or source_document in self._touched:
            self._queue.add([delete_operation(file_id(batch, source_document))])
        self._counts[source_document] = count

    def _withdraw(self) -> None:
        """Give up the batch; what it wrote is never visible, unless only an answer was lost."""
        batch = self._batch
        self._queue.withdraw()
        with suppress(McpLuceneError):
            # If that fails, it stays hidden, and after a day a writer removes it.
            if batch is not None:
                self._store.change(lambda state: state.withdrawn([batch], time.time()))
            state, _ = self._store.state()
            if self.created and not state.open and not state.changed:
                self._store.remove()
            elif batch in state.abandoned:
                self._store.refresh()
                self._store.delete(any_of(layout.BATCH, [str(batch)]))
