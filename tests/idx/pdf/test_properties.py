"""What PDFs say about themselves."""

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from fpdf import FPDF

from tests.idx.extraction.pdf_files import by_hand, extract, pages_by_hand, write_pdf

HELLO = "BT /F1 12 Tf 20 200 Td (Hello river) Tj ET"


def with_properties(file: Path, entries: str) -> Path:
    objects = pages_by_hand([5], HELLO)
    objects[9] = f"<<{entries}>>"
    return by_hand(file, objects, "/Root 1 0 R/Info 9 0 R")


def test_the_properties_are_read(tmp_path: Path) -> None:
    def write(pdf: FPDF) -> None:
        pdf.set_title("Die Häuser")
        pdf.set_author("Ada Lovelace")
        pdf.set_subject("Rivers")
        pdf.set_keywords("water, level; logger")
        pdf.set_creator("Editor 3")
        pdf.set_producer("Printer 2")
        pdf.set_creation_date(datetime(2025, 3, 1, 12, tzinfo=timezone(timedelta(hours=1))))
        pdf.add_page()
        pdf.cell(text="text")

    read = extract(write_pdf(tmp_path / "a.pdf", write))
    assert read.title == "Die Häuser"
    assert read.metadata == {
        "author": "Ada Lovelace",
        "subject": "Rivers",
        "keywords": ["water", "level", "logger"],
        "creator": "Editor 3",
        "created": "2025-03-01T11:00:00Z",
    }


def test_the_producer_stands_in_for_a_missing_creator(tmp_path: Path) -> None:
    read = extract(with_properties(tmp_path / "a.pdf", "/Creator( )/Producer(Printer 2)"))
    assert read.metadata == {"creator": "Printer 2"}


def test_blank_properties_are_left_out(tmp_path: Path) -> None:
    file = with_properties(tmp_path / "a.pdf", "/Title( )/Author()/Keywords( , ;)/ModDate()")
    read = extract(file)
    assert (read.title, read.metadata) == (None, {})


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("D:20250301120000+01'00'", "2025-03-01T11:00:00Z"),
        ("D:20250301120000-0530", "2025-03-01T17:30:00Z"),
        ("D:20250301120000Z00'00'", "2025-03-01T12:00:00Z"),
        ("D:20250301120000Z", "2025-03-01T12:00:00Z"),
        ("D:202503011200", "2025-03-01T12:00:00"),
        ("D:20250301", "2025-03-01"),
        ("D:2025", "2025"),
        ("2025-03-01T12:00:00+01:00", "2025-03-01T11:00:00Z"),
        ("D:20251301120000Z", None),
        ("D:00010101000000+12'00'", None),
        ("yesterday", None),
    ],
)
def test_dates_become_iso_8601(tmp_path: Path, written: str, read: str | None) -> None:
    metadata = extract(with_properties(tmp_path / "a.pdf", f"/ModDate({written})")).metadata
    assert metadata.get("modified") == read


def test_properties_are_normalized_and_of_limited_length(tmp_path: Path) -> None:
    # UTF-16 with half of a surrogate pair, and a line break.
    title = "FEFF" + "0041" + "D83D" + "000A" + "0042"
    file = with_properties(tmp_path / "a.pdf", f"/Title<{title}>/Subject({'x' * 5_000})")
    read = extract(file)
    assert read.title == "A B"
    assert read.metadata == {"subject": "x" * 1_000}
