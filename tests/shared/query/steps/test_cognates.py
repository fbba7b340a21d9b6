"""Words of other languages: those with the same root are found, those that are there stay alone."""

import csv
import re
from itertools import permutations
from pathlib import Path

import pytest

from shared import Document, Index, Searcher, create
from shared.model.weights import Weights
from shared.query.steps.cognates import spellings

DATA = Path(__file__).parents[3] / "data" / "cognates"
ROOTS = list(
    csv.DictReader((DATA / "cognates.tsv").read_text("utf-8").splitlines(), delimiter="\t")
)
PAIRS = [line.split("\t") for line in (DATA / "false-friends.tsv").read_text("utf-8").splitlines()]


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("kontrakt", "contract"),
        ("contratto", "contract"),
        ("elektrizitat", "electricity"),
        ("electricidad", "elettricita"),
        ("informatie", "informazione"),
        ("telefoon", "telephone"),
        ("bibliothek", "biblioteca"),
        ("musique", "muziek"),
        ("nikolaas", "nicolas"),
        ("estructura", "struttura"),
        ("garantie", "garanzia"),
        ("directeur", "direktor"),
    ],
)
def test_a_word_is_spelled_in_other_ways_and_back(word: str, other: str) -> None:
    for one, two in permutations((word, other)):
        expression = spellings(one)
        assert expression is not None
        assert re.fullmatch(expression, two)
        assert re.fullmatch(expression, one)


@pytest.mark.parametrize(
    ("word", "other"),
    [("house", "mouse"), ("contract", "contrast"), ("heart", "heat"), ("versicherung", "version")],
)
def test_a_letter_that_stands_for_no_other_is_needed(word: str, other: str) -> None:
    expression = spellings(word)
    assert expression is not None
    assert not re.fullmatch(expression, other)


@pytest.mark.parametrize("word", ["договор", "契約", "dec0054", "a" * 41, "", "x", "a.*b"])
def test_what_is_no_word_of_latin_letters_has_no_other_spelling(word: str) -> None:
    assert spellings(word) is None


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of words that look alike, each in a document of its own."""
    path = tmp_path_factory.mktemp("friends") / "index"
    create(path)
    with Index(path) as index:
        for word in dict.fromkeys(word for pair in PAIRS for word in pair):
            index.add(Document(word, "Note", word))
    return path


def test_words_that_are_there_find_no_others(words: Path) -> None:
    assert len(PAIRS) >= 40
    with Searcher(words) as searcher, Searcher(words, weights=Weights(similar=0)) as strict:
        for pair in PAIRS:
            for word in pair:
                answer = searcher.search(word)
                assert answer == strict.search(word)
                assert word in [hit.source_document for hit in answer.results]


@pytest.mark.parametrize(
    ("language", "least"),
    [
        ("en", 0.75),
        pytest.param("de", 0.72, marks=pytest.mark.soak),
        pytest.param("fr", 0.77, marks=pytest.mark.soak),
    ],
)
def test_most_words_with_a_common_root_are_found(
    tmp_path: Path, language: str, least: float
) -> None:
    create(tmp_path / "index")
    lines = (DATA.parent / "languages" / f"{language}.txt").read_text("utf-8").splitlines()
    with Index(tmp_path / "index") as index:
        for number, root in enumerate(ROOTS):
            if root[language]:
                text = f"{root[language]}. {lines[number % len(lines)]}"
                index.add(Document(str(number), "Note", text))
    asked = found = 0
    with Searcher(tmp_path / "index") as searcher:
        for number, root in enumerate(ROOTS):
            of_others = {word for code, word in root.items() if code != language} - {""}
            for word in sorted(of_others - {root[language]}) if root[language] else ():
                answer = searcher.search(word, content="none")
                asked += 1
                found += str(number) in [hit.source_document for hit in answer.results]
    assert found / asked >= least, f"{found} of {asked}"
