"""`idx search` with facets, an order and an explanation."""

from pathlib import Path

import pytest

from shared import Document, Index
from tests.conftest import Idx
from tests.idx.files import searched
from tests.idx.preparation import index_files


@pytest.fixture
def _documents(empty_index: Path) -> None:
    with Index(empty_index) as index:
        index.add(Document("a", "Lease", "The notice period is three months.", {"year": 2020}))
        index.add(Document("b", "Letter", "No notice was given in time.", {"year": 2024}))


@pytest.mark.usefixtures("_documents")
def test_facets_are_printed_under_the_hits(idx: Idx) -> None:
    shown = idx("search", "notice", "--facet", "year").stdout
    assert "Lease" in shown
    assert [line.split() for line in shown.splitlines() if line.split()[:1] == ["2024"]] == [
        ["2024", "1"]
    ]


def test_files_are_counted_by_their_paths(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    for name in ("a.txt", "b.txt"):
        (tmp_path / "papers" / name).write_text("The notice period is three months.")
    index_files(empty_index, "papers")
    found = searched(idx, "notice", "--facet", "file_path")
    (facet,) = found["facets"]
    assert [entry["value"] for entry in facet["values"]] == [
        str(tmp_path / "papers" / name) for name in ("a.txt", "b.txt")
    ]


@pytest.mark.usefixtures("_documents")
def test_an_explanation(idx: Idx) -> None:
    shown = idx("search", "notice period", "--explain", "--detail", "scores").stdout
    assert "understood" in shown
    assert "stems:en:notic" in shown
    assert "a-chunk-001" in shown
    for other in (("--sort", "modified"), ("--facet", "language"), ("--min-confidence", "0.5")):
        refused = idx("search", "notice", "--explain", *other, code=2).stderr
        assert "--explain lists no hits" in refused
    assert (
        "--detail needs --explain" in idx("search", "notice", "--detail", "scores", code=2).stderr
    )
    explained = searched(idx, "notice", "--explain")
    assert explained["total_hits"] == 2
    assert explained["steps"][0] == {"step": "syntax", "query": "notice"}


@pytest.mark.usefixtures("_documents")
def test_a_misspelled_word_and_the_weak_tail(idx: Idx) -> None:
    shown = idx("search", "notise perriod", "--min-confidence", "0.3")
    assert "a-chunk-001" in shown.stdout
    assert "b-chunk-001" not in shown.stdout
    assert "Searched for: notice period\n" in shown.stderr
    unanswered = idx("search", "the recipe for notice soup with dumplings")
    assert "None of these is likely to answer the question." in unanswered.stderr
    assert "None of these" not in shown.stderr
    for wrong in ("1.5", "nan"):
        assert idx("search", "notice", "--min-confidence", wrong, code=2).stderr


def test_what_was_looked_for_and_what_may_have_been_meant_are_told(
    idx: Idx, empty_index: Path
) -> None:
    with Index(empty_index) as index:
        for number in range(101):
            index.add(Document(f"{number}", "Note", "You will receive a parcel on Monday."))
        index.add(Document("typo", "Note", "We recieve nothing."))
    assert "Searched for: parcel\n" in idx("search", "parcell").stderr
    meant = idx("search", "recieve")
    assert "Did you mean: receive\n" in meant.stderr
    assert meant.stdout.startswith("1. Note")
    assert "typo-chunk-001" in meant.stdout
