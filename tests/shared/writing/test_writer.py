import threading
import time
from pathlib import Path

import pytest
from java.nio.file import Paths
from java.util import Arrays
from org.apache.lucene.index import IndexWriterConfig
from org.apache.lucene.store import FSDirectory

from shared import Document, Index, IndexedFolder, IndexedFolders, IndexSchemaError, Searcher
from shared.java import vm
from shared.model import schema
from shared.storage.mapping import to_lucene
from shared.writing.writer import locked, open_writer
from tests.idx.raw_index import stored


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
