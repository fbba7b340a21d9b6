"""The order of hits, and what the best of them have in common."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared import Document, FileState, Index, Searcher, SourceFile, create
from shared.model.request import Syntax
from shared.model.weights import Weights
from shared.search.lucene_selection import REORDERED
from tests.conftest import add_documents

ROCKETS = "The rocket engine burns liquid fuel in its combustion chamber before the launch."
TOPIC = "rocket engine launch window crew schedule"
COUNT = REORDERED + 30


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ranking") / "index"
    with Index(path, create=True) as index:
        for number in range(5):
            index.add(Document(f"rocket {number}", "A", ROCKETS))
        index.add(Document("fuel", "B", "The rocket has liquid fuel in a combustion chamber."))
        index.add(Document("toy", "B", "The rocket has stripes on a pencil and an eraser."))
        for number in range(COUNT):
            odd = "odd " * (1 + number % 9)
            index.add(Document(f"far {number:03}", "C", f"An {odd} launch of nothing of the kind."))
    return path


@pytest.fixture(scope="module")
def searcher(path: Path) -> Iterator[Searcher]:
    with Searcher(path) as searcher:
        yield searcher


def found(path: Path, query: str, **weights: float) -> dict[str, float]:
    with Searcher(path, weights=Weights(**weights)) as searcher:
        hits = searcher.search(query, limit=100).results
        return {hit.source_document: hit.score for hit in hits}


def test_what_is_on_the_topic_gains_most(path: Path) -> None:
    plain, topical = found(path, TOPIC, feedback=0.0), found(path, TOPIC)
    assert topical["fuel"] - plain["fuel"] > topical["toy"] - plain["toy"]
    assert list(topical).index("fuel") < list(topical).index("toy")


def test_nothing_is_found_by_it_and_the_first_hit_stays(path: Path) -> None:
    plain, topical = found(path, TOPIC, feedback=0.0), found(path, TOPIC)
    assert plain.keys() == topical.keys()
    assert next(iter(plain.items())) == next(iter(topical.items()))


@pytest.mark.parametrize(
    "query",
    ["rocket", "rocket engine", '"rocket engine" the launch', "rocket stripes pencil eraser"],
)
def test_what_is_no_topic_or_answered_keeps_its_scores(path: Path, query: str) -> None:
    assert found(path, query) == found(path, query, feedback=0.0)


def test_pages_follow_each_other_beyond_the_hits_that_are_reordered(searcher: Searcher) -> None:
    whole = searcher.search(TOPIC, limit=100).results
    assert len(whole) > REORDERED
    paged = [
        hit
        for offset in range(0, 100, 7)
        for hit in searcher.search(TOPIC, limit=7, offset=offset).results
    ]
    assert [(hit.id, hit.score) for hit in paged] == [(hit.id, hit.score) for hit in whole]
    assert [hit.score for hit in whole] == sorted((hit.score for hit in whole), reverse=True)


def test_what_was_added_is_explained(searcher: Searcher) -> None:
    explained = {hit.id: hit for hit in searcher.explain(TOPIC, detail="scores", limit=20).hits}
    fuel = explained["fuel-chunk-001"]
    assert any(part.match == "terms of the best hits" for part in fuel.parts)
    for hit in explained.values():
        assert sum(part.score for part in hit.parts) == pytest.approx(hit.score, abs=0.001)


PIECE = "in which the owner of the land can end the lease"
OTHERWISE = "can end the lease in which the owner of the land"
FAR = "notice of any other thing that is in between them both and a period"


@pytest.mark.parametrize("syntax", ["auto", "plain"])
def test_a_text_comes_first_that_is_looked_for_by_a_piece_of_it(
    tmp_path: Path, syntax: Syntax
) -> None:
    add_documents(
        tmp_path / "index",
        Document("whole", "A", f"{FAR} There is one more case, {PIECE}. {FAR}"),
        *(Document(f"otherwise {number}", "B", f"{OTHERWISE}. {FAR}") for number in range(8)),
        *(Document(f"far {number}", "A", FAR) for number in range(60)),
    )
    for weights, first in ((Weights(whole=0), "otherwise 0"), (Weights(), "whole")):
        with Searcher(tmp_path / "index", weights=weights) as searcher:
            assert searcher.search(PIECE, syntax=syntax).results[0].source_document == first


def test_a_loanword_counts_as_much_as_another_word_of_the_main_language(empty_index: Path) -> None:
    add_documents(
        empty_index,
        Document("ports", "A", "Die offenen Ports des Servers stehen alle in der Datei."),
        Document("sky", "B", "Wenn sich das Wetter ändern will, sieht man es vorher am Himmel."),
        Document("menu", "C", "In der Kantine gibt es heute Suppe und danach einen Kuchen."),
        Document("english", "D", "The weather is fine today, and the sun shines all day long."),
    )
    assert next(iter(found(empty_index, "Ports ändern"))) == "ports"


def test_names_of_files_and_folders_are_words(tmp_path: Path) -> None:
    create(tmp_path / "index")
    text = "The revenue of the year, and the outlook of the company for the next one."
    with Index(tmp_path / "index") as index:
        for name in ("3M_2018_10K.pdf", "3M_2019_10K.pdf", "reports/Adobe_2018_10K.pdf"):
            file = SourceFile(name, FileState("", 4, 0, "hash"))
            index.add(Document(name, "Annual report", text, file=file))
    with Searcher(tmp_path / "index") as searcher:
        for query, first in (
            ("revenue of 3M in FY2018", "3M_2018_10K.pdf"),
            ("3M 2019 10-K", "3M_2019_10K.pdf"),
            ("Adobe revenue", "reports/Adobe_2018_10K.pdf"),
        ):
            assert searcher.search(query).results[0].source_document == first


def test_without_function_words_in_a_language_there_is_no_topic(tmp_path: Path) -> None:
    path = tmp_path / "index"
    about = "ロケットのエンジンは燃焼室で液体燃料を燃やす。発射の前に点検がある。"
    texts = [
        *[about] * 5,
        "ロケットの液体燃料を燃焼室で燃やす。",
        "ロケットの絵がある鉛筆。",
        *["別のことについての文章。"] * COUNT,
    ]
    add_documents(path, *(Document(f"{n}", "A", text) for n, text in enumerate(texts)))
    query = "ロケットのエンジンの発射と点検"
    assert found(path, query) == found(path, query, feedback=0.0)
