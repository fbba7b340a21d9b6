"""Replies of models, as they are asked for and as they come."""

from itertools import pairwise

import pytest

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
