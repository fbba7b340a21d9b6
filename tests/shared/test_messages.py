"""Numbers and their nouns."""

import pytest

from shared.messages import quantity


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
