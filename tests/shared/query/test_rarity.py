"""A word that is common in one language of an index says little in the others."""

import re

import pytest

from shared import Document, Index, Searcher, create


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    path = tmp_path_factory.mktemp("rarity") / "index"
    create(path)
    with Index(path) as index:
        for number in range(12):
            text = f"Die Nachbarn und die Kinder sitzen am Abend im Garten, Tisch {number}."
            index.add(Document(f"de {number}", "Garten", text))
            text = f"The neighbours and their children sit in the garden at table {number}."
            index.add(Document(f"en {number}", "Garden", text))
        index.add(Document("kitchen", "Küche", "In der Küche steht ein alter Herd aus Eisen."))
        index.add(Document("dice", "Dice", "One die is a cube. Throw the die again and again."))
    return Searcher(path)


def test_a_common_word_does_not_win_where_it_is_rare(searcher: Searcher) -> None:
    best = searcher.search("die Küche").results[0]
    assert best.source_document == "kitchen"


def weight(searcher: Searcher, clause: str, query: str = "die cube") -> float:
    """The weight of a clause in the query that is run."""
    steps = {step.step: step.query for step in searcher.explain(query, detail="steps").steps}
    found = re.search(rf"{re.escape(clause)}\^([0-9.]+)", steps["index"])
    assert found, steps["index"]
    return float(found[1])


def test_only_the_common_word_loses_weight(searcher: Searcher) -> None:
    assert weight(searcher, "content.en:die") < 0.2 * weight(searcher, "content.en:cube")
    assert weight(searcher, "content.de:der") > 0.5 * weight(searcher, "content.en:cube")


def test_it_does_so_where_the_query_weights_it_too(searcher: Searcher) -> None:
    query = "die^2 cube^2"
    common = weight(searcher, "content.en:die", query)
    assert common < 0.2 * weight(searcher, "content.en:cube", query)
