"""What the best hits have in common moves others up, and adds none."""

import pytest

from shared import Document, Index, Searcher, create
from shared.feedback import topic_words
from shared.query.parser import parse
from shared.weights import Weights

ROCKETS = "The rocket engine burns liquid fuel in its combustion chamber before the launch."
ANSWERED = "rocket engine launch"
QUERY = f"{ANSWERED} window"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("feedback") / "index"
    create(path)
    with Index(path) as index:
        for number in range(5):
            index.add(Document(f"rocket {number}", "A", ROCKETS))
        index.add(Document("fuel", "B", "The rocket has liquid fuel in a combustion chamber."))
        index.add(Document("toy", "B", "The rocket has stripes on a pencil and an eraser."))
        for number in range(20):
            index.add(Document(f"other {number}", "C", "Nothing of the kind is to be read here."))
    return str(path)


def found(path: str, query: str, **weights: float) -> dict[str, float]:
    with Searcher(path, weights=Weights(**weights)) as searcher:
        hits = searcher.search(query, limit=100).results
        return {hit.source_document: hit.score for hit in hits}


def test_what_is_on_the_topic_gains_most(path: str) -> None:
    plain, topical = found(path, QUERY, feedback=0.0), found(path, QUERY)
    assert topical["fuel"] - plain["fuel"] > topical["toy"] - plain["toy"]
    assert list(topical).index("fuel") < list(topical).index("toy")


def test_nothing_is_found_by_it(path: str) -> None:
    assert found(path, QUERY).keys() == found(path, QUERY, feedback=0.0).keys()
    assert "other 1" not in found(path, QUERY)


@pytest.mark.parametrize(
    "query", ["rocket", "rocket engine", '"rocket engine" the launch', ANSWERED]
)
def test_what_is_no_topic_or_answered_keeps_its_scores(path: str, query: str) -> None:
    assert found(path, query) == found(path, query, feedback=0.0)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("one two three", 3),
        ("one two two two", 0),
        ("one two", 0),
        ("+one two three", 0),
        ("one two title:three", 0),
        ("one two thr*", 0),
    ],
)
def test_a_topic_is_nothing_but_words(query: str, words: int) -> None:
    assert topic_words(parse(query, query, "or")) == words


def test_words_that_count_for_nothing_are_no_topic(path: str) -> None:
    # What has none of the other words has the score 0.
    nothing = "rocket^0 pencil^0 stripes^0 launch^0"
    assert found(path, nothing) == found(path, nothing, feedback=0.0)
    assert set(found(path, nothing).values()) == {0.0}


def test_the_terms_are_explained(path: str) -> None:
    with Searcher(path) as searcher:
        explained = searcher.explain(QUERY, detail="scores", limit=1)
    (feedback,) = (step for step in explained.steps if step.step == "feedback")
    assert "content.en:combustion" in feedback.query
    assert "content.en:the" not in feedback.query
    (best,) = explained.hits
    assert sum(part.score for part in best.parts) == pytest.approx(best.score, abs=0.01)
