"""German compounds: looked for by a part of theirs only where no chunk has the part."""

from dataclasses import replace
from pathlib import Path

import pytest

from shared import Document, Searcher
from shared.model.request import Syntax
from shared.model.weights import DEFAULT_WEIGHTS
from tests.conftest import add_documents

TEXTS = {
    "rent": "Der Mietvertrag für die Wohnung liegt unterschrieben im blauen Ordner.",
    "work": "Vor der Unterschrift unter die Arbeitsverträge prüft sie jede Kündigungsfrist genau.",
    "fine": "Bei verspäteter Übergabe sieht die Urkunde eine Vertragsstrafe von zwei Prozent vor.",
    "talk": "Der Vortrag über die Geschichte der Stadt war am Abend gut besucht.",
    "yard": "Auf dem Schulhof steht ein Kinderwagen neben einem großen Blumentopf.",
    "harm": "Die Konstante hat Nachteile, und die Menschen dort haben lange darauf gewartet.",
    "stem": "Der Prospekt zeigt eine Reihe von Bildern, die niemand je gesehen hat.",
}
TITLES = {"stem": "Das alte Treppenhaus"}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return indexed(tmp_path_factory.mktemp("compounds") / "index", TEXTS)


def indexed(path: Path, texts: dict[str, str]) -> Path:
    add_documents(
        path, *(Document(name, TITLES.get(name, name), text) for name, text in texts.items())
    )
    return path


def found(path: Path, query: str, syntax: Syntax = "auto") -> set[str]:
    with Searcher(path) as searcher:
        return {hit.source_document for hit in searcher.search(query, syntax=syntax).results}


@pytest.mark.parametrize(
    ("query", "documents"),
    [
        ("Vertrag", {"rent", "work", "fine"}),
        ("Verträge", {"rent", "work", "fine"}),
        ("vertrags?", {"rent", "work", "fine"}),
        ("+Vertrag +Ordner", {"rent"}),
        ("Miete", {"rent"}),
        ("Strafen", {"fine"}),
        ("Schule", {"yard"}),
        ("Kind", {"yard"}),
        ("Blume", {"yard"}),
        ("Treppe", {"stem"}),
        ("Häuser", {"stem"}),
    ],
)
def test_a_part_finds_its_compounds(path: Path, query: str, documents: set[str]) -> None:
    assert found(path, query) == documents
    with Searcher(path, weights=replace(DEFAULT_WEIGHTS, compound=0.0)) as searcher:
        hits = searcher.search(query).results
    assert {hit.source_document for hit in hits} != documents


@pytest.mark.parametrize(
    ("query", "documents"),
    [
        ("Wohnungsordner", {"rent"}),
        ("Abendbesuch", set()),  # "besucht" is another word
        ("Stadtgeschichten", {"talk"}),
        ("Bilderreihen", {"stem"}),
        ("Stadtordner", set()),  # no chunk has both
        ("Nachteil", {"harm"}),  # not "nach" and "teil"
        ("Übergaben", {"fine"}),
        ("Wohnungsordnr", set()),
        ("title:Wohnungsordner", set()),
        ("Vertrag -Wohnungsordner", {"rent", "work", "fine"}),
    ],
)
def test_a_compound_finds_its_parts(path: Path, query: str, documents: set[str]) -> None:
    assert found(path, query) == documents


@pytest.mark.parametrize(
    "query",
    [
        "Tante",  # Konstante: there is no "Kons"
        "Eile",  # Nachteile are of Nachteil
        "Mietver",  # no word, though "trag" is one
        "Hof",  # in too many others by chance
        "Wohnung",  # a chunk has it
        "Wohnungen",  # a form that a chunk has
        "Unterschriften",
        '"Vertrag Strafe"',
        "title:Vertrag",
        "Stadt -Vertrag",
        "DEC-0054",
        "-",
    ],
)
def test_what_is_no_part_or_is_there_finds_what_it_found(path: Path, query: str) -> None:
    with Searcher(path) as searcher:
        answer = searcher.search(query)
    with Searcher(path, weights=replace(DEFAULT_WEIGHTS, compound=0.0)) as searcher:
        assert answer == searcher.search(query)


def test_compounds_are_meant_rather_than_similar_words(path: Path) -> None:
    with Searcher(path) as searcher:
        answer = searcher.search("Vertrag")
        misspelled = searcher.search("Mietvertrg")
    assert answer.suggestion is None
    assert misspelled.suggestion == "Mietvertrag"


def test_syntax_to_the_letter_has_none(path: Path) -> None:
    assert found(path, "Vertrag", "plain") == {"rent", "work", "fine"}
    assert found(path, "Vertrag", "lucene") == set()


def test_a_compound_counts_less_than_a_word_that_is_there(path: Path) -> None:
    with Searcher(path) as searcher:
        hits = searcher.search("Vertrag Vortrag").results
    assert hits[0].source_document == "talk"
    assert len(hits) == 4


def test_the_compound_is_marked_in_passages_and_shown_among_the_steps(path: Path) -> None:
    with Searcher(path) as searcher:
        (hit,) = searcher.search("Vertrag Miete", content="passages", limit=1).results
        steps = {step.step: step.query for step in searcher.explain("Strafe", detail="steps").steps}
    assert hit.passages is not None
    assert "<mark>Mietvertrag</mark>" in hit.passages[0]
    assert "content:vertragsstrafe" in steps["fields"]


def test_no_more_than_eight_words_are_looked_for(path: Path) -> None:
    hopeless = "Affe Birne Dackel Eimer Fackel Gabel Hummel Insel"
    assert found(path, f"{hopeless[:-6]} Vertrag") == {"rent", "work", "fine"}
    assert "rent" not in found(path, f"{hopeless} Vertrag")


def test_an_index_without_german_has_none(tmp_path: Path) -> None:
    texts = {"team": "The handball team of the town is on its way to the match that it has to win."}
    path = indexed(tmp_path / "index", texts)
    assert found(path, "Hand") == set()
    german = indexed(tmp_path / "german", {**texts, "rent": TEXTS["rent"]})
    assert found(german, "Hand") == {"team"}


@pytest.mark.parametrize(
    "query",
    ["Kündigung Frist", "Frist Kündigung", "Frist für eine Kündigung", "Frist zur Kündigung"],
)
def test_two_words_that_others_have_find_their_compound_in_either_order(
    tmp_path: Path, query: str
) -> None:
    others = {"end": "Die Frist ist nicht verlängert worden.", "fired": "Die Kündigung kam spät."}
    path = indexed(tmp_path / "index", {"work": TEXTS["work"], **others})
    assert found(path, query) == {"work", "end", "fired"}
