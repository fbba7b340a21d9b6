"""How likely hits answer: which parts of what was asked for are in them."""

from itertools import pairwise

import pytest

from shared import Document, Index, Searcher
from shared.search.confidence import LOW, probability
from tests.conftest import NewIndex


@pytest.fixture(scope="module")
def searcher(new_index: NewIndex) -> Searcher:
    text = "The notice period of the lease is three months, and what must be paid is due in May"
    path = new_index(
        Document("lease", "Lease", text),
        Document("notice", "Board", "A notice about the garden was put on the board."),
        Document("sea", "Boat", "A boat was seen far out at sea."),
        Document("level", "Noise", "The level of noise was measured."),
        *(Document(f"other {n}", "Other", f"The kitchen has table {n}.") for n in range(30)),
    )
    return Searcher(path)


def confidence(searcher: Searcher, query: str) -> dict[str, float]:
    return {
        hit.source_document: hit.confidence for hit in searcher.search(query, limit=100).results
    }


@pytest.mark.parametrize(
    "query", ["notice period", "what is the notice period?", '"notice period"', "lease AND months"]
)
def test_who_has_all_words_can_be_trusted(searcher: Searcher, query: str) -> None:
    assert confidence(searcher, query)["lease"] > 0.7
    assert not searcher.search(query).low_confidence


def test_who_has_some_words_can_be_trusted_less(searcher: Searcher) -> None:
    found = confidence(searcher, "notice period")
    assert LOW / 2 < found["notice"] < found["lease"] - 0.3


@pytest.mark.parametrize(
    "query",
    [
        "how is the sourdough bread baked in the kitchen oven",
        "what are the symptoms of allergies at the table",
        "who was the emperor of Rome and when did he paint a boat far away",
    ],
)
def test_a_question_on_something_else_has_no_answer(searcher: Searcher, query: str) -> None:
    answer = searcher.search(query)
    assert answer.totalHits > 0
    assert answer.low_confidence
    assert max(hit.confidence for hit in answer.results) < LOW


def test_a_number_is_there_with_zeros_too_but_counts_less(new_index: NewIndex) -> None:
    path = new_index(
        Document("padded", "A", "Invoice 0042 is settled."),
        Document(
            "exact", "B", "Invoice 42 is settled, as the bookkeeper wrote in May to all of us."
        ),
        Document("other", "C", "Invoice 43 is settled."),
    )
    found = confidence(Searcher(path), "settled 42")
    assert list(found) == ["exact", "padded", "other"]
    assert found["padded"] > found["other"] + 0.3


def test_browsing_asks_for_nothing(searcher: Searcher) -> None:
    answer = searcher.search("")
    assert not answer.low_confidence
    assert {hit.confidence for hit in answer.results} == {1.0}


def test_a_later_page_knows_the_best_hit(searcher: Searcher) -> None:
    assert not searcher.search("notice period", offset=1).low_confidence
    assert searcher.search("notice period", offset=1).results[0].confidence < 0.7


def test_every_page_tells_the_same_where_not_the_first_hit_is_the_best(searcher: Searcher) -> None:
    query = "boat^99 lea* months period due three paid notice"
    first, second, *_ = searcher.search(query, limit=3).results
    assert first.confidence < LOW < second.confidence
    for offset in range(5):
        for limit in (1, 3):
            assert not searcher.search(query, limit=limit, offset=offset).low_confidence


@pytest.mark.parametrize(("limit", "offset"), [(10, 0), (2, 0), (1, 3), (10, 3)])
def test_a_hit_that_is_not_among_the_first_three_does_not_make_an_answer(
    searcher: Searcher, limit: int, offset: int
) -> None:
    query = "boat^99 noise^99 garden^99 lea* months three paid"
    answer = searcher.search(query)
    likely = [hit.confidence for hit in answer.results]
    assert max(likely[:3]) < LOW < likely[3]
    assert searcher.search(query, limit=limit, offset=offset).low_confidence
    assert searcher.search(query, sort="source_document", limit=limit).low_confidence


@pytest.mark.parametrize("sort", ["source_document", "-source_document", "-chunk_index"])
def test_the_best_hit_tells_whether_there_is_an_answer_in_every_order(
    searcher: Searcher, sort: str
) -> None:
    query = "lease months notice period noise"
    for offset in range(3):
        assert not searcher.search(query, sort=sort, offset=offset, limit=1).low_confidence
    on_something_else = "how is the sourdough bread baked in the oven"
    assert searcher.search(on_something_else, sort=sort).low_confidence
    shown = searcher.search(query, sort="-source_document", limit=1).results[0]
    assert (shown.source_document, shown.confidence < LOW) == ("notice", True)


def test_hits_in_another_order_have_the_same_confidence(searcher: Searcher) -> None:
    by_name = searcher.search("notice period", sort="source_document").results
    assert {hit.source_document: hit.confidence for hit in by_name} == confidence(
        searcher, "notice period"
    )


@pytest.mark.parametrize("query", ["-notice", "-notice -boat"])
def test_what_must_not_match_is_no_question(searcher: Searcher, query: str) -> None:
    answer = searcher.search(query)
    assert not answer.low_confidence
    assert {hit.confidence for hit in answer.results} == {1.0}


def test_only_the_languages_of_the_index_have_function_words(searcher: Searcher) -> None:
    found = confidence(searcher, "sea level")
    assert found["sea"] == pytest.approx(found["level"], abs=0.01)


def test_more_evidence_is_a_higher_probability() -> None:
    rising = [probability(share / 100, share / 100) for share in range(101)]
    assert rising == sorted(set(rising))
    assert rising[0] == 0
    assert 0.8 < rising[-1] < 1
    assert probability(0.5, 1.0) > probability(0.5, 0.5)


@pytest.mark.parametrize("query", ["dentist 3pm", "dentist 15h", "dentist 15:00"])
def test_a_time_written_in_another_way_can_be_trusted(new_index: NewIndex, query: str) -> None:
    path = new_index(
        Document("later", "A", "The dentist is in on Thursday, 15:00."),
        *(Document(f"other {n}", "Other", f"The kitchen has table {n}.") for n in range(30)),
    )
    with Searcher(path) as searcher:
        assert confidence(searcher, query)["later"] > 0.5


KITCHENS = "The kitchen has table {} beside the window that looks out on the yard."
FRENCH_KITCHENS = "La cuisine se trouve au fond du couloir, et la table {} est dans le salon."
GERMAN_KITCHENS = "Die Küche war früher ein Stall, und der Tisch {} war ein Geschenk der Nachbarn."
GUESTS = "each of the guests who came to see the house on the first day of the fair"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
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


def test_more_of_the_words_are_worth_more(house: Searcher) -> None:
    found = confidence(house, "espresso grinder")
    assert min(found["titled"], found["beside"], found["apart"]) > 0.6
    assert min(found["titled"], found["beside"]) > found["apart"]
    assert found["half"] < found["apart"] - 0.3


@pytest.mark.parametrize("query", ["DEC-0054", "what is DEC-0054", "what does DEC-0054 say?"])
def test_a_name_with_signs_is_there_or_not(house: Searcher, query: str) -> None:
    found = confidence(house, query)
    assert found["mention"] >= found["decision"] > LOW
    assert not house.search(query).low_confidence


@pytest.mark.parametrize("query", ["DEC-0054", '"espresso grinder"', "espres*", "/espress./"])
def test_what_is_asked_for_exactly_is_a_whole_answer(house: Searcher, query: str) -> None:
    assert house.search(query).results[0].confidence > 0.6


def test_one_word_that_is_there_is_an_answer(house: Searcher) -> None:
    found = confidence(house, "espresso")
    assert 0.5 < found["half"] < found["titled"]


@pytest.mark.parametrize(
    ("queries", "document"),
    [
        (("espresso grinder", "espreso grinder", "espreso grindeer"), "beside"),
        (("cupboard", "cupbord", "cubbord"), "beside"),
    ],
)
def test_a_similar_word_counts_by_how_similar_it_is(
    house: Searcher, queries: tuple[str, ...], document: str
) -> None:
    found = [confidence(house, query)[document] for query in queries]
    assert all(more > less + 0.02 for more, less in pairwise(found)), found
    assert found[-1] > LOW


def test_a_word_of_another_language_counts_as_in_that_of_the_question(house: Searcher) -> None:
    found = confidence(house, "what is the history of the civil war")
    assert found["civil"] > 0.7
    assert found["code"] < 0.6
    assert found.get("küche 1", 0) < LOW
    assert confidence(house, "wie war die Küche")["küche 1"] > 0.3


def test_a_name_with_signs_is_no_function_word(house: Searcher) -> None:
    # The French list has "c", as in "c'est".
    assert confidence(house, "C++ or C#")["program"] > 0.5


def test_what_a_group_requires_is_there_or_not(house: Searcher) -> None:
    found = confidence(house, "(espresso AND grinder) OR roof")
    assert found["beside"] == found["apart"] > found["mention"] >= LOW


def test_a_condition_that_all_hits_meet_tells_nothing(house: Searcher) -> None:
    assert set(confidence(house, "*:* -kitchen -Küche").values()) == {1.0}
