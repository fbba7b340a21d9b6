"""What the best hits have in common moves others up, and adds none."""

import re
from pathlib import Path

import pytest

from shared import Document, Index, Searcher, create
from shared.model.weights import Weights
from shared.query.parser import parse
from shared.search.feedback import TERMS, topic_words

ROCKETS = "The rocket engine burns liquid fuel in its combustion chamber before the launch."
QUERY = "rocket engine launch window"


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
    "query",
    ["rocket", "rocket engine", '"rocket engine" the launch', "rocket stripes pencil eraser"],
)
def test_what_is_no_topic_or_answered_keeps_its_scores(path: str, query: str) -> None:
    assert found(path, query) == found(path, query, feedback=0.0)


@pytest.mark.usefixtures("path")
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
    assert "stems:en:combust" in feedback.query
    assert "stems:en:the" not in feedback.query
    (best,) = explained.hits
    assert sum(part.score for part in best.parts) == pytest.approx(best.score, abs=0.01)


def feedback_terms(searcher: Searcher, query: str) -> list[str]:
    """Language and stem of each term of the step, in the order of the step."""
    steps = searcher.explain(query, detail="scores", limit=1).steps
    (feedback,) = (step.query for step in steps if step.step == "feedback")
    return re.findall(r"stems:\(?([a-z]+:\w+)", feedback)


def test_the_terms_are_the_most_informative_ones(empty_index: Path) -> None:
    once = [f"b{number}x" for number in range(100)]
    text = f"rocket engine {'zebra amber ' * 3} {' '.join(once)}"
    with Index(empty_index) as index:
        for number in range(5):
            index.add(Document(f"rocket {number}", "A", text))
        for number in range(20):
            index.add(Document(f"other {number}", "B", "nothing of the kind"))
    with Searcher(empty_index) as searcher:
        terms = feedback_terms(searcher, "rocket engine launch")
    assert len(terms) == TERMS
    assert {term.partition(":")[2] for term in terms[:2]} == {"amber", "zebra"}


def test_the_terms_are_those_of_the_language_of_the_hits(empty_index: Path) -> None:
    german = "Die Miete für die Wohnung ist am ersten Tag eines Monats zu zahlen."
    english = "The rent for the flat has to be paid on the first day of a month."
    with Index(empty_index) as index:
        for number in range(5):
            index.add(Document(f"de {number}", "A", german))
            index.add(Document(f"en {number}", "B", english))
        for number in range(20):
            index.add(Document(f"other de {number}", "C", "Hier steht nichts von alledem."))
            index.add(Document(f"other en {number}", "D", "Nothing of the kind is to be read."))
    with Searcher(empty_index) as searcher:
        for query, language in (
            ("Miete Wohnung Garage Balkon", "de"),
            ("rent flat garage balcony", "en"),
        ):
            terms = feedback_terms(searcher, query)
            assert {term.partition(":")[0] for term in terms} == {language}
