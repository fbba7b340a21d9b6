"""Writers that wait, documents written by a thread of its own, and vectors that are kept."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from java.nio.file import Paths
from java.util import Arrays
from org.apache.lucene.index import IndexWriterConfig
from org.apache.lucene.store import FSDirectory

from shared import (
    Document,
    Index,
    IndexedFolder,
    IndexedFolders,
    IndexSchemaError,
    InvalidDocumentError,
    Searcher,
)
from shared.java import vm
from shared.maintenance.embedding import embedding_state
from shared.model import schema
from shared.semantic.sentence_model import SentenceModel
from shared.semantic.windows import key_of, packed
from shared.storage.mapping import Batch, to_lucene
from shared.writing.writer import locked, open_writer
from tests.conftest import add_documents
from tests.idx.raw_index import stored
from tests.systems import is_in_time


@pytest.mark.soak
def test_merges_keep_the_order_where_it_is_asked_for(empty_index: Path) -> None:
    assert added(empty_index, keep_order=True) == [str(number) for number in range(60)]
    # Without, the small segments are merged first.
    assert added(empty_index, keep_order=False) != [str(number) for number in range(60)]


def added(path: Path, *, keep_order: bool) -> list[str]:
    """The ids of sixty documents, small and large, each a segment at first, in Lucene's order."""
    with vm.attached():
        directory = FSDirectory.open(Paths.get(str(path)))
        mode = IndexWriterConfig.OpenMode.CREATE
        writer = open_writer(directory, path, 0, mode, keep_order=keep_order)
        for number in range(60):
            words = " ".join(f"word{number}x{n}" for n in range(1_500 if number % 7 == 3 else 5))
            for _, batch in to_lucene(Document(str(number), "T", words)):
                writer.addDocuments(Arrays.asList(batch))
            writer.flush()
        writer.close()
        directory.close()
    return list(dict.fromkeys(chunk["source_document"] for chunk in stored(path)))


def test_a_writer_that_waited_keeps_the_folders_that_the_other_one_noted(
    empty_index: Path, tmp_path: Path
) -> None:
    folders = IndexedFolders((IndexedFolder("", tmp_path),))
    with Index(empty_index) as index:
        second = waiting_writer(empty_index)
        index.folders = folders
    second.join()
    with Searcher(empty_index) as searcher:
        assert searcher.folders() == folders
        assert searcher.chunk("late-chunk-001").content == "text"


def test_a_writer_that_waited_is_told_of_another_schema(
    empty_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[Exception] = []
    with Index(empty_index) as index:
        second = waiting_writer(empty_index, refused)
        with monkeypatch.context() as patched:
            patched.setattr(schema, "SCHEMA_VERSION", 99)
            index.folders = IndexedFolders()
    second.join()
    (error,) = refused
    assert isinstance(error, IndexSchemaError)
    assert "has schema version 99" in str(error)
    with pytest.raises(IndexSchemaError):
        Index(empty_index, wait=0)


def waiting_writer(path: Path, refused: list[Exception] | None = None) -> threading.Thread:
    """Another thread that adds a document as soon as it may; it waits when this returns."""

    def add() -> None:
        try:
            with Index(path, wait=30) as index:
                index.add(Document("late", "Late", "text"))
        except IndexSchemaError as error:
            assert refused is not None
            refused.append(error)

    thread = threading.Thread(target=add)
    thread.start()
    time.sleep(0.5)
    assert thread.is_alive()
    return thread


@is_in_time
def test_a_file_of_the_lock_that_vanishes_is_made_again(empty_index: Path) -> None:
    lock, is_over = empty_index / "write.lock", threading.Event()

    def delete() -> None:
        while not is_over.is_set():
            lock.unlink(missing_ok=True)
            # Not at every attempt, but at some of so many.
            time.sleep(0.0005)

    deleting = threading.Thread(target=delete)
    deleting.start()
    try:
        with vm.attached():
            directory = FSDirectory.open(Paths.get(str(empty_index)))
            for _ in range(1_000):
                with locked(directory, empty_index, 10):
                    pass
            directory.close()
    finally:
        is_over.set()
        deleting.join()


def test_documents_are_written_in_the_order_in_which_they_are_submitted(empty_index: Path) -> None:
    long = "long text " * 55_000
    with Index(empty_index) as index:
        written = [
            index.submit(Document(name, "Title", text))
            for name, text in [("a", "first"), ("b", long), ("a", "second"), ("c", ""), ("a", long)]
        ]
        # Whatever is called afterwards comes after them.
        assert index.delete("b") == 524
        for name in "def":
            index.submit(Document(name, "Title", long))
        index.commit()
        with Searcher(empty_index) as searcher:
            assert [one.source_document for one in searcher.documents().documents] == [*"adef"]
        assert [chunks.result() for chunks in written] == [1, 524, 1, 0, 524]


def test_nothing_is_committed_when_a_long_document_fails_in_a_later_part(empty_index: Path) -> None:
    def parts() -> Iterator[Batch]:
        yield from to_lucene(Document("a", "Title", "after " * 110_000))
        raise OSError("the text ends here")

    add_documents(empty_index, Document("a", "Title", "before"))
    with pytest.raises(OSError, match="the text ends here"), Index(empty_index) as index:  # noqa: PT012
        written = index._documents.submit("a", parts())  # noqa: SLF001 - no text fails so late
        with pytest.raises(OSError, match="the text ends here"):
            written.result()
        with pytest.raises(OSError, match="the text ends here"):
            index.commit()
    with Searcher(empty_index) as searcher:
        assert [hit.content for hit in searcher.search("before after").results] == ["before"]


def test_many_documents_tell_their_chunks_in_order(empty_index: Path) -> None:
    documents = [Document(str(n), f"Title {n}", "word " * 250 * (n % 3)) for n in range(100)]
    with Index(empty_index) as index:
        added = list(index.add_all(documents))
    assert added == [(document, (0, 1, 3)[n % 3]) for n, document in enumerate(documents)]


def test_documents_before_one_that_cannot_be_indexed_are_told(empty_index: Path) -> None:
    refused = Document("c", "Title", "text", {"creator": "c" * 1_000_001})
    documents = [Document(name, "Title", "text " * 50_000) for name in "ab"]
    told: list[str] = []
    with Index(empty_index) as index:
        with pytest.raises(InvalidDocumentError, match="metadata of the document 'c'"):  # noqa: PT012
            for document, _ in index.add_all([*documents, refused]):
                told.append(document.id)
        assert told == ["a", "b"]
        submitted = index.submit(refused)
        with pytest.raises(InvalidDocumentError, match="metadata of the document 'c'"):
            submitted.result()
        with pytest.raises(InvalidDocumentError, match="metadata of the document 'c'"):
            index.add(refused)
    with Searcher(empty_index) as searcher:
        assert [one.source_document for one in searcher.documents().documents] == told


MODEL = SentenceModel("e5", "hash", 4)
VECTOR = b"\x01\x02\x03\x04"
TEXTS = {f"d{number}": f"On day {number} it rained." for number in range(6)}


def document(name: str, text: str) -> Document:
    return Document(name, "Note", text)


@pytest.fixture
def index(tmp_path: Path) -> Path:
    path = tmp_path / "index"
    with Index(path, create=True) as index:
        for name, text in TEXTS.items():
            index.add(document(name, text))
        index.sentence_model = MODEL
        values = {
            f"{name}-chunk-001": packed(key_of("Note", text), [(0, len(text), VECTOR)])
            for name, text in TEXTS.items()
        }
        assert index.set_vectors(values) == 6
        of_another_text = packed(key_of("Note", "Another text."), [(0, 4, VECTOR)])
        assert index.set_vectors({"d1-chunk-001": of_another_text, "none": of_another_text}) == 0
    return path


def pending_after(path: Path, *documents: Document) -> int:
    add_documents(path, *documents)
    return embedding_state(path).pending


def test_the_same_text_keeps_its_vector_in_another_document(index: Path) -> None:
    assert pending_after(index, document("copy", TEXTS["d1"])) == 0
    assert pending_after(index, document("new", "Something else.")) == 1


def test_a_document_that_is_deleted_hands_its_vector_on(index: Path) -> None:
    with Index(index) as writer:
        writer.delete("d1")
        writer.add(document("moved", TEXTS["d1"]))
    assert embedding_state(index).pending == 0


def test_few_texts_added_to_a_large_index_are_not_looked_for(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.storage.passages._VALUES_PER_EMBEDDING", 3)
    own = document("d1", TEXTS["d1"])
    copies = [document(f"copy{number}", TEXTS["d2"]) for number in range(4)]
    # As long as embedding them takes less time than looking for them.
    assert pending_after(index, own, *copies[:2]) == 2
    assert pending_after(index, own, *copies) == 2
