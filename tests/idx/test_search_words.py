"""The words of `idx search` as they are typed."""

from pathlib import Path

import pytest

from shared import Document, Index
from tests.conftest import Idx
from tests.idx.files import found, searched


@pytest.fixture(autouse=True)
def _documents(empty_index: Path) -> None:
    with Index(empty_index) as index:
        index.add(Document("policy", "Policy", "Everybody has thirty days of paid vacation."))
        index.add(Document("days", "Diary", "Those were the days. No vacation at all."))
        index.add(Document("rent", "Lease", "The rent of the flat."))
        index.add(Document("garage", "Lease", "The rent of the garage."))


def test_several_words_need_no_quotes(idx: Idx) -> None:
    answer = searched(idx, "paid", "vacation")
    assert answer == searched(idx, "paid vacation")
    assert answer["query"] == "paid vacation"
    assert found(idx, "paid", "vacation", "--operator", "and") == ["policy"]
    assert found(idx, "paid", "--operator", "and", "vacation") == ["policy"]


def test_words_in_quotes_are_what_they_were(idx: Idx) -> None:
    assert set(found(idx, "vacation days")) == {"policy", "days"}
    assert set(found(idx, "days", "paid vacation")) == {"policy", "days"}
    assert found(idx, '"paid vacation"', "diary", "--operator", "or")[0] == "policy"
    assert found(idx, '"days of paid"') == ["policy"]


def test_words_after_two_dashes_may_begin_with_a_minus(idx: Idx) -> None:
    answer = idx("search", "--", "-garage", "rent").stdout
    assert "rent-chunk-001" in answer
    assert "garage-chunk-001" not in answer


def test_an_empty_query_shows_every_chunk(idx: Idx) -> None:
    shown = idx("search", "")
    assert shown.stderr == "4 chunks match; shown: 1 to 4.\n"
    # Nothing was asked, so nothing is likely or not.
    assert shown.stdout.startswith("1. Diary\n   days-chunk-001\n")


def test_no_word_at_all_is_a_usage_error_with_an_example(idx: Idx) -> None:
    refused = " ".join(idx("search", code=2).stderr.replace("│", " ").split())
    assert "give words to search for, such as: idx search vacation days" in refused


def test_one_chunk_matches(idx: Idx) -> None:
    assert idx("search", "thirty").stderr == "1 chunk matches; shown: 1 to 1.\n"
