from pathlib import Path
from typing import Any

import pytest

from shared import Document, Index, Searcher
from shared.errors import (
    IndexPathError,
    InvalidTextError,
)
from shared.model.document import Metadata


def test_the_total_is_exact_above_lucenes_own_threshold(empty_index: Path) -> None:
    with Index(empty_index) as index:
        for number in range(1500):
            index.add(Document(str(number), "T", "common " * (1 + number % 7)))
    with Searcher(empty_index) as searcher:
        assert searcher.search("common", limit=3).totalHits == 1500


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
    [
        *({"limit": 0}, {"offset": -1}, {"offset": 2**31}, {"operator": "AND"}),
        *({"content": "half"}, {"min_confidence": -0.1}, {"min_confidence": 1.1}),
    ],
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
