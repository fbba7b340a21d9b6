"""The index open for writing."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from org.apache.lucene.index import DirectoryReader, IndexWriterConfig, Term
from org.apache.lucene.search import IndexSearcher, TermQuery

from shared.errors import DocumentNotFoundError
from shared.files import index_folder
from shared.java import vm
from shared.model import schema
from shared.model.chunks import chunk_id
from shared.model.document import Document, FileState
from shared.model.folders import IndexedFolders
from shared.settings.defaults import DEFAULT_WAIT
from shared.storage import lucene_errors
from shared.storage.commits import commit_data, commit_files, indexed_folders, open_last_commit
from shared.storage.directory import open_directory
from shared.storage.integrity import verify
from shared.storage.mapping import file_state_field, to_lucene
from shared.writing.creation import commit_empty
from shared.writing.document_queue import DocumentWriter, document_term, results
from shared.writing.writer import clean, open_writer


def create(path: Path | str) -> bool:
    """Create an empty index, readable by its owner only.

    Args:
        path: the index folder, which is created if it is missing; its parent must exist.

    Returns:
        False if there was an index already, which is left as it is.

    Raises:
        IndexPathError: the path is a file, a folder that holds something else, or one that
            cannot be written; or its parent does not exist.
        IndexFolderError: there is an index that this version cannot use, or a writer at work.
    """
    path = index_folder.absolute(path)
    index_folder.check(path)
    if not index_folder.holds_index(path):
        with Index(path, create=True) as index:
            return index.created
    # Without the lock, which another writer may have.
    with vm.attached(), closing(open_directory(path)) as directory:
        _check_readable(directory, path)
    return False


class Index:
    """An index open for writing; one at a time, whoever opens it.

    A context manager: leaving the block commits what was done in it, an exception takes all of
    it back to the last commit. Nothing is seen by readers before a commit.

    Args:
        path: the index folder.
        wait: seconds to wait for another writer to end.
        program: what the virtual machine is started for if it does not run yet.
        create: whether to create an empty index, as `create` does, if there is none. It is
            removed again if an exception ends the block before the first commit.

    Attributes:
        path: the index folder, absolute.
        created: whether the index was created when it was opened.

    Raises:
        IndexMissingError: there is no index at the path, and `create` is false.
        IndexPathError: the path is a file, or cannot be read; or no index can be created there.
        IndexLockedError: another writer held it all the time.
        IndexDamagedError: a file of it is missing, changed or cut short.
        IndexFolderError: the index cannot be used; the class says why.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        wait: float = DEFAULT_WAIT,
        program: vm.Program = "batch",
        create: bool = False,
    ) -> None:
        self.path = index_folder.absolute(path)
        is_new_folder = create and index_folder.prepare(self.path)
        index_folder.identify(self.path)
        with vm.attached(program), lucene_errors.writing(self.path):
            self._directory = open_directory(self.path)
            try:
                # Before the wait for another writer, which would be for nothing.
                if not create or DirectoryReader.indexExists(self._directory):
                    _check_readable(self._directory, self.path)
                modes = IndexWriterConfig.OpenMode
                mode = modes.CREATE_OR_APPEND if create else modes.APPEND
                self._writer = open_writer(self._directory, self.path, wait, mode)
                try:
                    self._creation = commit_empty(
                        self._writer, self._directory, self.path, is_new_folder=is_new_folder
                    )
                    # The other writer may have changed the folders, or the schema.
                    self._folders = _check_readable(self._directory, self.path)
                    # By damaged terms it would delete other chunks than those that are meant.
                    verify(self.path, commit_files(self._directory))
                except BaseException:
                    self._writer.rollback()
                    raise
            except BaseException:
                self._directory.close()
                raise
        self.created = self._creation is not None
        self._documents = DocumentWriter(self._writer, self.path)
        self._changed = False
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        is_unfinished = not self._closed
        with vm.attached(), lucene_errors.writing(self.path):
            try:
                if error_type is None and is_unfinished:
                    self._documents.wait()
                    self._writer.commit()
                    # Waits for merges, which a rollback would break off.
                    self._writer.close()
                    is_unfinished = False
            finally:
                # Does nothing after a close; after a failure it drops what was not committed.
                self._closed = True
                self._documents.close()
                self._writer.rollback()
                if is_unfinished:
                    clean(self._directory, self.path)
                    if self._creation is not None:
                        self._creation.undo(self._directory)
                self._directory.close()

    def add(self, document: Document) -> int:
        """Add a document, in place of the one with the same id if there is one.

        Returns:
            The number of chunks; 0 for a blank text, which only removes the old chunks.

        Raises:
            InvalidDocumentError: a metadata value cannot be indexed.
            IndexWriteError: the file system refused to write.
            ValueError: the index is closed.
        """
        return self.submit(document).result()

    def submit(self, document: Document) -> Future[int]:
        """Add a document as `add` does, while the caller gets the next one.

        Documents are written in the order in which they are submitted, and before whatever is
        called afterwards, such as a commit.

        Returns:
            What will have the number of chunks, or the error of `add`: every one is to be asked.

        Raises:
            ValueError: the index is closed.
        """
        with self._attached():
            self._mark_changed()
            return self._documents.submit(document.id, to_lucene(document))

    def add_all(self, documents: Iterable[Document]) -> Iterator[tuple[Document, int]]:
        """Add documents while the next ones are made ready.

        Yields:
            Each document with the number of its chunks, in the order in which they come.

        Raises:
            InvalidDocumentError: one cannot be indexed; those before it were yielded, and a few
                after it may be there, too.
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
        """Replace a document that is there.

        Returns:
            The number of chunks it has now.

        Raises:
            DocumentNotFoundError: there is none with this id, and none was added.
        """
        if not self.chunk_count(document.id):
            raise DocumentNotFoundError(document.id)
        return self.add(document)

    def delete(self, source_document: str) -> int:
        """Remove all chunks of a document.

        Returns:
            The number of chunks that were removed; 0 if there was no such document.
        """
        count = self.chunk_count(source_document)
        if count:
            with self._writing():
                self._mark_changed()
                self._writer.deleteDocuments([document_term(source_document)])
        return count

    def delete_documents(self, source_documents: Iterable[str]) -> None:
        """Remove all chunks of each document; an id that is not there is no error."""
        terms = [document_term(name) for name in source_documents]
        if terms:
            with self._writing():
                self._mark_changed()
                self._writer.deleteDocuments(terms)

    def update_file_state(self, source_document: str, state: FileState) -> None:
        """Note another state of the file of a document whose text stays as it is.

        Does nothing if there is no such document.
        """
        first_chunk = Term(schema.ID, schema.keyword(chunk_id(source_document, 1)))
        with self._writing():
            self._mark_changed()
            self._writer.updateDocValues(first_chunk, [file_state_field(source_document, state)])

    @property
    def folders(self) -> IndexedFolders:
        """The folders that documents come from; set, they are part of the next commit."""
        return self._folders

    @folders.setter
    def folders(self, folders: IndexedFolders) -> None:
        with self._writing():
            self._folders = folders
            self._changed = False
            self._mark_changed()

    def chunk_count(self, source_document: str) -> int:
        """The number of chunks a document has, what is not committed yet included."""
        with self._writing():
            reader = DirectoryReader.open(self._writer)
            try:
                return int(IndexSearcher(reader).count(TermQuery(document_term(source_document))))
            finally:
                reader.close()

    def commit(self) -> None:
        """Make everything done so far durable, and visible to every reader at once.

        Raises:
            IndexWriteError: the file system refused to write; the last commit stays.
        """
        with self._writing():
            self._writer.commit()
            self._creation = None

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Touch the writer after all that was submitted."""
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
        """Have the next commit name this version, only if there is something to commit."""
        if not self._changed:
            self._writer.setLiveCommitData(commit_data(self._folders, self.path))
            self._changed = True


def _check_readable(directory: Any, path: Path) -> IndexedFolders:
    """The folders of the newest commit; or the error that says why it cannot be used."""
    with closing(open_last_commit(directory, path)) as reader:
        return indexed_folders(reader, path)
