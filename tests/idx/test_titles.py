"""Titles that programs made up are none, and the names of files and folders are searched."""

import json
from pathlib import Path

import docx
import pptx
import pytest
from fpdf import FPDF

from idx.text.properties import without_default_title
from tests.conftest import Idx

DEFAULTS = (
    *("Microsoft Word - Document1.docx", "Microsoft Word - Dokument3", "untitled", "Untitled-1"),
    *("Präsentation1", "PowerPoint-Präsentation", "PowerPoint Presentation", "Normal.dotm"),
    *("Présentation PowerPoint", "Presentazione standard di PowerPoint", "Vorlage", "Mappe1"),
    *("Microsoft Excel - Book2.xlsx", "Unbenanntes Dokument", "Untitled Document", "Document (2)"),
    *("(no title)", "Titel", "--", "Brief.dotx", "Neues Textdokument", "Slide 1", "sans titre"),
)
TITLES = {
    "Microsoft Word - Mietvertrag 2024.docx": "Mietvertrag 2024",
    "Microsoft PowerPoint - Q3 review.pptx": "Q3 review",
    "Document management at Acme": "Document management at Acme",
    "Präsentation der Ergebnisse": "Präsentation der Ergebnisse",
    "PowerPoint-Präsentation zum Umbau": "PowerPoint-Präsentation zum Umbau",
    "Book of changes": "Book of changes",
    "Word - a history": "Word - a history",
    "Untitled poems": "Untitled poems",
    "README.md": "README.md",
    "2024": "2024",
}


@pytest.mark.parametrize("title", DEFAULTS)
def test_what_a_program_made_up_is_no_title(title: str) -> None:
    assert without_default_title(title) is None


@pytest.mark.parametrize("title", TITLES)
def test_what_somebody_wrote_is_a_title(title: str) -> None:
    assert without_default_title(title) == TITLES[title]


def written(file: Path, title: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".pdf":
        pdf = FPDF()
        pdf.set_title(title)
        pdf.set_font("Helvetica", size=12)
        pdf.add_page()
        pdf.cell(text="Revenue was up.")
        pdf.output(str(file))
    elif file.suffix == ".docx":
        document = docx.Document()
        document.core_properties.title = title
        document.add_paragraph("Revenue was up.")
        document.save(str(file))
    else:
        deck = pptx.Presentation()
        deck.core_properties.title = title
        deck.slides.add_slide(deck.slide_layouts[0]).shapes.title.text = "Revenue was up."
        deck.save(str(file))


def test_files_are_found_by_the_words_of_their_names_and_folders(idx: Idx, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    files = {
        "Filings/3M_2018_10K.pdf": ("Annual report pursuant to section 13", "3M 2018 10K"),
        "Filings/AppleInc/2022Q3-10Q.pdf": ("Microsoft Word - Document1.docx", "Apple 2022 Q3"),
        "Verträge/MietvertragMüller2024.docx": ("untitled", "Mietvertrag Müller 2024"),
        "Verträge/Kündigung_Schmidt.docx": ("Normal.dotm", "Verträge Kündigung Schmidt"),
        "talks/roadmapBerlin.pptx": ("PowerPoint-Präsentation", "roadmap Berlin"),
    }
    for name, (title, _) in files.items():
        written(folder / name, title)
    idx("sync", folder)
    for name, (title, query) in files.items():
        found = json.loads(idx("search", query, "--json").stdout)["results"]
        assert found[0]["source_document"] == name, query
        own = title if title.startswith("Annual") else Path(name).name
        assert found[0]["title"] == own
