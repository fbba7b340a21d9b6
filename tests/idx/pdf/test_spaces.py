"""PDFs whose letters are set apart, each at a place of its own, or kerned."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Idx
from tests.idx.extraction.pdf_files import by_hand, extract, pages_by_hand

SENTENCE = "Here is some text that the reader of a report wants to find again"


def line(y: int, sentence: str, within: Callable[[], int], between: int, space: str = "") -> str:
    """A line of words; distances are thousandths of the size of the letters."""
    words = [
        "".join(f"({letter}) {-within()} " for letter in word[:-1]) + f"({word[-1]}{space})"
        for word in sentence.split()
    ]
    return f"BT /F1 8 Tf 9 {y} Td [{f' {-between} '.join(words)}] TJ ET "


def apart() -> int:
    return 400


def by_chance() -> int:
    return random.choice((0, 120, 250, 320))  # noqa: S311 - it keeps no secret


def at_places(y: int, sentence: str) -> str:
    """A line of letters that are each written by itself, as by the drivers of printers."""
    return "".join(
        f"BT /F1 6 Tf {9 + 4.4 * place:.1f} {y} Td ({letter}) Tj ET "
        for place, letter in enumerate(sentence)
        if letter != " "
    )


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda y, text: line(y, text, apart, 900), id="set apart"),
        pytest.param(lambda y, text: line(y, text, apart, 400, " "), id="set apart, with spaces"),
        pytest.param(lambda y, text: line(y, text, by_chance, 800), id="kerned"),
        pytest.param(lambda y, text: line(y, text, by_chance, 100, " "), id="kerned, with spaces"),
        pytest.param(at_places, id="letter by letter"),
    ],
)
@pytest.mark.parametrize("lines", [1, 6])
def test_letters_apart_are_words(
    idx: Idx, tmp_path: Path, write: Callable[[int, str], str], lines: int
) -> None:
    random.seed(3)
    folder = tmp_path / "letters"
    folder.mkdir()
    content = "".join(write(280 - 20 * number, SENTENCE) for number in range(lines))
    by_hand(folder / "a.pdf", pages_by_hand([5], content))
    idx("sync", "letters")
    shown = idx("show", "letters/a.pdf").stdout
    assert shown.count(SENTENCE) == lines
    assert "a.pdf" in idx("search", '"reader of a report"').stdout


def test_columns_of_short_words_stay_apart(tmp_path: Path) -> None:
    cells = [("A", "B", "ab"), ("C", "D", "cd"), ("E", "F", "ef")]
    content = "".join(
        f"BT /F1 9 Tf {20 + 60 * column} {200 - 20 * row} Td ({cell}) Tj ET "
        for row, each in enumerate(cells)
        for column, cell in enumerate(each)
    )
    text = extract(by_hand(tmp_path / "a.pdf", pages_by_hand([5], content))).text
    assert text.split() == [cell for row in cells for cell in row]
