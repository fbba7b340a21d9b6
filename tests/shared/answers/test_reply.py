"""Replies of models: their text, its statements, what they cite, and quotes of passages."""

from itertools import pairwise

import pytest

from shared.answers.citations import cited_numbers, is_long_enough, sentences, stands_in
from shared.answers.prompt import read_reply, text_so_far
from tests.model_server import quoting

TEXT = "The rent is due on the third [1].\n\nIt is 1,640 euros [2]."
QUOTES = [(1, '"due on the third of each month"'), (2, '"rent is 1,640"')]
LINES = "\n".join(f"[{number}] {quote}" for number, quote in QUOTES)


@pytest.mark.parametrize(
    "reply",
    [
        f"{TEXT}\nQUOTES:\n{LINES}",
        f"\n\n{TEXT}\n\nQUOTES:\n\n{LINES}\n",
        f"{TEXT}\n**Quotes:**\n{LINES}",
        f"{TEXT}\n\n### Quotes\n{LINES}",
        f"{TEXT}\nZITATE\n{LINES}",
        f"{TEXT} QUOTES: {QUOTES[0][1].join(('[1] ', ''))}\n[2] {QUOTES[1][1]}",
        f"{TEXT}\nQUOTES: {LINES}",
        f"{TEXT}\n{LINES}",
        f"{TEXT}\n\n- [1]: {QUOTES[0][1]}\n- [2]: {QUOTES[1][1]}",
        f"{TEXT}\nQUOTES:\n1. [1] {QUOTES[0][1]}\n2. [2] {QUOTES[1][1]}",
        f"{TEXT}\nQUOTES:\n[1] {QUOTES[0][1]}, [2] {QUOTES[1][1]}",
    ],
)
def test_text_and_quotes_are_found_in_every_form(reply: str) -> None:
    read = read_reply(reply)
    assert read.text == TEXT
    assert [(number, quote.rstrip(",")) for number, quote in read.quotes] == QUOTES
    assert not read.declined
    # While it arrives, nothing is shown that is not in the end, and never less than before.
    shown = [text_so_far(reply[:length]) for length in range(len(reply) + 1)]
    assert all(later.startswith(earlier) for earlier, later in pairwise(shown))
    assert TEXT.startswith(shown[-1])
    assert len(shown[-1]) > len(TEXT) / 2


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("No answer came from the mast [1].", "No answer came from the mast [1]."),
        ("No quotes at all [1].", "No quotes at all [1]."),
        ("Sources of error are:\n- heat [1]", "Sources of error are:\n- heat [1]"),
        ("[1] says so.", "[1] says so."),
        ('He said [1] "yes" to it.', 'He said [1] "yes" to it.'),
    ],
)
def test_what_looks_a_little_like_quotes_is_text(reply: str, text: str) -> None:
    assert read_reply(reply).text == text
    assert text.startswith(text_so_far(reply))


@pytest.mark.parametrize("reply", ["NO ANSWER", "no answer.", "**NO ANSWER**", "NO ANSWER\nSorry"])
def test_a_model_may_decline(reply: str) -> None:
    assert read_reply(reply).declined
    assert [text_so_far(reply[:length]) for length in range(len(reply) + 1)] == [""] * (
        len(reply) + 1
    )


def test_reasoning_is_not_read_and_never_shown() -> None:
    reply = f'<think>[1] "no"\nQUOTES:</think>\n{TEXT}\nQUOTES:\n{LINES}'
    assert read_reply(reply).text == TEXT
    assert len(read_reply(reply).quotes) == 2
    shown = [text_so_far(reply[:length]) for length in range(len(reply) + 1)]
    assert all(TEXT.startswith(text) for text in shown)
    assert read_reply("<think>never ends").text == ""


def test_a_quote_may_have_several_lines() -> None:
    read = read_reply('It is due [1].\nQUOTES:\n[1] "due on the\nthird"\n[2] "of each\n\nmonth"')
    assert read.quotes == [(1, '"due on the\nthird"'), (2, '"of each\n\nmonth"')]


def test_numbers_within_a_quote_belong_to_it() -> None:
    read = read_reply(quoting("So it is [1].", "as shown before [7] in the notes"))
    assert read.quotes == [(1, '"as shown before [7] in the notes"')]


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
