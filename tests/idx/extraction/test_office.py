"""Office files as each program, and each kind of it, writes them."""

import io
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import docx
import pptx
import pytest
import xlsxwriter  # type: ignore[import-untyped]
from docx.enum.text import WD_BREAK

from idx.errors import SourceFileError
from idx.extraction.types import Extracted, ExtractionOptions
from tests.idx.conftest import FILES, Read, extract

WRITTEN_BY_LIBREOFFICE = "LibreOffice/7.4.7.2$Linux_X86_64 LibreOffice_project/40$Build-2"
GARDEN = (
    "Gardens\n\nA paragraph with fine text.\n\nBold word, 😀 done\n\n"
    "Place | Year\nGranada | 1238\n\nAfter the table.\n\nSeen in spring"
)


def parts_of(extracted: Extracted) -> dict[int | str, str]:
    """The text of each page by its label."""
    ends = [*(page.start for page in extracted.pages[1:]), len(extracted.text)]
    return {
        page.label: extracted.text[page.start : end].strip()
        for page, end in zip(extracted.pages, ends, strict=True)
    }


def rewritten(data: bytes, **entries: str | bytes | None) -> bytes:
    """A package with some of its entries replaced, added, or left out."""
    written = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for entry in old.infolist():
            if entry.filename not in entries:
                new.writestr(entry, old.read(entry))
        for name, content in entries.items():
            if content is not None:
                new.writestr(name, content)
    return written.getvalue()


def test_a_word_document_is_read(tmp_path: Path) -> None:
    document = docx.Document()
    said = document.core_properties
    said.title, said.author, said.subject = " The\nGardens ", "Ana Ruiz", "Gardens"
    said.keywords = "water, stone; patios, water"
    said.created = datetime(2025, 3, 1, 10, tzinfo=UTC)
    said.modified = datetime(2025, 4, 1, 10, tzinfo=UTC)
    document.add_heading("Gardens", 1)
    paragraph = document.add_paragraph("A para\u00adgraph of ﬁne t")
    paragraph.add_run("ex").bold = True
    paragraph.add_run("t\twith a tab")
    paragraph.add_run().add_break(WD_BREAK.LINE)
    paragraph.add_run("and a line.")
    table = document.add_table(rows=2, cols=3)
    for row, words in zip(table.rows, (("a", "b", "c"), ("d", "", "f\ng")), strict=True):
        for cell, word in zip(row.cells, words, strict=True):
            cell.text = word
    paragraph.add_run().add_break(WD_BREAK.PAGE)
    document.add_paragraph("Last page.")
    document.add_comment(paragraph.runs[0], text="A comment")
    document.sections[0].header.paragraphs[0].text = "A header"
    document.save(str(tmp_path / "a.docx"))
    extracted = extract(tmp_path / "a.docx", ExtractionOptions())
    assert extracted.text == (
        "Gardens\n\nA paragraph of fine text with a tab\nand a line.\n\n"
        "a | b | c\nd | | f g\n\nLast page.\n\nA comment\n\nA header"
    )
    assert extracted.title == "The Gardens"
    assert extracted.metadata == {
        "author": "Ana Ruiz",
        "subject": "Gardens",
        "keywords": ["water", "stone", "patios"],
        "creator": "Microsoft Macintosh Word",
        "created": "2025-03-01T10:00:00Z",
        "modified": "2025-04-01T10:00:00Z",
    }
    assert extracted.pages == ()
    assert not extracted.is_own_text


def test_slides_are_sections_in_the_order_of_the_presentation(tmp_path: Path) -> None:
    deck = pptx.Presentation()
    deck.core_properties.title = "Deck"
    deck.core_properties.author = "Bo"
    for number in (1, 2, 3):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = f"Slide {number}"
        slide.placeholders[1].text = f"Point A{number}\nPoint B{number}"
        slide.notes_slide.notes_text_frame.text = f"Note {number}"
    deck.slides.add_slide(deck.slide_layouts[6])
    with_table = deck.slides.add_slide(deck.slide_layouts[6])
    table = with_table.shapes.add_table(2, 2, 0, 0, 99, 99).table
    for place in range(4):
        table.cell(place // 2, place % 2).text = f"t{place}"
    order = deck.slides._sldIdLst  # noqa: SLF001 - the library has no other way to move a slide
    order.insert(0, order[2])
    deck.save(str(tmp_path / "a.pptx"))
    extracted = extract(tmp_path / "a.pptx", ExtractionOptions())
    assert parts_of(extracted) == {
        1: "Slide 3\n\nPoint A3\nPoint B3\n\nNote 3",
        2: "Slide 1\n\nPoint A1\nPoint B1\n\nNote 1",
        3: "Slide 2\n\nPoint A2\nPoint B2\n\nNote 2",
        4: "",
        5: "t0 | t1\nt2 | t3",
    }
    assert {page.unit for page in extracted.pages} == {"slide"}
    assert extracted.title == "Deck"
    assert extracted.metadata["author"] == "Bo"


def test_sheets_are_sections_with_values_as_people_read_them(tmp_path: Path) -> None:
    book = xlsxwriter.Workbook(tmp_path / "a.xlsx")
    book.set_properties({"title": "Book", "author": "Cy", "keywords": "a; b"})
    sheet = book.add_worksheet("Numbers")
    sheet.write_row(0, 0, ["Name", "Amount", "When", "Share"])
    sheet.write_row(1, 0, ["Ann\nLee", 0.1 + 0.2])
    sheet.write_datetime(1, 2, datetime(2025, 3, 1), book.add_format({"num_format": "dd.mm.yy"}))
    sheet.write_number(1, 3, 0.07, book.add_format({"num_format": '[Red]0.0%;"d"'}))
    moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm"})
    sheet.write_datetime(2, 2, datetime(2025, 3, 1, 12, 30, 15), moment)
    sheet.write_number(3, 2, 1.5625, book.add_format({"num_format": "[h]:mm"}))
    sheet.write_number(3, 3, 30 / 24, book.add_format({"num_format": 46}))
    sheet.write_number(3, 4, 12.5, book.add_format({"num_format": '"Std;"0.00'}))
    sheet.write_number(4, 1, 1234567890123456, book.add_format({"num_format": '#,##0 "days"'}))
    sheet.write_boolean(4, 3, True)
    sheet.write_formula(5, 1, "=B2*2", value=0.6)
    sheet.write_rich_string(6, 0, "one ", book.add_format({"bold": True}), "cell")
    sheet.write(7, 16_383, "far")
    sheet.write_comment("A1", "A note")
    book.add_worksheet("Empty")
    book.add_worksheet("Hidden").write(0, 0, "secret")
    book.worksheets()[2].hide()
    book.close()
    extracted = extract(tmp_path / "a.xlsx", ExtractionOptions())
    parts = parts_of(extracted)
    assert parts == {
        "Numbers": "Numbers\n\nName | Amount | When | Share\n"
        "Name: Ann Lee | Amount: 0.3 | When: 01.03.25 (2025-03-01) | Share: 7.0%\n"
        "When: 2025-03-01 12:30:15\nWhen: 37:30:00 | Share: 30:00:00 | Std;12.50\n"
        "Amount: 1,234,567,890,123,456 days | Share: TRUE\n"
        "Amount: 0.6\nName: one cell\nfar\n\nA note",
        "Empty": "",
        "Hidden": "Hidden\n\nsecret",
    }
    assert {page.unit for page in extracted.pages} == {"sheet"}
    assert extracted.title == "Book"
    assert extracted.metadata["author"] == "Cy"
    assert extracted.metadata["keywords"] == ["a", "b"]
    assert extracted.metadata["creator"] == "Microsoft Excel"


def test_a_cell_that_names_what_is_not_there_costs_only_itself(read: Read, tmp_path: Path) -> None:
    book = xlsxwriter.Workbook(tmp_path / "a.xlsx")
    book.add_worksheet("S").write_row(0, 0, ["lost", 7, "lost, too"])
    book.close()
    parts = {
        "xl/sharedStrings.xml": "<sst><si><t>only</t></si></sst>",
        "xl/styles.xml": "<styleSheet><cellXfs><xf numFmtId='date'/></cellXfs></styleSheet>",
    }
    extracted = read("b.xlsx", rewritten((tmp_path / "a.xlsx").read_bytes(), **parts))
    assert extracted.text == "S\n\nonly | 7"


def test_characters_that_excel_escapes_are_read(read: Read, tmp_path: Path) -> None:
    book = xlsxwriter.Workbook(tmp_path / "a.xlsx")
    book.add_worksheet("S").write_row(0, 0, ["one"])
    book.close()
    texts = "one_x000D_\ntwo _xD83D__xDE00_ _x005F_x000D_ a_xyz_ _xD83D_"
    parts = {
        "xl/sharedStrings.xml": f"<sst><si><t>{texts}</t></si></sst>",
        "xl/worksheets/sheet1.xml": (
            '<worksheet><sheetData><row><c t="s"><v>0</v></c>'
            '<c t="str"><v>a_x000a_b</v></c></row></sheetData></worksheet>'
        ),
    }
    extracted = read("b.xlsx", rewritten((tmp_path / "a.xlsx").read_bytes(), **parts))
    assert extracted.text == "S\n\none two \U0001f600 _x000D_ a_xyz_ | a b"


def test_dates_count_from_1904_where_the_workbook_says_so(tmp_path: Path) -> None:
    book = xlsxwriter.Workbook(tmp_path / "a.xlsx", {"date_1904": True})
    day = book.add_format({"num_format": 14})
    book.add_worksheet("S").write_datetime(0, 0, datetime(2025, 3, 1), day)
    book.close()
    assert extract(tmp_path / "a.xlsx", ExtractionOptions()).text == "S\n\n2025-03-01"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("garden.odt", GARDEN),
        ("garden.rtf", GARDEN),
        ("garden.epub", GARDEN.removesuffix("\n\nSeen in spring")),
    ],
)
def test_a_document_of_libreoffice_is_read(name: str, text: str) -> None:
    extracted = extract(FILES / name, ExtractionOptions())
    assert extracted.text == text
    assert extracted.title == "The Gardens of Spain"
    assert extracted.metadata["author"] == "Ana Ruiz"
    assert str(extracted.metadata["modified"]).startswith("2025-04-01T10:00:00")
    if not name.endswith(".epub"):
        assert extracted.metadata["subject"] == "Gardens"
        assert extracted.metadata["keywords"] == ["water", "stone", "patios"]
        assert extracted.metadata["creator"] == WRITTEN_BY_LIBREOFFICE
        assert extracted.metadata["created"] == "2025-03-01T10:00:00"


def test_a_presentation_of_libreoffice_has_its_slides() -> None:
    extracted = extract(FILES / "deck.odp", ExtractionOptions())
    assert parts_of(extracted) == {
        1: "Slide 1\n\nPoint A1\nPoint B1\n\nNote 1",
        2: "Slide 2\n\nPoint A2\nPoint B2\n\nNote 2",
        3: "",
        4: "t00 | t01\nt10 | t11",
    }
    assert extracted.title == "Deck"


def test_an_old_workbook_has_its_sheets() -> None:
    extracted = extract(FILES / "book.xls", ExtractionOptions())
    assert extracted.media_type == "application/vnd.ms-excel"
    assert parts_of(extracted) == {
        "Numbers": "Numbers\n\nName | Amount | Date | Paid\n"
        "Name: Ann | Amount: 3.5 | Date: 2025-03-01 | Paid: TRUE\nName: Bob | Amount: 1000000",
        "Empty": "",
    }


def test_a_damaged_old_workbook_is_refused(tmp_path: Path) -> None:
    data = (FILES / "book.xls").read_bytes()
    (tmp_path / "a.xls").write_bytes(data[:512] + b"\xff" * 2000 + data[2512:])
    with pytest.raises(SourceFileError, match="is a damaged XLS"):
        extract(tmp_path / "a.xls", ExtractionOptions())


@pytest.mark.parametrize(
    ("name", "moment"), [("book.ods", "2025-03-01 12:30"), ("book.xlsx", "2025-03-01 12:30:00")]
)
def test_a_spreadsheet_of_libreoffice_has_its_sheets(name: str, moment: str) -> None:
    extracted = extract(FILES / name, ExtractionOptions())
    assert parts_of(extracted) == {
        "Numbers": "Numbers\n\nName | Amount | Date | Share\n"
        "Name: Ann | Amount: 3.5 | Date: 2025-03-01 | Share: 7%\n"
        f"Name: Bob | Amount: 1000000 | Date: {moment}\nAmount: 1000003.5",
        "Empty": "",
        "End": "End\n\nlast",
    }


def test_an_encrypted_office_file_says_so(read: Read) -> None:
    with pytest.raises(SourceFileError, match=": protected by a password"):
        extract(FILES / "locked.xlsx", ExtractionOptions())
    manifest = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        '<manifest:file-entry manifest:full-path="content.xml">'
        "<manifest:encryption-data/></manifest:file-entry></manifest:manifest>"
    )
    data = rewritten((FILES / "garden.odt").read_bytes(), **{"META-INF/manifest.xml": manifest})
    with pytest.raises(SourceFileError, match=": protected by a password"):
        read("a.odt", data)


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
