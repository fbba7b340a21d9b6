"""What the score of a hit is made of."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared import Document, Index, Searcher
from shared.search.lucene_selection import REORDERED
from tests.conftest import NewIndex


@pytest.fixture(scope="module")
def searcher(new_index: NewIndex) -> Iterator[Searcher]:
    text = "The notice period is three months, and the period of notice counts."
    lease = Document("lease", "Lease", text, {"author": "Ann"})
    house = Document("house", "House", "Die Häuser kosten Miete DEC-0054.")
    # Too short for a language.
    short = Document("short", "Short", "hotel")
    with Searcher(new_index(lease, house, short)) as searcher:
        yield searcher


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("notice", {"stems:en:notic", "content:notice"}),
        ('"notice period"', {'content:"notice period"', 'content:"notice period"~3'}),
        ("*otice", {"content.reversed:eciton", "content.reversed:ecito*^0.1"}),
        ("perioud~", {"content:period"}),
        ("haus", {"stems:de:haus"}),
        (
            "DEC-0054",
            {
                *('content:"dec 0054"', "content:dec", "content:0054"),
                *("stems:de:dec", "stems:de:0054", "content:dec0054"),
            },
        ),
        ("title:lease", {"title:lease", "title_stems:en:leas"}),
        ("author:Ann", {"metadata.author:Ann"}),
    ],
)
def test_the_parts_are_what_matched_and_add_up(
    searcher: Searcher, query: str, parts: set[str]
) -> None:
    (hit,) = searcher.explain(query, detail="scores").hits
    assert {part.match for part in hit.parts} == parts
    assert sum(part.score for part in hit.parts) == pytest.approx(hit.score, abs=0.001)
    assert [part.score for part in hit.parts] == sorted(
        (part.score for part in hit.parts), reverse=True
    )
    assert all(part.score == round(part.score, 4) for part in hit.parts)


def test_the_forms_of_a_word_in_several_languages_count_once(searcher: Searcher) -> None:
    (hit,) = searcher.explain("hotels", detail="scores").hits
    assert hit.id == "short-chunk-001"
    (part,) = hit.parts
    assert "stems:und:hotel" in part.match
    assert part.score == pytest.approx(hit.score, abs=0.001)


def test_hits_that_are_not_reordered_are_explained_too(empty_index: Path) -> None:
    with Index(empty_index) as index:
        for number in range(REORDERED + 5):
            index.add(Document(f"{number:02}", "Rent", f"The rent of apples is {number}."))
    with Searcher(empty_index) as searcher:
        hits = searcher.explain("rent apples", detail="scores", limit=REORDERED + 5).hits
        assert len(hits) == REORDERED + 5
        assert all(sum(part.score for part in hit.parts) for hit in hits)
        assert searcher.explain("rent apples", detail="scores", offset=REORDERED).hits
