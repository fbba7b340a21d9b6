"""A query and the same in other words: both are searched, and the original leads."""

from pathlib import Path

import pytest

from shared import Document, Index, QueryError, Searcher
from shared.model.weights import Weights

GERMAN = "Wie lange ist die Kündigungsfrist?"
ENGLISH = "notice period lease"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rewritten") / "index"
    with Index(path, create=True) as index:
        german = "Die Kündigungsfrist beträgt drei Monate."
        english = "The notice period of the lease is three months."
        index.add(Document("german", "Mietvertrag", german, {"kind": "contract"}))
        index.add(Document("english", "Lease", english, {"kind": "contract"}))
        index.add(Document("notice", "Board", "A notice on the board.", {"kind": "letter"}))
        index.add(Document("lantern", "Nail", "A lantern hangs at the door."))
        index.add(Document("compass", "Nail", "A compass hangs at the door."))
        for number in range(20):
            index.add(Document(f"other {number}", "Other", f"The kitchen has table {number}."))
    return path


@pytest.fixture(scope="module")
def searcher(path: Path) -> Searcher:
    return Searcher(path)


def found(searcher: Searcher, query: str, rewritten: str | None, **options: object) -> list[str]:
    answer = searcher.search(query, rewritten=rewritten, **options)  # type: ignore[arg-type]  # passed on
    assert answer.totalHits >= len(answer.results)
    return [hit.source_document for hit in answer.results]


def test_both_are_searched(searcher: Searcher) -> None:
    assert found(searcher, "Kündigungsfrist", None) == ["german"]
    assert set(found(searcher, "Kündigungsfrist", ENGLISH)) == {"german", "english", "notice"}


def test_as_much_of_the_original_comes_first(searcher: Searcher) -> None:
    assert found(searcher, "lantern", "compass") == ["lantern", "compass"]
    assert found(searcher, "compass", "lantern") == ["compass", "lantern"]


def test_without_words_of_the_original_the_others_find_alone(searcher: Searcher) -> None:
    assert found(searcher, "Opzegtermijn", ENGLISH) == ["english", "notice"]


def test_all_words_of_one_of_the_two_are_needed(searcher: Searcher) -> None:
    both = found(searcher, "Kündigungsfrist Monate", ENGLISH, operator="and")
    assert set(both) == {"german", "english"}
    assert found(searcher, "Kündigungsfrist table", "notice kitchen", operator="and") == []


def test_counts_pages_and_facets_are_of_both(searcher: Searcher) -> None:
    whole = searcher.search("Kündigungsfrist", rewritten=ENGLISH, facets=["kind"])
    assert whole.totalHits == 3
    assert whole.rewritten == ENGLISH
    (facet,) = whole.facets
    assert {entry.value: entry.count for entry in facet.values} == {"contract": 2, "letter": 1}
    page = searcher.search("Kündigungsfrist", rewritten=ENGLISH, offset=1, limit=1)
    assert (page.totalHits, page.results) == (3, whole.results[1:2])


@pytest.mark.parametrize("rewritten", ["*:*", "kitchn* OR /.*/", '"', "((", "+x AND"])
def test_nothing_in_the_other_words_is_syntax(searcher: Searcher, rewritten: str) -> None:
    assert set(found(searcher, "Kündigungsfrist", rewritten)) <= {"german", "notice"}


def test_a_blank_query_shows_every_chunk_all_the_same(searcher: Searcher) -> None:
    answer = searcher.search("", rewritten=ENGLISH)
    assert answer.totalHits == 25
    assert answer.results == searcher.search("").results


@pytest.mark.parametrize("rewritten", ["", " ", "—"])
def test_no_other_words_change_nothing(searcher: Searcher, rewritten: str) -> None:
    assert searcher.search(GERMAN, rewritten=rewritten).results == searcher.search(GERMAN).results


def test_a_misspelled_word_of_the_original_is_suggested_alone(searcher: Searcher) -> None:
    assert searcher.search("kitchen", rewritten="leasse").suggestion is None
    assert searcher.search("kittchen", rewritten="leasse").suggestion == "kitchen"


def test_a_hit_is_as_likely_as_the_better_of_the_two(searcher: Searcher) -> None:
    def confidence(query: str, rewritten: str | None) -> dict[str, float]:
        answer = searcher.search(query, rewritten=rewritten)
        return {hit.source_document: hit.confidence for hit in answer.results}

    both, english = confidence("Kündigungsfrist", ENGLISH), confidence(ENGLISH, None)
    assert both["english"] > 0.5
    assert english["english"] > 0.5
    assert both["german"] >= confidence("Kündigungsfrist", None)["german"]
    assert confidence("what is a board", "the the")["notice"] > 0.5


def test_words_of_both_are_marked(searcher: Searcher) -> None:
    answer = searcher.search("months", rewritten=ENGLISH, content="passages")
    (passage,) = answer.results[0].passages or []
    assert all(f"<mark>{word}</mark>" in passage for word in ("months", *ENGLISH.split()))


def test_the_other_words_are_a_step(searcher: Searcher) -> None:
    explained = searcher.explain("Kündigungsfrist", detail="steps", rewritten=ENGLISH)
    assert explained.parsed == "Kündigungsfrist"
    assert explained.total_hits == 3
    steps = {step.step: step.query for step in explained.steps}
    assert steps["rewritten"] == ENGLISH
    assert "en:period" in steps["fields"]
    plain = searcher.explain("Kündigungsfrist", detail="steps")
    assert "rewritten" not in {step.step for step in plain.steps}


def test_what_they_count_for_is_a_weight(path: Path) -> None:
    def score(weight: float) -> float:
        searcher = Searcher(path, weights=Weights(rewritten=weight))
        hits = searcher.search("Opzegtermijn", rewritten="board").results
        return hits[0].score if hits else 0.0

    assert score(1.0) == pytest.approx(2 * score(0.5))
    assert score(0.0) == 0.0


def test_other_words_without_end_are_an_error(searcher: Searcher) -> None:
    with pytest.raises(QueryError, match="at most 20,000 are allowed"):
        searcher.search("x", rewritten="word " * 5_000)
