"""How likely hits answer: the share of what was asked for that is in them."""

import pytest

from shared import Document, Searcher
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
    return {hit.source_document: hit.confidence for hit in searcher.search(query).results}


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
