"""Headings of files of every format that has them."""

from pathlib import Path

import pytest
from fpdf import FPDF

from idx.extraction.types import Extracted, ExtractionOptions
from idx.pdf.details import outline_headings
from shared.model.document import Page
from tests.idx.conftest import FILES, Read, extract
from tests.idx.extraction.pdf_files import write_pdf
from tests.idx.markup.test_html import book
from tests.idx.office.packages import docx, paragraph, style


def outline(extracted: Extracted) -> list[tuple[int, str]]:
    """The level and the text of each heading; each must stand where it says."""
    for heading in extracted.headings:
        first = heading.text.split()[0]
        assert first in extracted.text[heading.start :].split("\n")[0], heading
    return [(heading.level, heading.text) for heading in extracted.headings]


def read_file(file: Path) -> Extracted:
    return extract(file, ExtractionOptions())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# One\n\ntext\n\n## Two ##\n", [(1, "One"), (2, "Two")]),
        ("One\n===\n\ntext\n\nTwo\n---\n", [(1, "One"), (2, "Two")]),
        ("a paragraph of\ntwo lines\n---\n", []),
        ("a paragraph\nof three\nlines\n---\n", []),
        ("text\n\n---\n\ntext", []),
        ("- item\n---\n", []),
        ("```\n# code\n```\n###### Six\n####### seven\n", [(6, "Six")]),
        ("# The `code` of [a link](http://a) is **bold**\n", [(1, "The code of a link is bold")]),
        ("---\ntitle: x\n---\n# One\n", [(1, "One")]),
        ("# snake_case_name and _this_\n", [(1, "snake_case_name and this")]),
        ("#no heading\n", []),
    ],
)
def test_headings_of_markdown(read: Read, text: str, expected: list[tuple[int, str]]) -> None:
    assert outline(read("a.md", text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("§ 551 Deposits\n\nText.\n\n§ 552\n\nText", [(20, "§ 551 Deposits"), (20, "§ 552")]),
        ("Title\n\n§§ 551 and 552\nText", [(20, "§§ 551 and 552")]),
        (
            "Buch 2\nAbschnitt 8\n§ 551 Kaution\n(1) Text",
            [(1, "Buch 2"), (3, "Abschnitt 8"), (20, "§ 551 Kaution")],
        ),
        ("CHAPTER IV. Of Things\n\nText", [(4, "CHAPTER IV. Of Things")]),
        ("Article 5\r\n\r\nText\r\n\r\nAppendix A\r\n", [(20, "Article 5"), (3, "Appendix A")]),
        (
            "1. Scope\n\nText.\n\n1.1 Parties\n\nText.\n\n2) Rent\n\nText",
            [(7, "1. Scope"), (8, "1.1 Parties"), (7, "2) Rent")],
        ),
        ("1. Milk\n\n2. Eggs\n\n3. Bread\n\nText", []),
        ("1. Milk\n2. Eggs\n", []),
        ("See\n§ 551 BGB and more", []),
        ("Text.\n\n§ 551 BGB applies here.\n", []),
        ("Text.\n\n3. März 2024\n\nText", []),
        ("Text.\n\n12 people came\n\nText", []),
        ("Text.\n\n1. " + "Long " * 40 + "\n\nText", []),
        ("Text.\n\nPartition 5\n\nText", []),
    ],
)
def test_headings_of_plain_text(read: Read, text: str, expected: list[tuple[int, str]]) -> None:
    assert outline(read("a.txt", text)) == expected


def test_source_code_and_tables_have_no_headings(read: Read) -> None:
    text = "\n1. Scope\n\n§ 551 Deposits\n\ntext\n"
    assert outline(read("a.py", text)) == outline(read("a.csv", text)) == []


def test_headings_of_a_page(read: Read) -> None:
    page = (
        "<body>before<h1>One <b>and</b>\nonly</h1><p>text<h3>Three</h3>"
        "<table><tr><td><h2>In a table</h2></td></tr></table><h2></h2>"
        "<template><h2>Hidden</h2></template><h2>Two</h2><pre>  code\n</pre></body>"
    )
    extracted = read("a.html", page)
    assert outline(extracted) == [(1, "One and only"), (3, "Three"), (2, "Two")]
    assert extracted.text == (
        "before\n\nOne and only\n\ntext\n\nThree\n\nIn a table\n\nTwo\n\n  code"
    )


def test_headings_of_the_chapters_of_a_book(read: Read) -> None:
    chapters = {"OEBPS/text/two more.xhtml": "<h2>Two</h2><p>text</p><h1>Three</h1>"}
    extracted = read("a.epub", book(**chapters))
    assert outline(extracted) == [(1, "One"), (2, "Two"), (1, "Three")]


def test_headings_of_word_by_style_and_by_outline_level(read: Read) -> None:
    first = '<w:pStyle w:val="h1"/>'
    body = (
        paragraph("The title", '<w:pStyle w:val="t"/>')
        + paragraph("One", first)
        + paragraph("text")
        + paragraph("Two", '<w:pStyle w:val="own"/>')
        + paragraph("Three", '<w:outlineLvl w:val="2"/>')
        + f"<w:tbl><w:tr><w:tc>{paragraph('In a table', first)}</w:tc></w:tr></w:tbl>"
        + paragraph("Four", first)
    )
    styles = (
        style("t", title="Title")
        + style("h1", title="heading 1")
        + style("h2", title="Heading 2")
        + style("own", title="Klausel", based_on="h2")
    )
    found = outline(read("a.docx", docx(body, styles=styles)))
    assert found == [(1, "One"), (2, "Two"), (3, "Three"), (1, "Four")]


def test_headings_of_open_document() -> None:
    assert outline(read_file(FILES / "garden.odt")) == [(1, "Gardens")]


def two_chapters(pdf: FPDF) -> None:
    pdf.add_page()
    pdf.multi_cell(0, text="A preface")
    for number in (1, 2):
        pdf.add_page()
        pdf.start_section(f"Chapter {number}")
        pdf.multi_cell(0, text=f"Some words above\nChapter {number}\nSome words below")
        pdf.start_section("Not in the text", level=1)


def test_headings_of_a_pdf_are_those_of_its_outline(tmp_path: Path) -> None:
    extracted = read_file(write_pdf(tmp_path / "a.pdf", two_chapters))
    found = [(heading.level, heading.text) for heading in extracted.headings]
    assert found == [
        *((1, "Chapter 1"), (2, "Not in the text")),
        *((1, "Chapter 2"), (2, "Not in the text")),
    ]
    first, below, second, _ = extracted.headings
    assert extracted.text[first.start :].startswith("Chapter 1")
    assert first.start <= below.start < extracted.pages[2].start < second.start


@pytest.mark.parametrize(
    ("title", "line"),
    [
        ("4.1 Description of it", "4.1 DESCRIPTION OF IT"),
        ("2. Horaires d'accueil", "2. Horaires d\u2019accueil"),
        ("Parents partenaires: vous", "Parents partenaires : vous"),
        ("Metodología y técnicas", "METODOLOG\u00b4IA y t\u00b4ecnicas"),
        ("Específicos", "Espec\u00b4\u0131ficos"),
        ("Reseni problemu", "Řešení problémů"),
        ("12. Absatz (Bxviii\u2013xxii) lässt die", "12. Absatz (B xviii-xxii) lässt »die«"),
        ("A heading of two lines", "A heading of\ntwo lines"),
        ("한국어 문법", "한국어\n문법"),
    ],
)
def test_a_heading_is_found_in_another_spelling(title: str, line: str) -> None:
    text = f"A page\n\nSome words above\n{line}\nSome words below"
    pages = [Page("page", 1, 0), Page("page", 2, 8)]
    (found,) = outline_headings([(1, title, 2)], text, pages)
    assert (found.text, found.start) == (title, text.index(line))


@pytest.mark.parametrize("title", ["Ove", "Wo", "Ds below", "rds-Be", "Page", "사", "''", "Gone"])
def test_letters_within_words_are_no_heading(title: str) -> None:
    text = "A page\n\nSome words above\n시 words below"
    pages = [Page("page", 1, 0), Page("page", 2, 8)]
    (found,) = outline_headings([(1, title, 2)], text, pages)
    assert found.start == 8


def test_a_heading_that_is_no_text_costs_only_itself(tmp_path: Path) -> None:
    file = write_pdf(tmp_path / "a.pdf", two_chapters)
    damaged = file.read_bytes().replace(b"/Title (Chapter 1)", b"/Title <FEFFD800>")
    file.write_bytes(damaged)
    found = [heading.text for heading in read_file(file).headings]
    assert found == ["Not in the text", "Chapter 2", "Not in the text"]


@pytest.mark.parametrize(
    "text",
    [
        "# " + "word " * 10_000,
        "# a\n" * 50_000,
        "# " + "[" * 20_000,
        "\n".join(f"a{n}\n===" for n in range(20_000)),
    ],
    ids=["long", "many", "brackets", "underlined"],
)
def test_many_and_long_headings_are_bounded(read: Read, text: str) -> None:
    headings = read("a.md", text).headings
    assert len(headings) <= 20_000
    assert all(len(heading.text) <= 200 for heading in headings)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.html", "<p>See  this:</p><pre>\ndef f():\n\n    return  1\n</pre><p>  End</p>"),
        ("a.eml", "Subject: x\nContent-Type: text/plain\n\ndef f():\n\n    return  1\n"),
    ],
)
def test_preformatted_text_keeps_its_blanks(read: Read, name: str, data: str) -> None:
    text = read(name, data).text
    assert "def f():\n\n    return  1" in text
    assert "See this:" in text or name == "a.eml"
    assert not text.endswith(" ")
