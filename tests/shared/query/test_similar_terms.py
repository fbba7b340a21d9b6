"""Which words of an index a word that is not in it may stand for."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared import Document, Searcher, create
from shared.query.lucene import LuceneTerms, terms_of
from shared.query.spelling import similar_terms
from shared.reading.open_index import OpenIndex
from tests.conftest import NewIndex

TEXTS = {
    "planet": "A planet, a plane and a plant.",
    "meeting": "Meeting after meeting, and one more meeting.",
    "title only": "Nothing to read.",
    "contract": "The contract and the contrast.",
}


@pytest.fixture(scope="module")
def index(new_index: NewIndex) -> Path:
    return new_index(
        *(
            Document(title, "Zeppelin" if title == "title only" else title, text)
            for title, text in TEXTS.items()
        ),
        *(Document(f"folder {number}", "folder", "A blue folder.") for number in range(3)),
        Document("holder", "holder", "The folded paper is in it."),
    )


@pytest.fixture
def known(index: Path) -> Iterator[LuceneTerms]:
    opened = OpenIndex(index, "command")
    with opened.newest() as searcher:
        yield terms_of(searcher.getIndexReader())
    opened.close()


def terms(known: LuceneTerms, text: str, most_edits: int = 2) -> list[str]:
    return [term.text for term in similar_terms(known, text, most_edits)]


def test_what_is_one_letter_away_leaves_out_what_is_two_away(known: LuceneTerms) -> None:
    assert terms(known, "planete") == ["planet"]
    assert terms(known, "planetxx") == ["planet"]
    assert terms(known, "plannetx") == ["planet"]


def test_the_more_frequent_of_equally_similar_words_comes_first(known: LuceneTerms) -> None:
    assert terms(known, "foldex") == ["folder", "folded"]


def test_two_letters_are_wrong_only_where_it_is_allowed_and_the_word_is_long(
    known: LuceneTerms,
) -> None:
    assert terms(known, "meetnigg") == ["meeting"]
    assert terms(known, "meetnigg", 1) == []
    assert terms(known, "folxxr") == []


def test_a_word_of_titles_alone_is_found_with_one_and_with_two_mistakes(known: LuceneTerms) -> None:
    assert terms(known, "zepelin") == ["zeppelin"]
    assert terms(known, "zepelinn") == ["zeppelin"]


def test_the_first_letter_may_be_wrong_if_all_others_are_right(known: LuceneTerms) -> None:
    assert terms(known, "xontract") == terms(known, "ocntract") == ["contract"]
    assert terms(known, "xontracx") == []
    assert terms(known, "xlue") == []
    assert similar_terms(known, "xontract", same_beginning=True) == []
    assert terms(known, "kontract") == ["contract"]


def test_a_slip_is_more_likely_than_another_letter(known: LuceneTerms) -> None:
    assert terms(known, "plannt") == ["plant", "planet"]
    assert terms(known, "paltn") == []
    assert terms(known, "folderr") == ["folder"]


def test_similar_words_are_looked_for_in_an_index_without_titles(tmp_path: Path) -> None:
    create(tmp_path / "index")
    with Searcher(tmp_path / "index") as searcher:
        assert searcher.search("Kontrakt").totalHits == 0
