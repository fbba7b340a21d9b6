"""What makes a hit likely to answer: which parts of the query it has."""

from itertools import pairwise

import pytest

from shared import Document, Index, Searcher
from shared.search.confidence import LOW

KITCHENS = "The kitchen has table {} beside the window that looks out on the yard."
FRENCH_KITCHENS = "La cuisine se trouve au fond du couloir, et la table {} est dans le salon."
GERMAN_KITCHENS = "Die Küche war früher ein Stall, und der Tisch {} war ein Geschenk der Nachbarn."


GUESTS = "each of the guests who came to see the house on the first day of the fair"


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    path = tmp_path_factory.mktemp("evidence") / "index"
    with Index(path, create=True) as index:
        for id_, title, content in (
            ("titled", "Espresso grinder manual", "How to keep it clean, and when to descale it."),
            ("beside", "Manual", "The espresso grinder is in the cupboard above the sink."),
            (
                "apart",
                "Inventory",
                f"An espresso was served to {GUESTS}, and somebody repaired the pepper grinder.",
            ),
            ("half", "Breakfast", "Every guest gets an espresso before the tour begins."),
            ("decision", "DEC-0054", "The roof is to be painted green before the winter comes."),
            ("mention", "Minutes", "As DEC-0054 says, the colour of the roof has been settled."),
            ("civil", "Books", "A history of the civil war in three volumes, bound in leather."),
            ("code", "Law", "A history of the civil code is on the shelf in the hall."),
            ("program", "Source", "The driver is written in C++, and only its tests are in C#."),
        ):
            index.add(Document(id_, title, content))
        for number in range(40):
            index.add(Document(f"kitchen {number}", "Kitchen", KITCHENS.format(number)))
            index.add(Document(f"cuisine {number}", "Cuisine", FRENCH_KITCHENS.format(number)))
            index.add(Document(f"küche {number}", "Küche", GERMAN_KITCHENS.format(number)))
    return Searcher(path)


def confidence(searcher: Searcher, query: str) -> dict[str, float]:
    found = searcher.search(query, limit=100).results
    return {hit.source_document: hit.confidence for hit in found}


def test_more_of_the_words_are_worth_more(searcher: Searcher) -> None:
    found = confidence(searcher, "espresso grinder")
    assert min(found["titled"], found["beside"], found["apart"]) > 0.6
    assert min(found["titled"], found["beside"]) > found["apart"]
    assert found["half"] < found["apart"] - 0.3


@pytest.mark.parametrize("query", ["DEC-0054", "what is DEC-0054", "what does DEC-0054 say?"])
def test_a_name_with_signs_is_there_or_not(searcher: Searcher, query: str) -> None:
    found = confidence(searcher, query)
    assert found["mention"] >= found["decision"] > LOW
    assert not searcher.search(query).low_confidence


@pytest.mark.parametrize("query", ["DEC-0054", '"espresso grinder"', "espres*", "/espress./"])
def test_what_is_asked_for_exactly_is_a_whole_answer(searcher: Searcher, query: str) -> None:
    assert searcher.search(query).results[0].confidence > 0.6


def test_one_word_that_is_there_is_an_answer(searcher: Searcher) -> None:
    found = confidence(searcher, "espresso")
    assert 0.5 < found["half"] < found["titled"]


@pytest.mark.parametrize(
    ("queries", "document"),
    [
        (("espresso grinder", "espreso grinder", "espreso grindeer"), "beside"),
        (("cupboard", "cupbord", "cubbord"), "beside"),
    ],
)
def test_a_similar_word_counts_by_how_similar_it_is(
    searcher: Searcher, queries: tuple[str, ...], document: str
) -> None:
    found = [confidence(searcher, query)[document] for query in queries]
    assert all(more > less + 0.02 for more, less in pairwise(found)), found
    assert found[-1] > LOW


def test_a_word_of_another_language_counts_as_in_that_of_the_question(searcher: Searcher) -> None:
    found = confidence(searcher, "what is the history of the civil war")
    assert found["civil"] > 0.7
    assert found["code"] < 0.6
    assert found.get("küche 1", 0) < LOW
    assert confidence(searcher, "wie war die Küche")["küche 1"] > 0.3


def test_a_name_with_signs_is_no_function_word(searcher: Searcher) -> None:
    # The French list has "c", as in "c'est".
    assert confidence(searcher, "C++ or C#")["program"] > 0.5


def test_what_a_group_requires_is_there_or_not(searcher: Searcher) -> None:
    found = confidence(searcher, "(espresso AND grinder) OR roof")
    assert found["beside"] == found["apart"] > found["mention"] >= LOW


def test_a_condition_that_all_hits_meet_tells_nothing(searcher: Searcher) -> None:
    assert set(confidence(searcher, "*:* -kitchen -Küche").values()) == {1.0}
