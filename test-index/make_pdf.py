"""Make the PDF among the sample documents from ``manual-source.md``.

Needs fpdf2 2.8 or later (``pip install "fpdf2>=2.8,<3"``). It takes no arguments, may be run from
any folder, and writes ``documents/otterline-wl4-manual.pdf`` beside this script. The dates are
fixed and the page streams are not compressed, so that running it again gives the same bytes.

The source is a small subset of Markdown: ``#`` for the title and ``##`` for chapters, paragraphs of
one line each, lists (``- `` or ``1. ``), and tables whose first row is the heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Literal

from fpdf import FPDF, XPos, YPos
from fpdf.enums import VAlign
from fpdf.fonts import FontFace

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "manual-source.md"
TARGET = HERE / "documents" / "otterline-wl4-manual.pdf"

FONT = "Helvetica"
BODY_SIZE = 11.0
LINE_HEIGHT = 5.6
MARGIN = 22.0
CREATED = datetime(2025, 6, 16, 9, 0, tzinfo=UTC)

Kind = Literal["title", "chapter", "bullet", "step", "table", "text"]

_STEP = re.compile(r"(\d+\.) ")


class Manual(FPDF):
    """An A4 document with a running title at the top and the page number at the bottom."""

    def __init__(self, title: str) -> None:
        """Set everything that must not depend on the day or on the version of the library."""
        super().__init__(orientation="portrait", unit="mm", format="A4")
        self.running_title = title
        self.set_compression(False)
        self.set_creation_date(CREATED)
        self.set_title(f"{title}: User Manual")
        self.set_author("Ottermere Instruments Ltd")
        self.set_subject("Installation, settings and care of the WL-4 level logger")
        self.set_keywords("water level, logger, WL-4, installation, error codes")
        self.set_creator("make_pdf.py")
        self.set_producer("fpdf2")
        self.set_lang("en-GB")
        self.set_margins(MARGIN, MARGIN, MARGIN)
        self.set_auto_page_break(True, margin=MARGIN + 4)
        self.set_font(FONT, size=BODY_SIZE)

    def header(self) -> None:
        """Print the running title, except on the first page."""
        if self.page_no() == 1:
            return
        self.set_y(12)
        self.set_font(FONT, style="I", size=9)
        self.cell(0, 5, f"{self.running_title}: User Manual", align="R")
        self.set_y(MARGIN)

    def footer(self) -> None:
        """Print the page number."""
        self.set_y(-16)
        self.set_font(FONT, size=9)
        self.cell(0, 5, f"Page {self.page_no()}", align="C")

    def add_title(self, text: str) -> None:
        """Print the title of the document."""
        self.set_font(FONT, style="B", size=22)
        self._lines(text, 10)
        self.ln(3)

    def add_chapter(self, text: str) -> None:
        """Print the heading of a chapter, kept together with the two lines that follow it."""
        needed = 6 + 7 + 2 * LINE_HEIGHT
        if self.will_page_break(needed):
            self.add_page()
        else:
            self.ln(4)
        self.set_font(FONT, style="B", size=14)
        self._lines(text, 7)
        self.ln(2)

    def add_text(self, text: str) -> None:
        """Print a paragraph."""
        self.set_font(FONT, size=BODY_SIZE)
        self._lines(text, LINE_HEIGHT)
        self.ln(2.5)

    def add_item(self, mark: str, text: str) -> None:
        """Print an item of a list, with its mark (a bullet or a number) to the left of it."""
        self.set_font(FONT, size=BODY_SIZE)
        if self.will_page_break(LINE_HEIGHT):
            self.add_page()
        self.cell(7, LINE_HEIGHT, mark)
        self.set_left_margin(MARGIN + 7)
        self._lines(text, LINE_HEIGHT)
        self.set_left_margin(MARGIN)
        self.set_x(MARGIN)
        self.ln(1.2)

    def add_table(self, rows: list[list[str]]) -> None:
        """Print a table; its first row is the heading and is repeated on every page.

        The columns are as wide, relative to each other, as the longest texts in them.
        """
        self.set_font(FONT, size=10)
        columns = zip(*rows, strict=True)
        widths = [max(self.get_string_width(cell) for cell in column) + 4 for column in columns]
        self.ln(1)
        with self.table(
            rows,
            col_widths=widths,
            text_align="LEFT",
            v_align=VAlign.T,
            line_height=5.6,
            padding=0.8,
            headings_style=FontFace(emphasis="BOLD"),
            borders_layout="HORIZONTAL_LINES",
        ):
            pass
        self.ln(4)

    def _lines(self, text: str, height: float) -> None:
        """Print ``text`` over as many lines as it takes and go on at the left margin below."""
        self.multi_cell(0, height, text, align="L", new_x=XPos.LMARGIN, new_y=YPos.NEXT)


def classify(line: str) -> Kind:
    """Say what a line of the source is."""
    if line.startswith("## "):
        return "chapter"
    if line.startswith("# "):
        return "title"
    if line.startswith("- "):
        return "bullet"
    if line.startswith("|"):
        return "table"
    return "step" if _STEP.match(line) else "text"


def blocks(source: str) -> Iterator[tuple[Kind, list[str]]]:
    """Yield the runs of neighbouring lines of one kind, without the empty lines."""
    lines = [line.strip() for line in source.splitlines() if line.strip()]
    for kind, run in groupby(lines, key=classify):
        yield kind, list(run)


def build(source: str) -> Manual:
    """Lay out the whole document."""
    parts = list(blocks(source))
    title = next(run[0].removeprefix("# ") for kind, run in parts if kind == "title")
    pdf = Manual(title)
    pdf.add_page()
    for kind, run in parts:
        if kind == "table":
            pdf.add_table([[cell.strip() for cell in row.strip("|").split("|")] for row in run])
            continue
        for line in run:
            if kind == "title":
                pdf.add_title(line.removeprefix("# "))
            elif kind == "chapter":
                pdf.add_chapter(line.removeprefix("## "))
            elif kind == "bullet":
                pdf.add_item("\u00b7", line.removeprefix("- "))
            elif kind == "step":
                mark, text = line.split(" ", maxsplit=1)
                pdf.add_item(mark, text)
            else:
                pdf.add_text(line)
        if kind in ("bullet", "step"):
            pdf.ln(2.5)
    return pdf


def main() -> None:
    """Read the source and write the PDF."""
    pdf = build(SOURCE.read_text(encoding="utf-8"))
    TARGET.parent.mkdir(exist_ok=True)
    pdf.output(str(TARGET))
    print(f"{TARGET.name}: {pdf.pages_count} pages")


if __name__ == "__main__":
    main()
