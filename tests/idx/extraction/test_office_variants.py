"""Office files as other programs, or other kinds of the same one, write them."""

import zipfile
from pathlib import Path

import docx
import pptx
import pytest
import xlsxwriter  # type: ignore[import-untyped]

from idx.extraction.formats import extract
from idx.extraction.types import ExtractionOptions
from tests.idx.conftest import Read
from tests.idx.extraction.test_office import rewritten

OPEN_XML = "application/vnd.openxmlformats-officedocument."
DOCUMENT = f"{OPEN_XML}wordprocessingml.document.main+xml"
WORKBOOK = f"{OPEN_XML}spreadsheetml.sheet.main+xml"
DECK = f"{OPEN_XML}presentationml.presentation.main+xml"


def write(file: Path, media_type: str) -> None:
    if media_type == DOCUMENT:
        document = docx.Document()
        document.add_paragraph("text")
        document.save(str(file))
    elif media_type == WORKBOOK:
        with xlsxwriter.Workbook(file) as book:
            book.add_worksheet("S").write(0, 0, "text")
    else:
        deck = pptx.Presentation()
        deck.slides.add_slide(deck.slide_layouts[0]).shapes.title.text = "text"
        deck.save(str(file))


@pytest.mark.parametrize(
    ("name", "plain", "media_type"),
    [
        ("a.dotx", DOCUMENT, f"{OPEN_XML}wordprocessingml.template.main+xml"),
        ("a.docm", DOCUMENT, "application/vnd.ms-word.document.macroEnabled.main+xml"),
        ("a.dotm", DOCUMENT, "application/vnd.ms-word.template.macroEnabledTemplate.main+xml"),
        ("a.xltx", WORKBOOK, f"{OPEN_XML}spreadsheetml.template.main+xml"),
        ("a.xlsm", WORKBOOK, "application/vnd.ms-excel.sheet.macroEnabled.main+xml"),
        ("a.xltm", WORKBOOK, "application/vnd.ms-excel.template.macroEnabled.main+xml"),
        ("a.potx", DECK, f"{OPEN_XML}presentationml.template.main+xml"),
        ("a.ppsx", DECK, f"{OPEN_XML}presentationml.slideshow.main+xml"),
        ("a.pptm", DECK, "application/vnd.ms-powerpoint.presentation.macroEnabled.main+xml"),
        ("a.potm", DECK, "application/vnd.ms-powerpoint.template.macroEnabled.main+xml"),
        ("a.ppsm", DECK, "application/vnd.ms-powerpoint.slideshow.macroEnabled.main+xml"),
    ],
)
def test_templates_and_files_with_macros_are_read(
    read: Read, tmp_path: Path, name: str, plain: str, media_type: str
) -> None:
    write(tmp_path / "plain", plain)
    types = zipfile.ZipFile(tmp_path / "plain").read("[Content_Types].xml").decode()
    assert types.count(plain) == 1
    data = rewritten(
        (tmp_path / "plain").read_bytes(),
        **{"[Content_Types].xml": types.replace(plain, media_type)},
    )
    assert read(name, data).text.endswith("text")


def test_of_a_conversation_in_a_workbook_only_what_was_said_is_read(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        sheet = book.add_worksheet("S")
        sheet.write(0, 0, "x")
        sheet.write_comment(
            "A1",
            "[Threaded comment]\n\nYour version of Excel allows you to read this threaded comment; "
            "however, any edits to it will get removed if the file is opened in a newer version of "
            "Excel. Learn more: https://go.microsoft.com/fwlink/?linkid=870924\n\n"
            "Comment:\n    See [1]: it is late\nReply:\n    No",
        )
        sheet.write_comment("A2", "A note: [2]")
    text = extract(tmp_path / "a.xlsx", ExtractionOptions()).text
    assert text == "S\n\nx\n\nSee [1]: it is late Reply: No\n\nA note: [2]"
