from pathlib import Path
from typing import Any

import pytest

from shared import Document, Index, Searcher
from shared.errors import (
    ChunkNotFoundError,
    DocumentNotFoundError,
    IndexPathError,
    InvalidTextError,
)
from shared.model.document import Metadata
from tests.conftest import add_documents
from tests.shared.conftest import LONG


def test_a_hit_carries_all_there_is_to_a_chunk(filled_index: Path) -> None:
    with Searcher(filled_index) as searcher:
        (hit,) = searcher.search('"word999"').results
    assert hit.id == "long-chunk-005"
    assert hit.title == "Long - Part 5"
    assert hit.source_document == "long"
    assert hit.chunk_index == 5
    assert hit.score > 0
    assert hit.content is not None
    assert hit.content.endswith("word999")
    assert hit.metadata == {"year": 2020, "tags": ["a", "b"]}


def test_hits_come_best_first_and_page_by_page(filled_index: Path) -> None:
    with Searcher(filled_index) as searcher:
        answer = searcher.search("words few word1 word2", limit=100)
        scores = [hit.score for hit in answer.results]
        assert scores == sorted(scores, reverse=True)
        paged = [
            searcher.search("words few word1 word2", limit=1, offset=offset).results
            for offset in range(answer.totalHits + 1)
        ]
    assert [hit for page in paged for hit in page] == answer.results


def test_the_total_is_exact_above_lucenes_own_threshold(empty_index: Path) -> None:
    with Index(empty_index) as index:
        for number in range(1500):
            index.add(Document(str(number), "T", "common " * (1 + number % 7)))
    with Searcher(empty_index) as searcher:
        assert searcher.search("common", limit=3).totalHits == 1500


def test_walking_forth_and_back_visits_every_chunk(filled_index: Path) -> None:
    with Searcher(filled_index) as searcher:
        visited = ["long-chunk-001"]
        step = searcher.next_chunk(visited[-1])
        while step.chunk is not None:
            visited.append(step.chunk.id)
            assert step.has_previous
            assert step.has_next == (len(visited) < 5)
            step = searcher.next_chunk(visited[-1])
        assert visited == [f"long-chunk-{number:03d}" for number in range(1, 6)]
        assert (step.has_next, step.has_previous) == (False, True)
        for chunk_id in reversed(visited[:-1]):
            step = searcher.previous_chunk(visited.pop())
            assert step.chunk is not None
            assert step.chunk.id == chunk_id
            assert step.has_next
            assert step.has_previous == (chunk_id != "long-chunk-001")
        step = searcher.previous_chunk("long-chunk-001")
        assert (step.chunk, step.has_next, step.has_previous) == (None, True, False)


def test_a_document_of_one_chunk_has_no_neighbours(filled_index: Path) -> None:
    with Searcher(filled_index) as searcher:
        step = searcher.next_chunk("short-chunk-001")
        assert (step.chunk, step.has_next, step.has_previous) == (None, False, True)


def test_unknown_ids_are_named(filled_index: Path) -> None:
    with Searcher(filled_index) as searcher:
        with pytest.raises(ChunkNotFoundError, match="'long-chunk-006'"):
            searcher.next_chunk("long-chunk-006")
        with pytest.raises(ChunkNotFoundError, match="'nobody'"):
            searcher.previous_chunk("nobody")
        with pytest.raises(DocumentNotFoundError, match="'lon'"):
            searcher.document_chunks("lon")


@pytest.mark.parametrize(
    ("start", "count", "expected"),
    [(1, 2, [1, 2]), (4, 10, [4, 5]), (5, None, [5]), (6, 5, []), (1, None, [1, 2, 3, 4, 5])],
)
def test_reading_a_document_from_a_place_on(
    filled_index: Path, start: int, count: int | None, expected: list[int]
) -> None:
    with Searcher(filled_index) as searcher:
        answer = searcher.document_chunks("long", start_index=start, count=count)
    assert answer.total_chunks == 5
    assert [chunk.chunk_index for chunk in answer.chunks] == expected


def test_navigation_across_deletions(filled_index: Path) -> None:
    with Searcher(filled_index) as searcher:
        assert searcher.next_chunk("long-chunk-001").chunk is not None
        add_documents(filled_index, Document("long", "Long", " ".join(LONG.split()[:300])))
        step = searcher.next_chunk("long-chunk-001")
        assert step.chunk is not None
        assert (step.chunk.id, step.has_next) == ("long-chunk-002", False)
        with pytest.raises(ChunkNotFoundError):
            searcher.next_chunk("long-chunk-003")
        with Index(filled_index) as index:
            index.delete("long")
        with pytest.raises(ChunkNotFoundError):
            searcher.next_chunk("long-chunk-001")


def test_documents_are_listed_in_order_with_their_own_titles(filled_index: Path) -> None:
    add_documents(filled_index, Document("long/2", "Second", "text"))
    with Searcher(filled_index) as searcher:
        answer = searcher.documents()
        assert [
            (entry.source_document, entry.title, entry.chunk_count, entry.max_chunk_index)
            for entry in answer.documents
        ] == [("long", "Long", 5, 5), ("long/2", "Second", 1, 1), ("short", "Short", 1, 1)]
        assert (answer.total_documents, answer.total_chunks) == (3, 7)
        page = searcher.documents(offset=1, limit=1)
        assert [entry.source_document for entry in page.documents] == ["long/2"]
        assert (page.total_documents, page.total_chunks) == (3, 7)
        assert searcher.documents(offset=3).documents == []
        prefixed = searcher.documents(prefix="long")
        assert (prefixed.total_documents, prefixed.total_chunks) == (2, 6)


def test_statistics(filled_index: Path) -> None:
    add_documents(filled_index, Document("short", "Short", "other words"))
    with Searcher(filled_index) as searcher:
        figures = searcher.statistics()
    assert (figures.documents, figures.chunks, figures.schema_version) == (2, 6, 5)
    assert figures.size_bytes > 1000
    assert figures.lucene_version.startswith("10.")
    assert figures.path == str(filled_index)


def test_statistics_tell_nothing_of_deleted_documents(empty_index: Path) -> None:
    with Index(empty_index) as index:
        # Lucene merges a segment as soon as a fifth of its chunks are deleted.
        for number in range(9):
            english: Metadata = {"language": "en", "file_extension": "txt"}
            index.add(Document(f"{number}", "T", "text", english))
        index.add(Document("gone", "T", "text", {"language": "de", "file_extension": "pdf"}))
    with Index(empty_index) as index:
        index.delete("gone")
    with Searcher(empty_index) as searcher:
        figures = searcher.statistics()
    assert figures.deleted_chunks == 1
    assert (figures.languages, figures.formats) == ({"en": 9}, {"txt": 9})


@pytest.mark.parametrize(
    "arguments",
    [{"limit": 0}, {"offset": -1}, {"offset": 2**31}, {"operator": "AND"}, {"content": "half"}],
)
def test_arguments_out_of_range_are_refused(filled_index: Path, arguments: dict[str, Any]) -> None:
    with Searcher(filled_index) as searcher, pytest.raises(ValueError, match="is out of range"):
        searcher.search("x", **arguments)


def test_no_chunk_has_a_number_beyond_lucenes_count(filled_index: Path) -> None:
    with Searcher(filled_index) as searcher:
        assert searcher.document_chunks("long", start_index=2**32 + 1).chunks == []
        with pytest.raises(ValueError, match="count is out of range"):
            searcher.document_chunks("long", count=0)


def test_text_that_is_no_unicode_is_named(filled_index: Path) -> None:
    with Searcher(filled_index) as searcher:
        for look in (
            searcher.next_chunk,
            searcher.document_chunks,
            searcher.search,
            searcher.explain,
        ):
            with pytest.raises(InvalidTextError, match="lone surrogate at character 1"):
                look("a\udcff")
        with pytest.raises(InvalidTextError):
            searcher.documents(prefix="a\udcff")
    with pytest.raises(IndexPathError, match="its name is not valid Unicode"):
        Searcher(f"{filled_index}\udcff")
