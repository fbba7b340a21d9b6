"""The index open for writing."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from org.apache.lucene.index import DirectoryReader, IndexWriterConfig, Term
from org.apache.lucene.search import IndexSearcher, TermQuery

from shared.backends import chosen
from shared.errors import DocumentNotFoundError
from shared.files import index_folder
from shared.java import vm
from shared.model import schema
from shared.model.document import Document, FileState, chunk_id
from shared.model.folders import IndexedFolders
from shared.model.metadata import within_limits
from shared.semantic.sentence_model import SentenceModel
from shared.semantic.windows import KEY_BYTES
from shared.settings.defaults import DEFAULT_WAIT
from shared.storage import lucene_errors
from shared.storage.commits import (
    commit_data,
    commit_files,
    indexed_folders,
    open_last_commit,
    sentence_model,
)
from shared.storage.field_names import keys_of_documents
from shared.storage.integrity import open_directory, verify
from shared.storage.mapping import file_state_field, to_lucene
from shared.storage.passages import KnownVectors, key_with_id
from shared.storage.stored_chunks import document_term
from shared.storage.vectors import vector_field
from shared.writing.writer import (
    DocumentWriter,
    clean,
    commit_empty,
    open_writer,
    results,
    undo_creation,
)


def create(path: Path | str, *, shards: int | None = None, replicas: int | None = None) -> bool:
    """Create an empty index, readable by its owner only.

    Args:
        path: the index folder, which is created if it is missing; its parent must exist.
        shards: of an index on a cluster, the number of its shards; None for one.
        replicas: of an index on a cluster, the number of copies of each shard besides the first;
            None for one as soon as there is a second node.

    Returns:
        False if there was an index already, which is left unchanged.

    Raises:
        IndexPathError: the path is a file, a folder with other content, or not writable; or its
            parent does not exist.
        IndexFolderError: there is an index that this version cannot use, or a writer at work.
        ValueError: shards or replicas of a folder.
    """
    if other := chosen(path, "create"):
        is_new: bool = other(path, shards=shards, replicas=replicas)
        return is_new
    if shards is not None or replicas is not None:
        raise ValueError("an index in a folder has neither shards nor replicas")
    path = index_folder.absolute(path)
    if not index_folder.holds_index(path):
        with Index(path, create=True) as index:
            return index.created
    # The lock is not taken, since another writer may have it.
    with vm.attached(), closing(open_directory(path)) as directory:
        _check_readable(directory, path)
    return False


class Index:
    """An index open for writing, by one process at a time.

    A context manager: leaving the block commits its changes, an exception rolls them back to the
    last commit. Readers see nothing before a commit.

    Args:
        path: the index folder.
        wait: seconds to wait for another writer to end.
        program: the kind of program, for starting the virtual machine if it is not running.
        create: true to create an empty index, as `create` does, if there is none. It is removed
            again if an exception ends the block before the first commit.

    Attributes:
        path: the index folder, absolute.
        created: true if the index was created when it was opened.

    Raises:
        IndexMissingError: there is no index at the path, and `create` is false.
        IndexPathError: the path is a file, or cannot be read; or no index can be created there.
        IndexLockedError: another writer held the lock for the whole time.
        IndexDamagedError: a file of it is missing, changed or cut short.
        IndexFolderError: the index cannot be used; the class says why.
    """

    def __new__(cls, path: Path | str = "", **_: Any) -> Self:
        """Return an index in a folder, or one on a cluster if the path means one."""
        other = chosen(path, "Index") if cls is Index else None
        made: Self = super().__new__(other or cls)
        return made

    def __init__(
        self,
        path: Path | str,
        *,
        wait: float = DEFAULT_WAIT,
        program: vm.Program = "batch",
        create: bool = False,
    ) -> None:
        self.path = index_folder.absolute(path)
        self._is_new_folder = create and index_folder.prepare(self.path)
        index_folder.identify(self.path)
        with vm.attached(program), lucene_errors.writing(self.path), ExitStack() as undo:
            self._directory = undo.enter_context(closing(open_directory(self.path)))
            # Checked before waiting for another writer, which would be in vain.
            if not create or DirectoryReader.indexExists(self._directory):
                _check_readable(self._directory, self.path)
            modes = IndexWriterConfig.OpenMode
            mode = modes.CREATE_OR_APPEND if create else modes.APPEND
            self._writer = open_writer(self._directory, self.path, wait, mode)
            undo.callback(self._writer.rollback)
            self._new_commit = commit_empty(self._writer, self._directory, self.path)
            # The other writer may have changed the folders or the schema.
            self._folders, self._model = _check_readable(self._directory, self.path)
            # With damaged terms it would delete the wrong chunks.
            verify(self.path, commit_files(self._directory))
            self._known = (
                KnownVectors(DirectoryReader.open(self._directory)) if self._model else None
            )
            undo.pop_all()
        self.created = self._new_commit is not None
        self._documents = DocumentWriter(self._writer, self.path)
        self._changed = False
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error_type: type[BaseException] | None, *_: object) -> None:
        is_unfinished = not self._closed
        with vm.attached(), lucene_errors.writing(self.path):
            try:
                if error_type is None and is_unfinished:
                    self._documents.wait()
                    self._writer.commit()
                    # This waits for merges, which a rollback would abort.
                    self._writer.close()
                    is_unfinished = False
            finally:
                # This does nothing after a close; after a failure it discards uncommitted changes.
                self._closed = True
                self._documents.close()
                self._writer.rollback()
                if self._known:
                    self._known.close()
                if is_unfinished:
                    clean(self._directory, self.path)
                    if self._new_commit is not None:
                        undo_creation(
                            self._directory,
                            self.path,
                            self._new_commit,
                            is_new_folder=self._is_new_folder,
                        )
                self._directory.close()

    def add(self, document: Document) -> int:
        """Add a document, replacing the one with the same id if there is one.

        Returns:
            The number of chunks; 0 for a blank text, which only removes the old chunks.

        Raises:
            InvalidDocumentError: a metadata value cannot be indexed.
            IndexWriteError: the file system refused to write.
            ValueError: the index is closed.
        """
        return self.submit(document).result()

    def submit(self, document: Document) -> Future[int]:
        """Add a document as `add` does, while the caller prepares the next one.

        Documents are written in the order of their submission, and before any later operation, such
        as a commit.

        Returns:
            A future with the number of chunks or the error of `add`; the caller must ask each one
            for its result.

        Raises:
            ValueError: the index is closed.
        """
        document, _ = self.within_limits(document)
        with self._attached():
            self._mark_changed()
            known = self._known.value_of if self._known else None
            return self._documents.submit(document.id, to_lucene(document, known))

    def within_limits(self, document: Document) -> tuple[Document, list[str]]:
        """Return a document as `submit` writes it, and its metadata keys that get no field.

        A document has fields for 50 keys, and an index for 1,000. What is beyond that becomes texts
        under the key `other`.
        """
        metadata, too_many = within_limits(document.metadata, self._keys)
        return replace(document, metadata=metadata) if too_many else document, too_many

    @cached_property
    def _keys(self) -> set[str]:
        """Metadata keys in the index that documents have chosen, kept up to date."""
        with self._attached():
            return keys_of_documents(map(str, self._writer.getFieldNames()))

    def add_all(self, documents: Iterable[Document]) -> Iterator[tuple[Document, int]]:
        """Add documents while the next ones are prepared.

        Yields:
            Each document with the number of its chunks, in order.

        Raises:
            InvalidDocumentError: a document cannot be indexed; those before it were yielded, and a
                few after it may have been added, too.
            IndexWriteError: the file system refused to write.
            ValueError: the index is closed.
        """
        added: deque[Document] = deque()

        def submitted() -> Iterator[Future[int]]:
            for document in documents:
                added.append(document)
                yield self.submit(document)

        for chunks in results(submitted()):
            yield added.popleft(), chunks

    def replace(self, document: Document) -> int:
        """Replace an existing document.

        Returns:
            The number of chunks it has now.

        Raises:
            DocumentNotFoundError: no document has this id, and none was added.
        """
        if not self.chunk_count(document.id):
            raise DocumentNotFoundError(document.id)
        return self.add(document)

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
        terms = [document_term(name) for name in source_documents]
        if terms:
            with self._writing():
                self._mark_changed()
                self._writer.deleteDocuments(terms)

    def update_file_state(self, source_document: str, state: FileState) -> None:
        """Store another state of the file of a document whose text is unchanged.

        Does nothing if there is no such document.
        """
        first_chunk = Term(schema.ID, schema.keyword(chunk_id(source_document, 1)))
        with self._writing():
            self._mark_changed()
            self._writer.updateDocValues(first_chunk, [file_state_field(source_document, state)])

    @property
    def folders(self) -> IndexedFolders:
        """Folders that documents come from; setting them makes them part of the next commit."""
        return self._folders

    @folders.setter
    def folders(self, folders: IndexedFolders) -> None:
        with self._writing():
            self._folders = folders
            self._changed = False
            self._mark_changed()

    @property
    def sentence_model(self) -> SentenceModel | None:
        """Sentence model of the vectors; None without search by meaning.

        Setting another one removes all vectors, in the next commit.
        """
        return self._model

    @sentence_model.setter
    def sentence_model(self, model: SentenceModel | None) -> None:
        with self._writing():
            if self._model and not (model and model.makes_same_vectors(self._model)):
                self._remove_vectors()
            self._model = model
            self._changed = False
            self._mark_changed()

    def set_vectors(self, values: Mapping[str, bytes]) -> int:
        """Store the vectors of chunks whose text is still the one that was embedded.

        Args:
            values: the value of each chunk by its id, see `shared.semantic.windows.packed`.

        Returns:
            The number of chunks whose vectors were stored.
        """
        stored = 0
        with self._writing(), closing(DirectoryReader.open(self._writer)) as reader:
            searcher = IndexSearcher(reader)
            for id_, value in values.items():
                if key_with_id(searcher, id_) == value[:KEY_BYTES]:
                    self._mark_changed()
                    term = Term(schema.ID, schema.keyword(id_))
                    self._writer.updateDocValues(term, [vector_field(value)])
                    stored += 1
        return stored

    def _remove_vectors(self) -> None:
        # Most writers do not need it, and its import takes a while.
        from shared.query.lucene import terms_with_prefix

        if self._known:
            self._known.close()
            self._known = None
        with closing(DirectoryReader.open(self._writer)) as reader:
            # Every chunk has a language.
            for language, _ in terms_with_prefix(reader, schema.LANGUAGES, ""):
                term = Term(schema.LANGUAGES, language)
                self._writer.updateDocValues(term, [vector_field(None)])

    def chunk_count(self, source_document: str) -> int:
        """Return the number of chunks of a document, including uncommitted ones."""
        with self._writing(), closing(DirectoryReader.open(self._writer)) as reader:
            return int(IndexSearcher(reader).count(TermQuery(document_term(source_document))))

    def commit(self) -> None:
        """Make all changes so far durable, and visible to every reader at once.

        Raises:
            IndexWriteError: the file system refused to write; the last commit stays.
        """
        with self._writing():
            self._writer.commit()
            self._new_commit = None

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Use the writer after all submitted documents are written."""
        with self._attached():
            self._documents.wait()
            yield

    @contextmanager
    def _attached(self) -> Iterator[None]:
        if self._closed:
            raise ValueError(f"the index at {self.path} is closed")
        with vm.attached(), lucene_errors.writing(self.path):
            yield

    def _mark_changed(self) -> None:
        """Set the user data of the next commit, but only if there is something to commit."""
        if not self._changed:
            self._writer.setLiveCommitData(commit_data(self._folders, self.path, self._model))
            self._changed = True


def _check_readable(directory: Any, path: Path) -> tuple[IndexedFolders, SentenceModel | None]:
    """Return the folders and the model of the newest commit, or raise why it is unusable."""
    with closing(open_last_commit(directory, path)) as reader:
        return indexed_folders(reader, path), sentence_model(reader, path)
