"""Passages of a hit, as far as no server is needed to see them."""

from pathlib import Path

import pytest

from shared import Document, Index, Searcher


@pytest.mark.parametrize(
    ("content", "passage"),
    [
        ("Rent is due on the third.", "Rent is due on the third."),
        ("x" * 200, "x" * 200),
        ("x" * 199 + " yy", "x" * 199),
        ("word " * 41, ("word " * 39).rstrip()),
        ("x" * 201, "x" * 200),
        ("字" * 250, "字" * 200),
    ],
    ids=["short", "as long", "a word too long", "many words", "one long word", "without blanks"],
)
def test_where_only_the_title_matches_the_beginning_is_shown(
    empty_index: Path, content: str, passage: str
) -> None:
    with Index(empty_index) as index:
        index.add(Document("a", "Lease", content))
    with Searcher(empty_index) as searcher:
        (hit,) = searcher.search("lease", content="passages").results
    assert hit.passages == [passage]
