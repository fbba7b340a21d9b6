"""Sentences and list items of answers, and what they cite."""

import pytest

from shared.answers.citations import cited_numbers, sentences


def divided(text: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(text[start:end], tuple(numbers)) for start, end, numbers in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One is so [1]. Two is not.", [("One is so [1].", (1,)), ("Two is not.", ())]),
        ("One is so. [1] Two is [2]", [("One is so. [1]", (1,)), ("Two is [2]", (2,))]),
        ("One is so.[1][2] Two is!", [("One is so.[1][2]", (1, 2)), ("Two is!", ())]),
        ("It is 1.640,00 Euro [1, 3].", [("It is 1.640,00 Euro [1, 3].", (1, 3))]),
        ("Bis zum 31. August bleibt sie [1].", [("Bis zum 31. August bleibt sie [1].", (1,))]),
        ("Dr. Ott, z. B., said e.g. this.", [("Dr. Ott, z. B., said e.g. this.", ())]),
        ("It is § 3. [1] So it is.", [("It is § 3. [1]", (1,)), ("So it is.", ())]),
        (
            "These are:\n- one thing [1]\n- another thing\n",
            [("one thing [1]", (1,)), ("another thing", ())],
        ),
        (
            "1. First thing [1].\n2. Second thing [2].",
            [("First thing [1].", (1,)), ("Second thing [2].", (2,))],
        ),
        ("# Rent\n\nIt is due [1].", [("It is due [1].", (1,))]),
        ("It is due.\n\n[2]", [("It is due.\n\n[2]", (2,))]),
        ("It is due [1].\n- [2]", [("It is due [1].\n- [2]", (1, 2))]),
        ("Yes. It is due [1].", [("Yes. It is due [1].", (1,))]),
        ("Yes.", [("Yes.", ())]),
        ("A line that\ngoes on [1].", [("A line that\ngoes on [1].", (1,))]),
        (
            "保証は三年です[1]。電池は別です。",
            [("保証は三年です[1]。", (1,)), ("電池は別です。", ())],
        ),
        ("**It is due** [1].", [("**It is due** [1].", (1,))]),
        ("", []),
        ("[1]", []),
    ],
)
def test_an_answer_is_divided_into_statements(
    text: str, expected: list[tuple[str, tuple[int, ...]]]
) -> None:
    assert divided(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[2][1][2]", [2, 1]),
        ("[1, 2;3]", [1, 2, 3]),
        ("[1-3]", [1, 2, 3]),
        ("[1\u20133]", [1, 2, 3]),
        ("[3-1]", [3, 1]),
        ("[1-999]", [1, 999]),
        ("【4】 and [^5]", [4, 5]),
        ("[a] [1234] (1)", []),
    ],
)
def test_numbers_in_brackets_are_citations(text: str, expected: list[int]) -> None:
    assert cited_numbers(text) == expected
