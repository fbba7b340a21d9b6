"""PDFs whose letters are set apart or kerned, and text that is none."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from idx.errors import SourceFileError
from idx.pdf.letters import is_garbled
from tests.idx.extraction.pdf_files import by_hand, extract, pages_by_hand, write_pages

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
    tmp_path: Path, write: Callable[[int, str], str], lines: int
) -> None:
    random.seed(3)
    content = "".join(write(280 - 20 * number, SENTENCE) for number in range(lines))
    text = extract(by_hand(tmp_path / "a.pdf", pages_by_hand([5], content))).text
    assert text.count(SENTENCE) == lines


def test_columns_of_short_words_stay_apart(tmp_path: Path) -> None:
    cells = [("A", "B", "ab"), ("C", "D", "cd"), ("E", "F", "ef")]
    content = "".join(
        f"BT /F1 9 Tf {20 + 60 * column} {200 - 20 * row} Td ({cell}) Tj ET "
        for row, each in enumerate(cells)
        for column, cell in enumerate(each)
    )
    text = extract(by_hand(tmp_path / "a.pdf", pages_by_hand([5], content))).text
    assert text.split() == [cell for row in cells for cell in row]


ROOT = Path(__file__).parents[3]
LEASE = (ROOT / "test-index" / "documents" / "lease-garden-flat.txt").read_text()[:1500]
LANGUAGES = ROOT / "tests" / "data" / "languages"


def shifted(text: str, places: int) -> str:
    return "".join(c if c == "\n" else chr(ord(c) + places) for c in text)


def test_glyphs_in_place_of_letters_are_recognized() -> None:
    assert is_garbled(shifted(LEASE, 0xE000))
    assert is_garbled("\ufffd" * 20 + " A few letters " + "\x04\x05" * 10)


def test_texts_in_any_language_code_and_tables_are_not(tmp_path: Path) -> None:
    texts = {
        *(file.read_text() for file in LANGUAGES.glob("*.txt")),
        *(file.read_text() for file in (ROOT / "idx" / "sync").glob("*.py")),
        (ROOT / "requirements.txt").read_text(),
        (ROOT / "docs" / "commands.md").read_text(),
        "\n".join(f"BX-{n:05} {n * 7919 % 977} QTY {n % 9} RAL {n}" for n in range(200)),
    }
    parts = [text[at : at + 2500] for text in texts for at in range(0, len(text), 2500)][:900]
    assert [part[:200] for part in parts if is_garbled(part)] == []


def test_such_pages_are_named_and_not_indexed(tmp_path: Path) -> None:
    bad = "\x01\x04\x05 \x06\x07\x08" * 10
    extracted = extract(write_pages(tmp_path / "a.pdf", ["A good page", bad]))
    assert extracted.text == "A good page"
    assert extracted.warnings == (
        "1 page not indexed (2): the fonts do not say which letters they show",
    )
    with pytest.raises(SourceFileError, match="has 1 page whose fonts do not say"):
        extract(write_pages(tmp_path / "b.pdf", [bad]))
