"""Which words of an index a word that is not in it may stand for."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared import Document, Index, Searcher, create
from shared.model.weights import Weights
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


FREQUENT = 200
"""Documents that have a word as it should be spelled."""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rare") / "index"
    with Index(path, create=True) as index:
        for number in range(FREQUENT):
            index.add(Document(f"{number}", "Note", f"You will receive parcel {number} on Monday."))
            index.add(Document(f"c{number}", "Note", "A casual talk of the zorblat."))
        for number in range(50):
            index.add(Document(f"s{number}", "Note", "It is in a separate room."))
        index.add(Document("misspelled", "Note", "We recieve nothing from that causal depot."))
        index.add(Document("seldom", "Note", "We have seperate rooms."))
        index.add(Document("forms", "Note", "They paid the receiving clerk for all zorblats."))
        for number in range(2):
            index.add(Document(f"twice{number}", "Note", "It came on a Mondey."))
    return path


def test_the_frequent_word_that_was_meant_is_told_and_the_hits_stay(path: Path) -> None:
    with Searcher(path) as searcher, Searcher(path, weights=Weights(similar=0)) as strict:
        answer = searcher.search("Recieve!")
        assert answer.suggestion == "receive!"
        assert not answer.suggestion_applied
        assert [hit.source_document for hit in answer.results] == ["misspelled"]
        assert answer.results == strict.search("Recieve!").results


@pytest.mark.parametrize(
    "query",
    [
        "recieve parcel",  # many chunks have the other word, and the best one is likely to answer
        "causal",  # is another word than "casual"
        "seperate",  # "separate" is in 50 chunks, which may be by chance
        "depot",  # no other word is like it
        "receive",
        "receiving",  # a form of a frequent word
        "mondey",  # "monday" is in 100 times as many chunks, which is not more than that
        '"recieve nothing"',
        "recieve*",
        "title:recieve",
    ],
)
def test_nothing_is_told_where_nothing_else_can_be_meant(path: Path, query: str) -> None:
    with Searcher(path) as searcher, Searcher(path, weights=Weights(similar=0)) as strict:
        answer = searcher.search(query)
        assert answer.suggestion is None
        assert answer == strict.search(query)


def test_nothing_is_told_of_what_must_not_match_or_is_meant_to_the_letter(path: Path) -> None:
    with Searcher(path) as searcher:
        assert searcher.search("+depot -recieve").suggestion is None
        assert searcher.search("recieve", syntax="lucene").suggestion is None


def test_few_hits_because_all_words_are_needed_are_a_poor_answer(path: Path) -> None:
    with Searcher(path) as searcher:
        answer = searcher.search("recieve parcel", operator="and")
    assert answer.totalHits == 0
    assert answer.suggestion == "receive parcel"


def test_a_form_of_a_frequent_word_is_not_misspelled_though_no_dictionary_has_it(
    path: Path,
) -> None:
    with Searcher(path) as searcher:
        answer = searcher.search("zorblats parcel", operator="and")
    assert (answer.totalHits, answer.suggestion) == (0, None)


def test_a_word_that_was_looked_for_and_one_that_was_not_are_told_together(path: Path) -> None:
    with Searcher(path) as searcher:
        answer = searcher.search("recieve depott", operator="and")
    assert answer.suggestion == "receive depot"
    assert not answer.suggestion_applied
    assert [hit.source_document for hit in answer.results] == ["misspelled"]
