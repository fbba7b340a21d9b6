"""Words that are misspelled in the index, too: what was meant is told, and nothing else changes."""

from pathlib import Path

import pytest

from shared import Document, Index, Searcher
from shared.model.weights import Weights

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
