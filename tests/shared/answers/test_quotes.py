"""A quote is in a passage or it is not."""

import pytest

from shared.answers.citations import is_long_enough, stands_in

PASSAGE = """\
§ 2 Term. Either party may give notice with a period of nine\n   months. The monthly rent is
1,640.00 euros; the “deposit” is three rents — see the tenants' file.
| Depth | 40 m of water |
**Important:** never open the log\u00adger. Version 2.3.1 of the Straße. Contact: Zoë\u0308 Müller.
保証期間は三年です。電池は含まれません。"""


@pytest.mark.parametrize(
    "quote",
    [
        "Either party may give notice",
        "EITHER PARTY MAY GIVE NOTICE with a period of nine months.",
        "with a period of nine   months",
        '"The monthly rent is 1,640.00 euros"',
        "the 'deposit' is three rents".replace("'", '"'),
        "the «deposit» is three rents - see the tenants\u2019 file",
        "depth 40 m of water",
        "Important: never open the logger",
        "never open the logger. Version 2.3.1",
        "of the strasse. contact",
        "Müller".replace("ü", "u\u0308") + ". 保証期間は",
        "Either party … nine months",
        "Either party may [...] The monthly rent is 1,640.00",
        "保証期間は三年です",
        "電池は含まれません",
        "rent is\n1,640.00 euros",
    ],
)
def test_words_of_the_passage_are_a_quote(quote: str) -> None:
    assert stands_in(quote, PASSAGE)
    assert is_long_enough(quote)


@pytest.mark.parametrize(
    "quote",
    [
        "Either party may not give notice",
        "with a period of six months",
        "the monthly rent is 1,640.00 dollars",
        "The monthly rent is 1",
        "The monthly rent is 1,640.0",
        "onthly rent is 1,640.00",
        "640.00 euros; the deposit",
        "never open the log",
        "The monthly rent … Either party may",
        "the deposit is three … the deposit is three",
        "Version 2.3",
        "",
        '""',
        "…",
        "保証期間は五年です",
    ],
)
def test_anything_else_is_none(quote: str) -> None:
    assert not stands_in(quote, PASSAGE)


@pytest.mark.parametrize("quote", ["the", "rent is", "1,640.00", "...", "Either … nine months", ""])
def test_too_few_letters_prove_nothing(quote: str) -> None:
    assert not is_long_enough(quote)


def test_the_second_occurrence_counts_if_the_first_is_inside_a_word() -> None:
    assert stands_in("form of consent", "reform of consent, form of consent")
    assert not stands_in("form of consent", "reform of consent")
