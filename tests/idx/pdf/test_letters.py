"""Letters of PDFs that are drawn in parts, or that PDFium returns in another way."""

from pathlib import Path

import pytest

from idx.pdf.letters import with_lost_letters
from tests.idx.extraction.pdf_files import (
    ENGINES,
    FOUR_CELLS,
    by_hand,
    extract,
    pages_by_hand,
    set_letters,
    stream,
)

ACCENTS = (
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding<</Differences"
    "[1/grave/acute/dieresis/circumflex/tilde/hungarumlaut/ogonek/cedilla/dotlessi]>>>>"
)


def with_accents(file: Path, content: str) -> Path:
    return by_hand(file, {**pages_by_hand([5], content), 4: ACCENTS})


def accented(before: str, accent: int, letter: str) -> str:
    """Part of a line as LaTeX sets it: the accent, and the letter below it."""
    return f"({before}) -111 (\\00{accent}) 444 ({letter}) "


def test_accents_are_joined_to_their_letters(tmp_path: Path) -> None:
    words = [
        accented("J", 3, "org"),
        accented("Se", 5, "nor"),
        accented("", 2, "es"),
        accented("voil", 1, "a"),
        accented("Wst", 7, "ep"),
        accented("l", 6, "o"),
        accented("t", 4, "ete"),
        "(caf) -111 (\\002) 444 (e d) 28 (\\002) 306 (\\011a)",
    ]
    lines = "".join(f"1 0 0 1 20 {280 - 20 * n} Tm [{word}] TJ " for n, word in enumerate(words))
    read = extract(with_accents(tmp_path / "a.pdf", f"BT /F1 12 Tf {lines}ET"))
    assert read.text.split() == [
        "Jörg",
        "Señor",
        "és",
        "voilà",
        "Wstęp",
        "lő",
        "tête",
        "café",
        "día",
    ]


def test_accents_drawn_after_the_line_are_joined_to_their_letters(tmp_path: Path) -> None:
    # The letter s stands at 20 + 12 * 1.722, and PDFium returns the accent behind the line.
    content = "BT /F1 12 Tf 20 200 Td (tresc i) Tj 14 .3 Td (\\002) Tj 80 0 Td (next) Tj ET"
    assert extract(with_accents(tmp_path / "a.pdf", content)).text == "treśc i next"


@pytest.mark.parametrize("text", ["it's d'accord n'importe", "`code` of `a`", '"umlaut" and "x'])
def test_accents_in_place_of_quotes_stay(tmp_path: Path, text: str) -> None:
    written = text.replace("`", "\\001").replace("'", "\\002").replace('"', "\\003")
    read = extract(with_accents(tmp_path / "a.pdf", f"BT /F1 12 Tf 20 200 Td ({written}) Tj ET"))
    assert read.text == text.replace("'", "\xb4").replace('"', "\xa8")


@pytest.mark.parametrize("engine", ENGINES)
def test_accents_in_tables_are_joined_to_their_letters(tmp_path: Path, engine: str) -> None:
    words = "".join(f"{accented('M', 3, 'obel')} (  ) " for _ in range(5))
    line = f"BT /F1 6 Tf 20 200 Td [{words}] TJ ET "
    text = extract(with_accents(tmp_path / "a.pdf", line + FOUR_CELLS), engine).text
    assert text.count("Möbel") == 5
    assert ("c00 | c01" in text) == (engine != "pdfium")


@pytest.mark.parametrize(
    ("drawn", "read"),
    [
        pytest.param("bcb", "ثلاث", id="ligature"),
        pytest.param("bca", "الاث", id="ligature behind an alef"),
        pytest.param("eda", "الن", id="no ligature"),
    ],
)
def test_letters_of_the_ligature_lam_alef_are_in_their_order(
    tmp_path: Path, drawn: str, read: str
) -> None:
    objects = pages_by_hand([5], f"BT /F1 12 Tf 20 200 Td ({drawn}) Tj ET")
    set_letters(
        objects,
        "5 beginbfchar <61> <0627> <62> <062B> <63> <06440627> <64> <0644> <65> <0646> endbfchar",
    )
    assert extract(by_hand(tmp_path / "a.pdf", objects)).text == read


HEBREW = {ord("A") + n: chr(0x05D0 + n) for n in range(26)}
"""Hebrew letters, as which the font of these pages shows upper-case ones."""


FROM_RIGHT = "NMLKJIHGFEDCBA PONM"
FROM_LEFT = "a page of which most is read from the left"
APART = f") -5000 ({') 1400 ('.join('ABCDE')}"
"""Letters of a word, each drawn by itself from right to left."""


@pytest.mark.parametrize(
    ("above", "drawn", "read"),
    [
        (FROM_RIGHT, "EDFED api gateway CBABA", "ABABC api gateway DEFDE"),
        (FROM_RIGHT, "NML hyper-v DCBA", "ABCD hyper-v LMN"),
        (FROM_RIGHT, "FEDFED size: 10 CBA", "ABC size: 10 DEFDEF"),
        (FROM_RIGHT, "KJ 5% FED .1", "1. DEF 5% JK"),
        (FROM_RIGHT, "full stack test CBA - 2024", "2024 - ABC full stack test"),
        (FROM_RIGHT, ",grid app ,docker :CBA", "ABC: docker, grid app,"),
        (FROM_RIGHT, "apps (sql) CBA", "ABC apps (sql)"),
        (FROM_RIGHT, "the words CBA here", "the words ABC here"),
        (FROM_LEFT, "the words FED CBA here", "the words ABC DEF here"),
        (FROM_LEFT, "the words FED 12/03 CBA", "the words ABC 12/03 DEF"),
        (FROM_LEFT, "25 :CBA", "ABC: 25"),
        ("LKJI", APART, "ABCDE"),
    ],
)
def test_words_in_lines_of_both_directions_are_in_their_order(
    tmp_path: Path, above: str, drawn: str, read: str
) -> None:
    objects = pages_by_hand(
        [5], f"BT /F1 12 Tf 1 0 0 1 20 200 Tm ({above}) Tj 1 0 0 1 20 180 Tm [({drawn})] TJ ET"
    )
    set_letters(objects, "2 beginbfrange <20> <7e> <0020> <41> <5a> <05D0> endbfrange")
    text = extract(by_hand(tmp_path / "a.pdf", objects)).text
    assert text.splitlines()[1] == read.translate(HEBREW)


def test_ligatures_that_pdfium_does_not_know_are_read(tmp_path: Path) -> None:
    content = (
        "BT /F1 12 Tf 20 200 Td (Begri\\035 der Zukun\\036 Scha\\035ung kra\\035erscha\\036) Tj ET"
    )
    font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding<</Differences[29/f_f/f_t]>>>>"
    objects = {**pages_by_hand([5], content), 4: font}
    text = extract(by_hand(tmp_path / "a.pdf", objects)).text
    assert text == "Begriff der Zukunft Schaffung krafferschaft"


@pytest.mark.parametrize(
    ("drawn", "read"),
    [
        pytest.param("klasy\\034kator\\363w di\\033er", "klasyfikatorów differ", id="T1"),
        pytest.param("r\\034d gr\\034n di\\033er", "r\nd gr\nn dier", id="OT1"),
        pytest.param("klasy\\034kator\\363w \\027\\030", "klasy\nkatorów", id="other codes"),
    ],
)
def test_ligatures_of_bitmap_fonts_are_those_of_their_encoding(
    tmp_path: Path, drawn: str, read: str
) -> None:
    codes = [*range(23, 33), *range(97, 123), 243]
    names = " ".join(f"{code}/a{code}" for code in codes)
    objects = pages_by_hand([5], f"BT /F1 12 Tf 20 200 Td ({drawn}) Tj ET")
    objects[4] = (
        "<</Type/Font/Subtype/Type3/FontBBox[0 0 500 700]/FontMatrix[.001 0 0 .001 0 0]"
        f"/FirstChar 0/LastChar 255/Widths[{'500 ' * 256}]/Encoding<</Differences[{names}]>>"
        f"/CharProcs<<{' '.join(f'/a{code} 6 0 R' for code in codes if code != 32)}>>>>"
    )
    objects[6] = stream("500 0 0 0 500 700 d1 0 0 400 600 re f")
    assert extract(by_hand(tmp_path / "a.pdf", objects)).text == read


def test_a_long_row_of_letters_takes_no_longer_than_its_length() -> None:
    page = "a" * 300_000 + " gr\x1cn"
    assert with_lost_letters(page, page) == page
