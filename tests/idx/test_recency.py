"""`idx search --recency`, and hits in the order of their modification."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from shared import Document, Index, Searcher
from tests.conftest import Idx

NOW = datetime.now(UTC)


@pytest.fixture(autouse=True)
def _documents(empty_index: Path) -> None:
    """Two versions of a text, the better one older, and texts with other dates or none."""
    with Index(empty_index) as index:

        def add(id_: str, text: str, modified: str | None) -> None:
            index.add(Document(id_, id_, text, {"modified": modified} if modified else {}))

        old = (NOW - timedelta(days=400)).isoformat(timespec="seconds")
        add("old", "harbour dues harbour dues and the quay", old)
        new = (NOW - timedelta(days=10)).isoformat(timespec="seconds")
        add("new", "harbour dues, and of many other things in a much longer text", new)
        add("undated", "harbour dues, in a note", None)
        add("ancient", "harbour dues, in a chronicle", "1850-05")
        add("odd", "harbour dues, in a letter", "some day")


def hits(idx: Idx, *options: str) -> dict[str, Any]:
    found = idx.json("search", "harbour", "dues", *options)
    return {hit["source_document"]: hit for hit in found["results"]}


def test_newer_documents_come_first_if_somebody_asks_for_it(idx: Idx) -> None:
    plain, recent = hits(idx), hits(idx, "--recency", "180d")
    assert list(plain).index("old") < list(plain).index("new")
    assert next(iter(recent)) == "new"
    assert list(recent)[-1] == "ancient"
    for name, factor in {"new": 0.5 ** (10 / 180), "old": 0.5 ** (400 / 180)}.items():
        assert recent[name]["score"] == pytest.approx(plain[name]["score"] * factor, rel=1e-3)
        assert recent[name]["confidence"] == plain[name]["confidence"]
    # Without a usable date a document counts as one half-life old.
    for name in ("undated", "odd"):
        assert recent[name]["score"] == pytest.approx(plain[name]["score"] / 2)
    assert hits(idx, "--recency", "2y").keys() == plain.keys()
    assert next(iter(hits(idx, "--recency", "100y"))) == next(iter(plain))


def test_an_explanation_has_the_part_of_the_age(idx: Idx) -> None:
    explain = ("--recency", "26w", "--explain", "--detail", "scores", "--json")
    explained = json.loads(idx("search", "harbour", "dues", *explain).stdout)
    assert explained["steps"][-1] == {
        "step": "recency",
        "query": "scores are halved with every 182 days of age",
    }
    recent = hits(idx, "--recency", "26w")
    for hit in explained["hits"]:
        name = hit["id"].removesuffix("-chunk-001")
        assert hit["score"] == pytest.approx(recent[name]["score"], rel=1e-3)
        assert sum(part["score"] for part in hit["parts"]) == pytest.approx(hit["score"], abs=1e-3)
        assert any(part["match"].startswith("recency, times 0.") for part in hit["parts"])


@pytest.mark.parametrize("age", ["soon", "0d", "101y", "nan"])
def test_what_is_not_an_age_is_refused(idx: Idx, age: str) -> None:
    refused = " ".join(
        idx("search", "x", "--recency", age, code=2).stderr.replace("│", " ").split()
    )
    assert "is not an age" in " ".join(refused.split())


def test_the_newest_documents_are_listed_once_each(idx: Idx, empty_index: Path) -> None:
    with Index(empty_index) as index:
        newest = NOW.isoformat(timespec="seconds")
        index.add(Document("newest", "Newest", "harbour dues " * 900, {"modified": newest}))
    found = idx.json("search", "harbour", "--sort=-modified")
    # What is not a date comes before all dates.
    first = [hit["source_document"] for hit in found["results"]][:3]
    assert first == ["odd", "newest", "new"]
    with Searcher(empty_index) as searcher:
        recent = searcher.search("harbour", recency=180, group="document", content="none")
        assert recent.results[0].source_document == "newest"
        scores = [hit.score for hit in recent.results]
        assert scores == sorted(scores, reverse=True)
