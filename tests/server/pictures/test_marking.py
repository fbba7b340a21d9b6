"""Words that are found on a page, whatever their case, form of letters and place."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from fpdf import FPDF
from pypdfium2 import PdfDocument

from server.pictures.worker import Box, marked_boxes
from tests.idx.extraction.pdf_files import add_lines, write_pdf


def boxes(file: Path, words: Sequence[str], rotation: int = 0) -> tuple[list[Box], int, bool]:
    with PdfDocument(file) as document:
        page = document[0]
        page.set_rotation(rotation)
        return marked_boxes(page, page.render(scale=1), words)


def page_with(folder: Path, text: str) -> Path:
    def write(pdf: FPDF) -> None:
        pdf.add_page()
        add_lines(pdf, text)

    return write_pdf(folder / "a.pdf", write)


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("A River, a river; rivers", ["river"], 2),
        ("Café and CAFE", ["cafe"], 2),
        ("Cafe", ["Café"], 1),
        ("art of a party", ["art"], 1),
        ("a level logger, a level\nlogger, a logger", ["level logger"], 2),
        ("a level logger", ["level", "logger", "level logger"], 1),
        ("C++ and C", ["C++"], 2),
        ("a (b", ["(", ")"], 0),
        ("text", [], 0),
        ("text", ["x" * 1_000], 0),
    ],
)
def test_words_are_found(tmp_path: Path, text: str, words: list[str], found: int) -> None:
    marked, count, has_text = boxes(page_with(tmp_path, text), words)
    assert (count, has_text) == (found, True)
    assert len(marked) >= count


def test_a_phrase_over_two_lines_has_a_box_on_each(tmp_path: Path) -> None:
    marked, count, _ = boxes(page_with(tmp_path, "a level\nlogger"), ["level logger"])
    assert (len(marked), count) == (2, 1)
    assert marked[0][3] <= marked[1][1] + 4


def test_boxes_turn_with_the_page(tmp_path: Path) -> None:
    file = page_with(tmp_path, "river")
    ((left, top, right, bottom),), *_ = boxes(file, ["river"])
    assert right - left > bottom - top
    ((left, top, right, bottom),), *_ = boxes(file, ["river"], rotation=90)
    assert right - left < bottom - top


def test_a_page_without_text_has_none(tmp_path: Path) -> None:
    file = write_pdf(tmp_path / "a.pdf", lambda pdf: pdf.add_page())
    assert boxes(file, ["river"]) == ([], 0, False)
