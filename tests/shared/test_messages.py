"""Numbers with nouns, suggestions, cut texts and times."""

from datetime import datetime, timedelta, timezone

import pytest

from shared.messages import did_you_mean, quantity, shortened, utc_time


@pytest.mark.parametrize(
    ("number", "noun", "plural", "written"),
    [
        (0, "chunk", None, "0 chunks"),
        (1, "chunk", None, "1 chunk"),
        (2, "chunk", None, "2 chunks"),
        (1_234_567, "chunk", None, "1,234,567 chunks"),
        (1, "directory", None, "1 directory"),
        (2, "directory", None, "2 directories"),
        (2, "day", None, "2 days"),
        (1, "empty file", None, "1 empty file"),
        (3, "empty file", None, "3 empty files"),
        (1, "index", "indexes", "1 index"),
        (2, "index", "indexes", "2 indexes"),
    ],
)
def test_a_noun_agrees_with_its_number(
    number: int, noun: str, plural: str | None, written: str
) -> None:
    assert quantity(number, noun, plural) == written


def test_a_long_text_is_cut_and_says_so() -> None:
    assert shortened("abc", 3) == "abc"
    assert shortened("abcd", 3) == "abc…"


def test_the_nearest_name_is_suggested() -> None:
    assert did_you_mean("titel", ["title", "content"], "nothing") == "did you mean 'title'?"
    assert did_you_mean("zzz", ["title", "content"], "nothing") == "nothing"
    assert did_you_mean("x" * 1_000_000, ["title"], "nothing") == "nothing"


@pytest.mark.parametrize(
    ("moment", "written"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1.9, "1970-01-01T00:00:01Z"),
        (
            datetime(2026, 7, 1, 12, 30, 5, 999, timezone(timedelta(hours=2))),
            "2026-07-01T10:30:05Z",
        ),
    ],
)
def test_a_moment_is_written_in_utc(moment: float | datetime, written: str) -> None:
    assert utc_time(moment) == written
