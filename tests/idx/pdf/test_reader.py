"""The text of PDFs, page by page, and what they say about themselves."""

import os
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from fpdf import FPDF
from fpdf.enums import TextMode
from PIL import Image

from idx.errors import SourceFileError
from idx.pdf.ocr import NOT_INSTALLED
from shared.model.document import Page
from tests.idx.extraction.pdf_files import (
    ENGINES,
    HELLO,
    by_hand,
    extract,
    pages_by_hand,
    set_letters,
    stream,
    write_pages,
    write_pdf,
)
from tests.programs import run
from tests.systems import limits_processes


@pytest.mark.parametrize("engine", ENGINES)
def test_every_page_is_read_once_and_cited(tmp_path: Path, engine: str) -> None:
    pages = [f"This is page {number}.\nIt has two lines." for number in range(1, 13)]
    read = extract(write_pages(tmp_path / "a.pdf", pages), engine)
    assert read.text == "\n\n".join(pages)
    starts = [read.text.index(page) for page in pages]
    assert read.pages == tuple(
        Page("page", number, start) for number, start in enumerate(starts, 1)
    )
    assert not read.is_own_text
    assert read.warnings == ()


def test_text_is_normalized(tmp_path: Path) -> None:
    # The letters of an octal escape: a no-break space and the ligature fi of the encoding.
    content = "BT /F1 12 Tf 20 200 Td (A\\240b \\256sh) Tj ET"
    objects = pages_by_hand([5], content)
    objects[4] = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding<</Differences[174/fi]>>>>"
    assert extract(by_hand(tmp_path / "a.pdf", objects)).text == "A b fish"


@pytest.mark.parametrize("engine", ENGINES)
def test_words_broken_at_a_line_end_are_joined(tmp_path: Path, engine: str) -> None:
    lines = "An exam-\nple of words, and a well-\nknown North-\nAmerican river."
    read = extract(write_pages(tmp_path / "a.pdf", [lines]), engine)
    assert "An example of words" in read.text
    assert "North-\nAmerican" in read.text


def test_text_behind_the_picture_of_a_scan_is_read(tmp_path: Path) -> None:
    def write(pdf: FPDF) -> None:
        pdf.add_page()
        with pdf.local_context(text_mode=TextMode.INVISIBLE):
            pdf.cell(text="Recognized by the scanner")
        pdf.image(Image.new("L", (200, 200), 128), x=0, y=0, w=210)

    read = extract(write_pdf(tmp_path / "scan.pdf", write))
    assert read.text == "Recognized by the scanner"
    assert read.warnings == ()


def with_pictures(file: Path, has_text: Sequence[bool]) -> Path:
    """A PDF of pages with text, and of pages with a picture alone."""
    objects = pages_by_hand(range(6, 6 + len(has_text)), HELLO)
    objects[5] = stream("q 99 0 0 99 9 9 cm BI /W 1 /H 1 /BPC 8 /CS /G ID 0 EI Q")
    picture = "<</Type/Page/Parent 2 0 R/Contents 5 0 R>>"
    objects |= {number: picture for number, each in enumerate(has_text, 6) if not each}
    return by_hand(file, objects)


def test_pages_without_text_are_counted_and_named(tmp_path: Path) -> None:
    with_text = {1, 2, 4, 5, 6, 8, 19}
    read = extract(with_pictures(tmp_path / "a.pdf", [n in with_text for n in range(1, 20)]))
    assert read.warnings == (f"12 pages have no text (3, 7, 9\u201318); {NOT_INSTALLED}",)
    assert [page.label for page in read.pages] == list(range(1, 20))
    assert read.pages[2].start == read.pages[3].start


def test_a_last_page_without_text_is_named_in_the_singular(tmp_path: Path) -> None:
    read = extract(with_pictures(tmp_path / "a.pdf", [True, False]))
    assert read.warnings == (f"1 page has no text (2); {NOT_INSTALLED}",)


def test_a_long_list_of_pages_is_cut(tmp_path: Path) -> None:
    read = extract(with_pictures(tmp_path / "a.pdf", [False, True] * 15))
    numbers = "1, 3, 5, 7, 9, 11, 13, 15, 17, 19 and 5 more"
    assert read.warnings == (f"15 pages have no text ({numbers}); {NOT_INSTALLED}",)


@pytest.mark.parametrize(
    ("content", "more", "blank"),
    # What is drawn, also by an annotation, may be a picture, or letters.
    [
        ("", "", []),
        ("20 20 200 .5 re f", "", [2]),
        ("", "/Annots[<</Type/Annot/Subtype/Stamp/Rect[20 20 200 200]>>]", [2]),
    ],
)
def test_blank_pages_need_no_text(
    tmp_path: Path, content: str, more: str, blank: list[int]
) -> None:
    objects = pages_by_hand([5, 6], HELLO)
    objects[6] = f"<</Type/Page/Parent 2 0 R/Contents 7 0 R{more}>>"
    objects[7] = stream(content)
    read = extract(by_hand(tmp_path / "a.pdf", objects))
    assert read.metadata.get("pages_without_text", []) == blank
    assert bool(read.warnings) == bool(blank)


def test_a_scan_without_any_text_is_refused(tmp_path: Path) -> None:
    def write(pdf: FPDF) -> None:
        for _ in range(2):
            pdf.add_page()
            pdf.image(Image.new("L", (200, 200), 128), x=0, y=0, w=210)

    with pytest.raises(SourceFileError, match=r"scan\.pdf: has no text on its 2 pages; OCR needs"):
        extract(write_pdf(tmp_path / "scan.pdf", write))


@pytest.mark.parametrize("engine", ENGINES)
def test_columns_are_read_one_after_the_other(tmp_path: Path, engine: str) -> None:
    words = " ".join(f"word{number}" for number in range(700))

    def write(pdf: FPDF) -> None:
        pdf.add_page()
        with pdf.text_columns(ncols=2, gutter=8) as columns:
            columns.write(words)

    assert extract(write_pdf(tmp_path / "a.pdf", write), engine).text.split() == words.split()


@pytest.mark.parametrize("engine", ["auto", "pdfplumber"])
@pytest.mark.parametrize("turned", [0, 90, 180, 270])
@pytest.mark.parametrize("written", [0, 90, 180, 270])
def test_turned_pages_are_read_line_by_line(
    tmp_path: Path, turned: int, written: int, engine: str
) -> None:
    matrix = {
        0: "1 0 0 1 0 0",
        90: "0 1 -1 0 300 0",
        180: "-1 0 0 -1 300 300",
        270: "0 -1 1 0 0 300",
    }
    lines = [(20, 200, "The first line of exam-"), (20, 186, "ples goes on,"), (20, 160, "left")]
    text = " ".join(
        f"1 0 0 1 {x} {y} Tm ({line}) Tj" for x, y, line in [*lines, (120, 160, "right")]
    )
    content = f"{matrix[written]} cm BT /F1 12 Tf {text} ET"
    file = by_hand(tmp_path / "a.pdf", pages_by_hand([5], content, page=f"/Rotate {turned}"))
    assert extract(file, engine).text == "The first line of examples goes on,\nleft right"


def test_right_to_left_text_is_read_in_the_order_of_its_letters(tmp_path: Path) -> None:
    # On the page, the first letter of the word stands to the right.
    content = "BT /F1 12 Tf 20 200 Td (dcba) Tj ET"
    objects = pages_by_hand([5], content)
    set_letters(objects, "4 beginbfchar <61> <05E9> <62> <05DC> <63> <05D5> <64> <05DD> endbfchar")
    assert extract(by_hand(tmp_path / "a.pdf", objects)).text == "שלום"


def test_values_of_form_fields_are_read_with_their_names(tmp_path: Path) -> None:
    numbers = " ".join(f"{number} 0 R" for number in range(10, 18))
    objects = pages_by_hand([5], HELLO, page=f"/Annots[{numbers}]")
    objects[1] = (
        "<</Type/Catalog/Pages 2 0 R/AcroForm<</DR<</Font<</F1 4 0 R>>>>/DA(/F1 12 Tf)"
        f"/Fields[{numbers}]>>>>"
    )
    widget = "<</Type/Annot/Subtype/Widget/Rect[10 10 90 30]/P 5 0 R"
    objects |= {
        10: f"{widget}/FT/Tx/T(f1)/TU(Given name)/V(Ada)>>",
        11: f"{widget}/FT/Ch/Ff 131072/T(f2)/Opt[(red)(blue)]/V(blue)>>",
        12: f"{widget}/FT/Tx/Ff 8192/T(f3)/TU(Password)/V(hunter2)>>",
        13: f"{widget}/FT/Btn/T(f4)/V/Yes>>",
        14: f"{widget}/FT/Tx/T(f5)/TU(Left empty)>>",
        15: "<</Type/Annot/Subtype/Text/Rect[10 10 90 30]/Contents(a remark)>>",
        16: f"{widget}/FT/Ch/Ff 2097152/T(f6)/Opt[[(a)(Ann)][(b)(Ben)][(c)(Cy)]]/V[(a)(c)]>>",
        17: f"{widget}/FT/Ch/Ff 393216/T(f7)/TU(Town)/Opt[(Bonn)(Ulm)]/V(Trier)>>",
    }
    read = extract(by_hand(tmp_path / "form.pdf", objects))
    assert read.text == "Hello river\nGiven name: Ada\nblue\nAnn, Cy\nTown: Trier"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("password", ["word", "pässwörd"])
def test_a_protected_file_opens_with_its_password(
    tmp_path: Path, engine: str, password: str
) -> None:
    file = protected(tmp_path / "a.pdf", password)
    assert extract(file, engine, password).text == "secret"


def protected(file: Path, password: str) -> Path:
    def write(pdf: FPDF) -> None:
        pdf.set_encryption(owner_password="owner", user_password=password)
        pdf.add_page()
        pdf.cell(text="secret")

    return write_pdf(file, write)


@pytest.mark.parametrize(
    ("password", "advice"),
    [
        (None, "give it with --pdf-password"),
        ("wrong", "the password given does not open it"),
        ("", "the password given does not open it"),
        ("\udcff", "the password given does not open it"),
    ],
)
def test_a_protected_file_is_refused_without_its_password(
    tmp_path: Path, password: str | None, advice: str
) -> None:
    file = protected(tmp_path / "a.pdf", "word")
    with pytest.raises(SourceFileError, match=rf"a\.pdf: protected by a password; {advice}"):
        extract(file, password=password)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_password_does_not_hinder_files_that_need_none(tmp_path: Path, engine: str) -> None:
    open_to_all = protected(tmp_path / "a.pdf", "")
    assert extract(open_to_all, engine, "of another file").text == "secret"
    plain = write_pages(tmp_path / "b.pdf", ["plain"])
    assert extract(plain, engine, "of another file").text == "plain"


@pytest.mark.parametrize("engine", ENGINES)
def test_the_readers_log_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, engine: str
) -> None:
    file = by_hand(tmp_path / "a.pdf", pages_by_hand([5], f"{HELLO} /a /b /c rg"))
    assert extract(file, engine).text == "Hello river"
    assert caplog.records == []


def test_a_file_with_any_name_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (os.fsdecode(b"\xff.pdf"), "~root", "a\nb", "ملف.pdf"):
        assert extract(write_pages(Path(name), ["text"])).text == "text"


def test_a_missing_file_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        extract(tmp_path / "a.pdf")


@pytest.mark.soak
@limits_processes
def test_memory_does_not_grow_with_the_pages(tmp_path: Path) -> None:
    content = "BT /F1 12 Tf 20 200 Td " + "(words of a line) Tj 0 -1 Td " * 100 + "ET"
    script = (
        "import resource, sys; from tests.idx.extraction.pdf_files import *;"
        "extract(Path(sys.argv[1]));"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    peaks = []
    for count in (100, 1_100):
        file = tmp_path / f"{count}.pdf"
        by_hand(file, pages_by_hand(range(5, 5 + count), content))
        done = run(sys.executable, "-c", script, file)
        peaks.append(int(done.stdout))
    # 1,600 characters a page are 1.6 MB of text, of which there are a few copies.
    assert peaks[1] - peaks[0] < 20_000


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
