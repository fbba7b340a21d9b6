"""What a searcher sees while its index is written, exchanged, damaged or gone."""

import os
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from shared import Document, Index, Searcher, create
from shared.errors import (
    IndexMissingError,
    IndexSchemaError,
    McpLuceneError,
)
from tests.conftest import add_documents
from tests.systems import replaces_open_files


def replace_in_place(path: Path) -> None:
    for file in path.iterdir():
        file.unlink()
    # As many commits as the index before had: Lucene by itself takes the two for the same.
    add_documents(path, Document("new", "New", "text"))


def swap(path: Path) -> None:
    path.rename(path.with_name("moved"))
    add_documents(path, Document("new", "New", "text"))


@replaces_open_files
@pytest.mark.parametrize("change", [replace_in_place, swap])
def test_another_index_at_the_same_path_is_picked_up(
    filled_index: Path, change: Callable[[Path], None]
) -> None:
    with Searcher(filled_index) as searcher:
        assert searcher.search("").totalHits == 6
        change(filled_index)
        assert [hit.source_document for hit in searcher.search("").results] == ["new"]


@replaces_open_files
def test_a_refresh_is_a_newer_commit(filled_index: Path) -> None:
    with Searcher(filled_index) as searcher:
        assert searcher.refreshes == 0
        for number in range(1, 4):
            for _ in range(3):
                searcher.folders()
            assert searcher.refreshes == number
            add_documents(filled_index, Document("more", "More", "text"))
        swap(filled_index)
        searcher.folders()
        assert searcher.refreshes == 4
        shutil.rmtree(filled_index)
        with pytest.raises(IndexMissingError):
            searcher.folders()


def test_an_index_may_come_go_and_come_back(index_path: Path) -> None:
    with Searcher(index_path) as searcher:
        for _ in range(3):
            with pytest.raises(IndexMissingError, match="idx init"):
                searcher.search("x")
            create(index_path)
            assert searcher.search("x").totalHits == 0
            shutil.rmtree(index_path)


def test_an_index_of_another_program_is_named_as_such(index_path: Path) -> None:
    create(index_path)
    from java.nio.file import Paths
    from org.apache.lucene.index import IndexWriter, IndexWriterConfig
    from org.apache.lucene.store import FSDirectory

    other = index_path.with_name("other")
    with closing(
        IndexWriter(FSDirectory.open(Paths.get(str(other))), IndexWriterConfig())
    ) as writer:
        writer.commit()
    with Searcher(other) as searcher, pytest.raises(IndexSchemaError, match="another program"):
        searcher.search("x")
    with pytest.raises(IndexSchemaError, match="another program"):
        Index(other)
    with pytest.raises(IndexSchemaError, match="another program"):
        create(other)


@replaces_open_files
def test_threads_search_while_the_folder_is_exchanged(filled_index: Path) -> None:
    errors: list[McpLuceneError] = []
    done = threading.Event()

    def search(searcher: Searcher) -> None:
        while not done.is_set():
            try:
                searcher.search("word1")
            except IndexMissingError:
                pass  # between the two renames there is none
            except McpLuceneError as error:
                errors.append(error)

    other = filled_index.with_name("other")
    create(other)
    aside = filled_index.with_name("aside")
    with Searcher(filled_index) as searcher:
        threads = [threading.Thread(target=search, args=(searcher,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(50):
                filled_index.rename(aside)
                other.rename(filled_index)
                aside.rename(other)
                time.sleep(0.005)
        finally:
            done.set()
            for thread in threads:
                thread.join()
    assert errors == []


def long_ago(path: Path) -> None:
    for file in (*path.glob("segments_*"), path):
        os.utime(file, (time.time() - 3600,) * 2)


def test_a_commit_to_an_index_that_was_at_rest_is_seen_at_once(filled_index: Path) -> None:
    long_ago(filled_index)
    with Searcher(filled_index) as searcher:
        before = [searcher.search("").totalHits for _ in range(3)]
        add_documents(filled_index, Document("new", "New", "text"))
        assert searcher.search("").totalHits == before[-1] + 1


@replaces_open_files
def test_a_commit_put_into_the_place_of_one_at_rest_is_seen(
    filled_index: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    add_documents(other, Document("new", "New", "text"))
    long_ago(filled_index)
    with Searcher(filled_index) as searcher:
        for _ in range(3):
            searcher.search("")
        for file in other.iterdir():
            shutil.copy(file, filled_index / file.name)
        long_ago(filled_index)
        assert [hit.source_document for hit in searcher.search("").results] == ["new"]
