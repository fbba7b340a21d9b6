"""Hits of `idx search` as people read them, with facets, an order and an explanation."""

import re
from pathlib import Path

import pytest

from shared import Document, Index
from tests.conftest import Idx, add_documents
from tests.idx.files import searched
from tests.idx.preparation import index_files
from tests.idx.test_add_files import pdf_of

pytestmark = pytest.mark.usefixtures("empty_index")

FILLER = "Nothing of any interest is said in this sentence of the text. "
WEAK = ("the recipe for notice soup with dumplings", "unlikely")


@pytest.fixture
def lease(empty_index: Path) -> None:
    text = (
        f"{FILLER * 5}The deposit is three rents. {FILLER * 8}A guarantee replaces it. {FILLER * 5}"
    )
    with Index(empty_index) as index:
        index.add(Document("lease", "Lease", text))
        index.add(Document("notice", "Letter", "No notice was given in time."))


@pytest.mark.usefixtures("lease")
@pytest.mark.parametrize(("query", "word"), [("deposit", "likely"), WEAK])
def test_the_confidence_is_a_word_and_the_number_of_the_tool(
    idx: Idx, query: str, word: str
) -> None:
    hit = idx.json("search", query)["results"][0]
    first = idx("search", query).stdout.splitlines()[0]
    assert first.endswith(f"  {word} ({hit['confidence']:.2f})")
    assert f"{hit['score']:.3f}" not in first


def test_the_place_of_a_file_is_its_path_with_the_pages_or_lines(idx: Idx) -> None:
    (idx.folder / "lease.pdf").write_bytes(pdf_of(["The first page.", "The deposit."], "Lease"))
    (idx.folder / "notes.txt").write_text("One\ntwo\nthe deposit\n")
    index_files(idx.index, idx.folder / "lease.pdf", idx.folder / "notes.txt")
    shown = idx("search", "deposit").stdout
    assert f"\n   {idx.folder / 'lease.pdf'}, pages 1-2\n" in shown
    assert f"\n   {idx.folder / 'notes.txt'}, lines 1-3\n" in shown


@pytest.mark.usefixtures("lease")
def test_what_is_cut_has_ellipses_and_parts_are_apart(idx: Idx) -> None:
    _, _, first, second = idx("search", "deposit guarantee").stdout.split("\n\n")[0].splitlines()
    for part, word in ((first, "**deposit**"), (second, "**guarantee**")):
        assert part.startswith("   … ")
        assert word in part
        assert part.endswith(" …")
    whole = idx("search", "notice", "--limit", 1).stdout.splitlines()[2]
    assert whole == "   No **notice** was given in time."


def test_a_part_at_an_end_of_the_text_is_cut_at_the_other_one_only(idx: Idx) -> None:
    with Index(idx.index) as index:
        index.add(Document("a", "A", f"The deposit comes first. {FILLER * 6}"))
        index.add(Document("b", "B", f"{FILLER * 6}The guarantee comes last."))
    first = idx("search", "deposit").stdout.splitlines()[2]
    assert first.startswith("   The **deposit** comes first. ")
    assert first.endswith(" …")
    last = idx("search", "guarantee").stdout.splitlines()[2]
    assert last.startswith("   … ")
    assert last.endswith(" The **guarantee** comes last.")


def test_parts_are_in_the_order_of_the_text_and_neighbours_are_one(idx: Idx) -> None:
    words = "alpha alpha beta " + "word " * 36 + "alpha beta gamma " + "word " * 200 + "delta"
    add_documents(idx.index, Document("a", "A", words))
    shown = idx("search", "alpha beta gamma delta").stdout.splitlines()[2:-1]
    assert [re.findall(r"\*\*(\w+)\*\*", part) for part in shown] == [
        ["beta", "alpha", "beta", "gamma"],
        ["delta"],
    ]
    assert shown[1].endswith("**delta**")


def test_a_match_has_words_before_and_after_it(idx: Idx) -> None:
    text = f"{'word ' * 38}deposit is three rents of the flat. A deposit {'word ' * 80}"
    add_documents(idx.index, Document("a", "A", text))
    (shown,) = idx("search", "deposit").stdout.splitlines()[2:-1]
    assert "word **deposit** is three rents of the flat. A **deposit** word word" in shown


def test_marks_and_control_characters_of_a_text_are_shown_as_they_are(idx: Idx) -> None:
    with Index(idx.index) as index:
        index.add(Document("a", "A", f"Use <mark>this</mark>\x1b[2J for the deposit. {FILLER * 6}"))
    shown = idx("search", "deposit").stdout
    assert r"\x1b[2J for the **deposit**. " in shown
    assert "\x1b" not in shown
    assert "   … " not in shown


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


def test_files_are_counted_by_their_paths(idx: Idx) -> None:
    (idx.folder / "papers").mkdir()
    for name in ("a.txt", "b.txt"):
        (idx.folder / "papers" / name).write_text("The notice period is three months.")
    index_files(idx.index, "papers")
    found = searched(idx, "notice", "--facet", "file_path")
    (facet,) = found["facets"]
    assert [entry["value"] for entry in facet["values"]] == [
        str(idx.folder / "papers" / name) for name in ("a.txt", "b.txt")
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


def test_what_was_looked_for_and_what_may_have_been_meant_are_told(idx: Idx) -> None:
    with Index(idx.index) as index:
        for number in range(101):
            index.add(Document(f"{number}", "Note", "You will receive a parcel on Monday."))
        index.add(Document("typo", "Note", "We recieve nothing."))
    assert "Searched for: parcel\n" in idx("search", "parcell").stderr
    meant = idx("search", "recieve")
    assert "Did you mean: receive\n" in meant.stderr
    assert meant.stdout.startswith("1. Note")
    assert "typo-chunk-001" in meant.stdout
