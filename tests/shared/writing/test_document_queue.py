"""Documents that are written by a thread of their own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared import Document, Index, InvalidDocumentError, Searcher
from shared.storage.mapping import Batch, to_lucene
from tests.conftest import add_documents


def test_documents_are_written_in_the_order_in_which_they_are_submitted(empty_index: Path) -> None:
    long = "long text " * 55_000
    with Index(empty_index) as index:
        written = [
            index.submit(Document(name, "Title", text))
            for name, text in [("a", "first"), ("b", long), ("a", "second"), ("c", ""), ("a", long)]
        ]
        # Whatever is called afterwards comes after them.
        assert index.delete("b") == 524
        assert [chunks.result() for chunks in written] == [1, 524, 1, 0, 524]
    with Searcher(empty_index) as searcher:
        assert [one.source_document for one in searcher.documents().documents] == ["a"]


def test_a_document_that_breaks_off_takes_the_block_back(empty_index: Path) -> None:
    add_documents(empty_index, Document("a", "Title", "before"))
    with pytest.raises(KeyboardInterrupt), Index(empty_index) as index:  # noqa: PT012
        index.submit(Document("a", "Title", "after"))
        index.submit(Document("b", "Title", "after"))
        raise KeyboardInterrupt
    with Searcher(empty_index) as searcher:
        assert [hit.content for hit in searcher.search("before after").results] == ["before"]


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


def test_whatever_is_called_afterwards_comes_after_them(empty_index: Path) -> None:
    # As long as a text can be that is written while the caller goes on.
    text = "some words " * 50_000
    with Index(empty_index) as index:
        for name in "abc":
            index.submit(Document(name, "Title", text))
        assert index.delete("c") == 476
        index.submit(Document("d", "Title", text))
        index.commit()
        with Searcher(empty_index) as searcher:
            found = [one.source_document for one in searcher.documents().documents]
    assert found == ["a", "b", "d"]
