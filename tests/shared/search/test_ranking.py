"""The order of hits where the best of them are scored again."""

from pathlib import Path

import pytest

from shared import Document, Index, Searcher, create
from shared.model.request import Syntax
from shared.model.search_results import Hit
from shared.model.weights import Weights
from shared.search.ranking import RESCORED

FAR = "notice of any other thing {} that is in between them both and a period"
COUNT = RESCORED + 30


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    path = tmp_path_factory.mktemp("ranking") / "index"
    create(path)
    with Index(path) as index:
        for number in range(COUNT):
            index.add(Document(f"far {number:03}", "A", FAR.format("odd " * (1 + number % 9))))
        index.add(
            Document(
                "near", "A", "notice period of any other thing that is in between them both and a"
            )
        )
    return Searcher(path)


def hits(searcher: Searcher, limit: int = 10, offset: int = 0) -> list[Hit]:
    return searcher.search("notice period", limit=limit, offset=offset).results


def test_neighbouring_words_come_first(searcher: Searcher) -> None:
    assert hits(searcher)[0].source_document == "near"


def test_pages_follow_each_other_beyond_the_hits_that_are_scored_again(searcher: Searcher) -> None:
    whole = hits(searcher, limit=100)
    assert len(whole) == COUNT + 1
    paged = [hit for offset in range(0, 100, 7) for hit in hits(searcher, limit=7, offset=offset)]
    assert [(hit.id, hit.score) for hit in paged] == [(hit.id, hit.score) for hit in whole]
    assert [hit.score for hit in whole] == sorted((hit.score for hit in whole), reverse=True)


def test_a_score_is_explained_with_what_was_added(searcher: Searcher) -> None:
    best = hits(searcher)[0]
    explained = searcher.explain("notice period", detail="scores").hits[0]
    assert explained.id == best.id
    assert explained.score == best.score
    assert sum(part.score for part in explained.parts) == pytest.approx(best.score, abs=0.001)
    assert any('"notice period"~3' in part.match for part in explained.parts)


def test_of_a_word_in_several_languages_the_best_one_is_explained(empty_index: Path) -> None:
    with Index(empty_index) as index:
        # Too short to tell its language.
        index.add(Document("a", "Lease", "Rent"))
    with Searcher(empty_index) as searcher:
        (explained,) = searcher.explain("rent", detail="scores").hits
    assert sum(part.score for part in explained.parts) == pytest.approx(explained.score, abs=0.001)


PIECE = "in which the owner of the land can end the lease"
OTHERWISE = "can end the lease in which the owner of the land"


@pytest.mark.parametrize("syntax", ["auto", "plain"])
def test_a_text_comes_first_that_is_looked_for_by_a_piece_of_it(
    tmp_path: Path, syntax: Syntax
) -> None:
    create(tmp_path / "index")
    with Index(tmp_path / "index") as index:
        index.add(Document("whole", "A", f"{FAR} There is one more case, {PIECE}. {FAR}"))
        for number in range(8):
            index.add(Document(f"otherwise {number}", "B", f"{OTHERWISE}. {FAR}"))
        for number in range(60):
            index.add(Document(f"far {number}", "A", FAR))
    for weights, first in ((Weights(whole_phrase=0), "otherwise 0"), (Weights(), "whole")):
        with Searcher(tmp_path / "index", weights=weights) as searcher:
            assert searcher.search(PIECE, syntax=syntax).results[0].source_document == first
