"""Tables on the pages of PDFs: where they are looked for, and when they are read as text."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fpdf import FPDF
from fpdf.enums import TableBordersLayout

from idx.extraction.types import ExtractionOptions
from idx.pdf.reader import extract_pdf
from idx.pdf.tables import loses_words, merges_rows
from tests.conftest import Idx
from tests.idx.extraction.pdf_files import (
    FOUR_CELLS,
    FRUIT,
    FRUIT_ROWS,
    add_lines,
    add_table,
    by_hand,
    extract,
    pages_by_hand,
    set_letters,
    stream,
    write_pdf,
    write_table,
)


@pytest.mark.parametrize("engine", ["auto", "pdfplumber"])
def test_each_row_is_a_line_between_the_text_around_the_table(tmp_path: Path, engine: str) -> None:
    def write(pdf: FPDF) -> None:
        pdf.add_page()
        add_lines(pdf, "Above the table,\nin two lines.")
        add_table(pdf, FRUIT)
        add_lines(pdf, "Between the tables.")
        add_table(pdf, [["x", "y"], ["1", "2"]], width=60)
        add_lines(pdf, "Below the table.")

    assert extract(write_pdf(tmp_path / "a.pdf", write), engine).text == (
        f"Above the table,\nin two lines.\n{FRUIT_ROWS}\n"
        "Between the tables.\nx | y\n1 | 2\nBelow the table."
    )


def test_pdfium_alone_reads_no_rows(tmp_path: Path) -> None:
    file = write_table(tmp_path / "a.pdf")
    assert extract(file, "pdfium").text.split() == FRUIT_ROWS.replace("|", "").split()


def test_only_the_pages_with_tables_change(tmp_path: Path) -> None:
    def write(pdf: FPDF) -> None:
        for number in range(1, 5):
            pdf.add_page()
            add_lines(pdf, f"Page {number}")
            if number % 2 == 0:
                add_table(pdf, FRUIT)

    read = extract(write_pdf(tmp_path / "a.pdf", write))
    assert read.text == f"Page 1\n\nPage 2\n{FRUIT_ROWS}\n\nPage 3\n\nPage 4\n{FRUIT_ROWS}"
    assert [page.label for page in read.pages] == [1, 2, 3, 4]


def test_lines_of_a_cell_are_one_line_with_their_words_joined(tmp_path: Path) -> None:
    rows = [["a", "b"], ["first line\nsecond exam-\nple", "2"]]
    file = write_table(tmp_path / "a.pdf", rows)
    assert extract(file).text == "a | b\nfirst line second example | 2"


def test_an_empty_cell_keeps_its_place_and_an_empty_row_is_left_out(tmp_path: Path) -> None:
    rows = [["a", "b", "c"], ["1", "", "3"], ["", "", ""], ["4", "5", "6"]]
    file = write_table(tmp_path / "a.pdf", rows)
    assert extract(file).text == "a | b | c\n1 | | 3\n4 | 5 | 6"


def test_a_cell_over_several_columns_or_rows_is_there_once(tmp_path: Path) -> None:
    def write(pdf: FPDF) -> None:
        pdf.add_page()
        with pdf.table() as table:
            row = table.row()
            row.cell("wide", colspan=2)
            row.cell("c")
            row = table.row()
            row.cell("tall", rowspan=2)
            row.cell("e")
            row.cell("f")
            row = table.row()
            row.cell("h")
            row.cell("i")

    assert extract(write_pdf(tmp_path / "a.pdf", write)).text == "wide | c\ntall | e | f\nh | i"


@pytest.mark.parametrize(
    "layout", [TableBordersLayout.HORIZONTAL_LINES, TableBordersLayout.SINGLE_TOP_LINE]
)
def test_lines_that_form_no_grid_need_no_pdfplumber(
    tmp_path: Path, layout: TableBordersLayout
) -> None:
    def write(pdf: FPDF) -> None:
        pdf.add_page()
        with pdf.table(FRUIT, borders_layout=layout):
            pass

    read = extract(write_pdf(tmp_path / "a.pdf", write))
    assert read.text.split() == FRUIT_ROWS.replace("|", "").split()


def write_fruit(pdf: FPDF) -> None:
    pdf.add_page()
    add_table(pdf, FRUIT)


def write_boxes(pdf: FPDF) -> None:
    pdf.add_page()
    pdf.rect(10, 10, 100, 50)
    pdf.rect(20, 20, 50, 30)
    pdf.text(30, 30, "text in a box")


def write_empty_table(pdf: FPDF) -> None:
    pdf.add_page()
    pdf.text(30, 30, "text")
    pdf.add_page()
    add_table(pdf, [["", ""]] * 4)


@pytest.mark.parametrize(
    ("write", "loads"), [(write_boxes, False), (write_empty_table, False), (write_fruit, True)]
)
def test_pdfplumber_is_not_even_loaded_without_need(
    tmp_path: Path, write: Callable[[FPDF], object], loads: bool
) -> None:
    file = write_pdf(tmp_path / "a.pdf", write)
    for name in [name for name in sys.modules if name.partition(".")[0] == "pdfplumber"]:
        del sys.modules[name]
    extract(file)
    assert ("pdfplumber" in sys.modules) == loads


def test_the_grid_of_a_chart_is_no_table(tmp_path: Path) -> None:
    def write(pdf: FPDF) -> None:
        pdf.add_page()
        for step in range(6):
            pdf.line(20, 50 + 20 * step, 120, 50 + 20 * step)
            pdf.line(20 + 20 * step, 50, 20 + 20 * step, 150)
        pdf.text(30, 60, "Peak")
        pdf.text(20, 160, "Figure 1: the level of the river")

    file = write_pdf(tmp_path / "a.pdf", write)
    for engine in ("auto", "pdfplumber"):
        assert extract(file, engine).text == "Peak\nFigure 1: the level of the river"


def test_of_tables_within_each_other_every_word_is_there_once(tmp_path: Path) -> None:
    def write(pdf: FPDF) -> None:
        pdf.add_page()
        for box in ((10, 10, 90, 100), (100, 10, 90, 100), (10, 110, 90, 50), (100, 110, 90, 50)):
            pdf.rect(*box)
        for x, y, text in ((12, 120, "outer3"), (110, 120, "outer4"), (110, 20, "outer2")):
            pdf.text(x, y, text)
        for column in range(2):
            for row in range(2):
                pdf.rect(20 + 30 * column, 20 + 10 * row, 30, 10)
                pdf.text(22 + 30 * column, 27 + 10 * row, f"inner{column}{row}")

    for engine in ("auto", "pdfplumber"):
        text = extract(write_pdf(tmp_path / "a.pdf", write), engine).text
        assert "inner00 | inner10\ninner01 | inner11" in text
        words = text.replace("|", " ").split()
        assert len(words) == len(set(words)) == 7


def test_letters_printed_twice_to_be_bold_are_there_once(tmp_path: Path) -> None:
    def write(pdf: FPDF) -> None:
        pdf.add_page()
        add_table(pdf, FRUIT)
        for x in (20, 20.1):
            pdf.text(x, 100, "Bold words")

    for engine in ("auto", "pdfium", "pdfplumber"):
        text = extract(write_pdf(tmp_path / "a.pdf", write), engine).text
        assert text.endswith("\nBold words")


def test_a_table_drawn_within_a_form_object_is_found(tmp_path: Path) -> None:
    objects = pages_by_hand([5], "/X1 Do", page="/Resources<</XObject<</X1 6 0 R>>>>")
    objects[6] = (
        "<</Type/XObject/Subtype/Form/BBox[0 0 300 300]/Resources<</Font<</F1 4 0 R>>>>"
        f"/Length {len(FOUR_CELLS)}>>\nstream\n{FOUR_CELLS}\nendstream"
    )
    assert extract(by_hand(tmp_path / "a.pdf", objects)).text == "c00 | c01\nc10 | c11"


def test_a_table_of_a_protected_file_is_read(tmp_path: Path) -> None:
    def write(pdf: FPDF) -> None:
        pdf.set_encryption(owner_password="owner", user_password="word")
        pdf.add_page()
        add_table(pdf, FRUIT)

    assert extract(write_pdf(tmp_path / "a.pdf", write), password="word").text == FRUIT_ROWS


def test_a_page_that_pdfplumber_cannot_read_keeps_its_text(tmp_path: Path) -> None:
    file = write_table(tmp_path / "a.pdf")
    data = file.read_bytes()
    damaged = data.replace(b"/MediaBox [0 0 595.28 841.89]", b"/MediaBox [0 0 595.28 /841.9]")
    assert damaged != data
    file.write_bytes(damaged)
    read = extract(file)
    # Such a page is shown in the size of letters, without what stands above that.
    seen = [*"".join(read.hidden).split(), *read.text.split()]
    assert seen == FRUIT_ROWS.replace("|", "").split()
    (warning,) = read.warnings
    assert warning.startswith("1 page read without regard to tables (1): pdfplumber failed with ")


@pytest.mark.parametrize("engine", ["auto", "pdfplumber"])
def test_pages_for_which_no_time_is_left_keep_their_text(tmp_path: Path, engine: str) -> None:
    file = write_table(tmp_path / "a.pdf")
    options = ExtractionOptions(pdf_engine=engine, table_seconds=0)
    read = extract_pdf(file, file.read_bytes(), options)
    assert read.text.split() == FRUIT_ROWS.replace("|", "").split()
    warning = "1 page read without regard to tables (1): half of --timeout had passed"
    assert read.warnings == (warning,)


@pytest.mark.soak
def test_many_pages_of_tables_do_not_cost_the_file(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    def write(pdf: FPDF) -> None:
        for _ in range(60):
            pdf.add_page()
            add_table(pdf, [*FRUIT, *[["word"] * 6] * 20])

    write_pdf(tmp_path / "long.pdf", write)
    added = idx("add", "long.pdf", "--timeout", "4")
    assert "Added 1" in added.stdout
    assert "60): half of --timeout had passed" in added.stderr
    assert FRUIT_ROWS.splitlines()[1] in idx("show", "long.pdf").stdout


def test_a_page_that_pdfplumber_misreads_keeps_its_text(tmp_path: Path) -> None:
    coded = re.sub(r"\((...)\)", lambda word: f"<{word[1].encode('utf-16-be').hex()}>", FOUR_CELLS)
    objects = pages_by_hand([5], coded)
    # A font whose codes are not said to be those of Unicode.
    objects[4] = (
        "<</Type/Font/Subtype/Type0/BaseFont/Arial/Encoding/Identity-H/DescendantFonts[6 0 R]>>"
    )
    objects[6] = (
        "<</Type/Font/Subtype/CIDFontType2/BaseFont/Arial/DW 500/FontDescriptor 7 0 R"
        "/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>>>"
    )
    objects[7] = "<</Type/FontDescriptor/FontName/Arial/Flags 32/FontBBox[0 0 500 700]>>"
    file = by_hand(tmp_path / "a.pdf", objects)
    assert "(cid:" in extract(file, "pdfplumber").text
    assert extract(file).text == "c00 c01\nc10 c11"


def test_a_table_in_a_right_to_left_script_keeps_the_order_of_its_letters(tmp_path: Path) -> None:
    objects = pages_by_hand([5], FOUR_CELLS)
    set_letters(objects, "3 beginbfchar <63> <05D2> <30> <05D0> <31> <05D1> endbfchar")
    text = extract(by_hand(tmp_path / "a.pdf", objects)).text
    assert sorted(text.split()) == ["אאג", "אבג", "באג", "בבג"]


def test_text_written_between_the_cells_of_a_table_does_not_repeat_it(tmp_path: Path) -> None:
    first, second = FOUR_CELLS.split("BT /F1 9 Tf 5 106", 1)
    file = by_hand(
        tmp_path / "a.pdf",
        pages_by_hand(
            [5], f"{first} BT /F1 9 Tf 5 200 Td (Between) Tj ET BT /F1 9 Tf 5 106{second}"
        ),
    )
    assert extract(file).text == "c00 | c01\nc10 | c11\nBetween"


@pytest.mark.parametrize("engine", ["auto", "pdfplumber"])
def test_the_columns_of_a_table_on_its_side_are_not_taken_for_rows(
    tmp_path: Path, engine: str
) -> None:
    objects = pages_by_hand([5], FOUR_CELLS, page="/Rotate 90")
    assert extract(by_hand(tmp_path / "a.pdf", objects), engine).text == "c00 c01\nc10 c11"


def test_a_page_on_which_pdfplumber_loses_letters_keeps_its_text(tmp_path: Path) -> None:
    # Letters without a width stand on each other, and are taken for one.
    objects = pages_by_hand([5], FOUR_CELLS.replace("(c", "(ccccc"))
    objects[4] = "<</Type/Font/Subtype/Type1/BaseFont/Custom>>"
    text = extract(by_hand(tmp_path / "a.pdf", objects)).text
    assert text == "ccccc00 ccccc01\nccccc10 ccccc11"


# A box has five lines or moves, and there are 380 boxes.
_DOTS = "".join(f"{x} {y} 1 1 re S " for x in range(0, 300, 8) for y in range(200, 280, 8))


def test_a_drawing_of_very_many_lines_is_left_to_pdfium(tmp_path: Path) -> None:
    for repeated, separator in ((5, " | "), (6, " ")):
        objects = pages_by_hand([5], FOUR_CELLS + _DOTS * repeated)
        text = extract(by_hand(tmp_path / "a.pdf", objects)).text
        assert text == f"c00{separator}c01\nc10{separator}c11"


def test_lines_in_form_objects_are_counted_with_those_of_the_page(tmp_path: Path) -> None:
    # Those of the page and of each form object alone are few.
    objects = pages_by_hand(
        [5],
        f"{FOUR_CELLS} /X1 Do /X2 Do",
        page="/Resources<</XObject<</X1 6 0 R/X2 7 0 R>>/Font<</F1 4 0 R>>>>",
    )
    for repeated, separator in ((2, " | "), (3, " ")):
        for number in (6, 7):
            objects[number] = stream(
                _DOTS * repeated, "/Type/XObject/Subtype/Form/BBox[0 0 300 300]"
            )
        text = extract(by_hand(tmp_path / "a.pdf", objects)).text
        assert text == f"c00{separator}c01\nc10{separator}c11"


def test_a_grid_of_boxes_in_units_of_its_own_is_found(tmp_path: Path) -> None:
    boxes = "".join(
        f"{x} {y} m {x + 0.6} {y} l {x + 0.6} {y + 0.2} l {x} {y + 0.2} l h S "
        for x in (0, 0.6)
        for y in (1, 1.2)
    )
    words = FOUR_CELLS[FOUR_CELLS.index("BT") :]
    file = by_hand(
        tmp_path / "a.pdf", pages_by_hand([5], f"q 100 0 0 100 0 0 cm .01 w {boxes} Q {words}")
    )
    assert extract(file).text == "c00 | c01\nc10 | c11"


PLAIN = "State Count\nAlabama 18,870\nAlaska 209\nArizona 2,303"


@pytest.mark.parametrize(
    ("tables", "plain", "is_merged"),
    [
        ("State | Count\nAlabama Alaska Arizona | 18,870 209 2,303", PLAIN, True),
        ("State | Count\nAlabama | 18,870\nAlaska | 209\nArizona | 2,303", PLAIN, False),
        ("Sizes in mm | 10 20 30", "Sizes in mm 10 20 30", False),
        ("one two three | four five six", "one four\ntwo five\nthree six", False),
        ("No table", PLAIN, False),
    ],
)
def test_bands_of_rows_are_recognized(tables: str, plain: str, is_merged: bool) -> None:
    assert merges_rows(tables, plain) == is_merged


def test_numbers_in_pieces_are_recognized() -> None:
    rows = [f"State {number} | {number},062.6" for number in range(10)]
    plain = "\n".join(row.replace(" | ", " ") for row in rows)
    assert not loses_words("\n".join(rows), plain)
    assert loses_words("\n".join(row.replace(".6", " .6") for row in rows), plain)
