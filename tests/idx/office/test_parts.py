"""Parts of Office files that other parts only refer to, and documents of Strict Open XML."""

import io
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import docx as python_docx
import pptx
import pytest

from tests.conftest import Idx
from tests.idx.conftest import Read
from tests.idx.extraction.test_office import parts_of, rewritten
from tests.idx.office.packages import (
    STRICT,
    TRANSITIONAL,
    definition,
    docx,
    item,
    level,
    numbered,
    package,
    paragraph,
    relationships,
    style,
)

HTML = (
    "<html><body><h1>Findings</h1><p>The joint on level four leaks.</p><h2>Remedy</h2>"
    "<p>A new seal.</p><table><tr><td>Seal</td><td>12 €</td></tr></table></body></html>"
)
MHTML = (
    'MIME-Version: 1.0\nContent-Type: multipart/related; boundary=b; type="text/html"\n\n--b\n'
    'Content-Type: text/html; charset="iso-8859-1"\nContent-Transfer-Encoding: quoted-printable\n'
    "Content-Location: file:///C:/a.htm\n\n<html><body><h1>Findings</h1>"
    "<p>Das T=FCrblatt klemmt.</p></body></html>\n--b\nContent-Type: image/png\n"
    "Content-Transfer-Encoding: base64\n\niVBORw0KGgo=\n--b--\n"
)
RTF = r"{\rtf1\ansi{\listtext 1.\tab}Findings\par The gutter is full of leaves.\par}"
INNER = docx(
    paragraph("Findings", '<w:pStyle w:val="h"/>') + item("The roof lacks two tiles."),
    numbering=definition(level(0, "decimal", "%1)")) + numbered(),
    styles=style("h", title="heading 1"),
)


def with_chunks(chunks: Mapping[str, str | bytes]) -> bytes:
    """A document into which others are inserted between two paragraphs."""
    inserted = "".join(f'<w:altChunk r:id="r{number}"/>' for number in range(3, 3 + len(chunks)))
    return docx(
        paragraph("Inspection report") + inserted + paragraph("End of the report"),
        links={f"aFChunk_{number}": name for number, name in enumerate(chunks)},
        parts={f"word/{name}": content for name, content in chunks.items()},
    )


@pytest.mark.parametrize(
    ("name", "chunk", "words"),
    [
        ("afchunk.html", HTML, "The joint on level four leaks."),
        ("afchunk.dat", HTML.replace("<html><body>", "").encode(), "joint on level four leaks."),
        ("afchunk.mht", MHTML, "Das Türblatt klemmt."),
        ("afchunk.rtf", RTF, "The gutter is full of leaves."),
        ("afchunk2.docx", INNER, "The roof lacks two tiles."),
        ("afchunk.txt", "Findings\n\nThe lift is out of order.", "The lift is out of order."),
    ],
)
def test_documents_within_a_document_stand_where_they_are_inserted(
    read: Read, name: str, chunk: str | bytes, words: str
) -> None:
    text = read("report.docx", with_chunks({name: chunk})).text
    order = ("Inspection report", "Findings", words, "End of the report")
    places = [text.index(each) for each in order]
    assert places == sorted(places)


def test_inserted_documents_keep_their_headings_tables_and_numbers(read: Read) -> None:
    extracted = read("a.docx", with_chunks({"a.html": HTML, "b.docx": INNER}))
    assert extracted.text == (
        "Inspection report\n\nFindings\n\nThe joint on level four leaks.\n\n"
        "Remedy\n\nA new seal.\n\nSeal | 12 €\n\n"
        "Findings\n\n1) The roof lacks two tiles.\n\nEnd of the report"
    )
    assert [(each.level, each.text) for each in extracted.headings] == [
        (1, "Findings"),
        (2, "Remedy"),
        (1, "Findings"),
    ]


def test_an_inserted_document_that_cannot_be_read_costs_only_itself(read: Read) -> None:
    nested = docx(paragraph("innermost"))
    for _ in range(5):
        nested = with_chunks({"a.docx": nested})
    chunks: dict[str, str | bytes] = {
        "a.docx": b"PK\x03\x04 damaged",
        "b.html": HTML,
        "c.docx": nested,
        "d.html": b"",
    }
    extracted = read("a.docx", with_chunks(chunks))
    assert "The joint on level four leaks." in extracted.text
    assert "innermost" not in extracted.text
    assert "End of the report" in extracted.text
    damaged, deep = extracted.warnings
    assert damaged.startswith("the inserted document 'a.docx' is a damaged document: ")
    assert deep == "the inserted document 'a.docx' is a damaged document: it lies within 3 others"


def slide(text: str, *, shows: str = "", tag: str = "sld") -> str:
    """A slide, layout or master with its own text and a placeholder."""
    return (
        f"<p:{tag} NS{shows}><p:cSld><p:spTree><p:sp><p:nvSpPr><p:nvPr/></p:nvSpPr><p:txBody>"
        f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp><p:grpSp><p:sp><p:nvSpPr><p:nvPr>"
        '<p:ph type="title"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>Click to edit</a:t></a:r>'
        f"</a:p></p:txBody></p:sp></p:grpSp></p:spTree></p:cSld></p:{tag}>"
    )


def deck(slides: Mapping[str, int], base: str = TRANSITIONAL, shows: str = "") -> bytes:
    """Slides with the numbers of their layouts, which share a master."""
    names = [f"slide{number}" for number in range(1, len(slides) + 1)]
    listed = "".join(
        f'<p:sldId id="{255 + number}" r:id="r{number}"/>' for number in range(1, len(slides) + 1)
    )
    parts: dict[str, str | bytes] = {
        "ppt/presentation.xml": f"<p:presentation NS><p:sldIdLst>{listed}</p:sldIdLst>"
        "</p:presentation>",
        "ppt/_rels/presentation.xml.rels": relationships(
            base, **{f"slide_{name}": f"{name}.xml" for name in names}
        ),
        "ppt/master.xml": slide("Rheinwerk GmbH", tag="sldMaster"),
    }
    for name, (text, layout) in zip(names, slides.items(), strict=True):
        own = slide(text).replace("Click to edit", f"Title of {name}")
        parts |= {
            f"ppt/{name}.xml": own,
            f"ppt/_rels/{name}.xml.rels": relationships(base, slideLayout=f"layout{layout}.xml"),
            f"ppt/layout{layout}.xml": slide(f"Phase {layout}", tag="sldLayout", shows=shows),
            f"ppt/_rels/layout{layout}.xml.rels": relationships(base, slideMaster="master.xml"),
        }
    return package("ppt/presentation.xml", parts, base)


def test_texts_of_layouts_and_masters_are_on_the_first_slide_that_shows_them(read: Read) -> None:
    shown = read("deck.pptx", deck({"Anfang": 1, "Mitte": 1, "Ende": 2})).text
    order = ["Anfang", "Title of slide1", "Phase 1", "Rheinwerk GmbH", "Mitte", "Ende", "Phase 2"]
    places = [shown.index(text) for text in order]
    assert places == sorted(places)
    assert shown.count("Rheinwerk") == shown.count("Phase 1") == 1
    assert "Click to edit" not in shown


def test_a_layout_may_hide_its_master(read: Read) -> None:
    extracted = read("a.pptx", deck({"Anfang": 1}, shows=' showMasterSp="0"'))
    assert parts_of(extracted) == {1: "Anfang\n\nTitle of slide1\n\nPhase 1"}


def test_prompts_of_the_layouts_of_a_library_are_not_text(tmp_path: Path, read: Read) -> None:
    presentation = pptx.Presentation()
    layout = presentation.slide_layouts[1]
    assert layout.placeholders
    presentation.slides.add_slide(layout).shapes.title.text = "Only this"
    presentation.save(str(tmp_path / "b.pptx"))
    assert read("a.pptx", (tmp_path / "b.pptx").read_bytes()).text == "Only this"


STRICT_DOCX = docx(
    paragraph("Kündigung", '<w:pStyle w:val="h"/>')
    + paragraph("Die Frist beträgt drei Monate.")
    + item("Kaution", properties='<w:outlineLvl w:val="0"/>'),
    numbering=definition(level(0, "upperRoman", "%1.")) + numbered(),
    styles=style("h", title="heading 1"),
    base=STRICT,
)
STRICT_XLSX = package(
    "xl/workbook.xml",
    {
        "xl/workbook.xml": '<x:workbook NS><x:sheets><x:sheet name="A" sheetId="1" r:id="r1"/>'
        "</x:sheets></x:workbook>",
        "xl/_rels/workbook.xml.rels": relationships(
            STRICT, worksheet="sheet1.xml", sharedStrings="strings.xml"
        ),
        "xl/strings.xml": "<x:sst NS><x:si><x:t>Vertrag</x:t></x:si><x:si><x:t>Ende</x:t></x:si>"
        "<x:si><x:t>Miete</x:t></x:si></x:sst>",
        "xl/sheet1.xml": '<x:worksheet NS><x:sheetData><x:row r="1"><x:c r="A1" t="s"><x:v>0</x:v>'
        '</x:c><x:c r="B1" t="s"><x:v>1</x:v></x:c></x:row><x:row r="2"><x:c r="A2" t="s"><x:v>2'
        f'</x:v></x:c><x:c r="B2" t="d"><x:v>{date(2025, 3, 1)}</x:v></x:c></x:row></x:sheetData>'
        "</x:worksheet>",
    },
    STRICT,
)


@pytest.mark.parametrize(
    ("name", "data", "shown"),
    [
        ("a.docx", STRICT_DOCX, "Kündigung\n\nDie Frist beträgt drei Monate.\n\nI. Kaution"),
        ("a.xlsx", STRICT_XLSX, "Vertrag: Miete | Ende: 2025-03-01"),
        ("a.pptx", deck({"Erste Folie": 1}, STRICT), "Rheinwerk GmbH"),
    ],
)
def test_strict_documents_are_read_like_others(
    read: Read, name: str, data: bytes, shown: str
) -> None:
    assert shown in read(name, data).text


WORD, EXCEL = "application/vnd.ms-word.", "application/vnd.ms-excel."
POWERPOINT = "application/vnd.ms-powerpoint."
OPEN_XML = "application/vnd.openxmlformats-officedocument."


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("a.dotx", f"{OPEN_XML}wordprocessingml.template.main+xml"),
        ("a.docm", f"{WORD}document.macroEnabled.main+xml"),
        ("a.dotm", f"{WORD}template.macroEnabledTemplate.main+xml"),
        ("a.xltx", f"{OPEN_XML}spreadsheetml.template.main+xml"),
        ("a.xlsm", f"{EXCEL}sheet.macroEnabled.main+xml"),
        ("a.xltm", f"{EXCEL}template.macroEnabled.main+xml"),
        ("a.potx", f"{OPEN_XML}presentationml.template.main+xml"),
        ("a.ppsx", f"{OPEN_XML}presentationml.slideshow.main+xml"),
        ("a.pptm", f"{POWERPOINT}presentation.macroEnabled.main+xml"),
        ("a.potm", f"{POWERPOINT}template.macroEnabled.main+xml"),
        ("a.ppsm", f"{POWERPOINT}slideshow.macroEnabled.main+xml"),
    ],
)
def test_templates_and_files_with_macros_are_read(read: Read, name: str, media_type: str) -> None:
    plain, text = {
        "d": (STRICT_DOCX, "Kündigung"),
        "x": (STRICT_XLSX, "Vertrag: Miete"),
        "p": (deck({"Anfang": 1}), "Anfang"),
    }[name[2]]
    types = f'<Types><Override ContentType="{media_type}"/></Types>'
    assert text in read(name, rewritten(plain, **{"[Content_Types].xml": types})).text


def test_strict_documents_have_headings(idx: Idx, tmp_path: Path, read: Read) -> None:
    (tmp_path / "b.docx").write_bytes(STRICT_DOCX)
    idx("add", "b.docx")
    (hit,) = idx.json("search", "Frist")["results"]
    assert hit["section"] == "Kündigung"
    found = [(each.level, each.text) for each in read("a.docx", STRICT_DOCX).headings]
    assert found == [(1, "Kündigung"), (1, "I. Kaution")]


def test_strict_documents_name_their_program(read: Read) -> None:
    links = relationships(STRICT, officeDocument="word/document.xml", extendedProperties="app.xml")
    program = "<Properties><Application>Word</Application></Properties>"
    data = docx(paragraph("x"), base=STRICT, parts={"_rels/.rels": links, "app.xml": program})
    assert read("a.docx", data).metadata == {"creator": "Word"}


def test_text_boxes_notes_and_comments_of_word_are_read(read: Read) -> None:
    document = python_docx.Document()
    run = document.add_paragraph("In the text").runs[0]
    document.add_comment(run, text="A comment")
    written = io.BytesIO()
    document.save(written)
    assert read("a.docx", written.getvalue()).text == "In the text\n\nA comment"
    box = (
        '<w:p><w:r><w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml"><v:textbox>'
        f"<w:txbxContent>{item('In a box')}</w:txbxContent></v:textbox></v:shape></w:pict></w:r>"
        "</w:p>"
    )
    note = f"<w:footnotes NS><w:footnote>{paragraph('A note')}</w:footnote></w:footnotes>"
    data = docx(
        box + paragraph("After"),
        numbering=definition(level(0, "decimal", "%1.")) + numbered(),
        links={"footnotes": "notes.xml"},
        parts={"word/notes.xml": note},
    )
    assert read("a.docx", data).text == "1. In a box\n\nAfter\n\nA note"


def test_what_was_deleted_moved_or_doubled_in_word_is_not_text(read: Read) -> None:
    body = (
        '<w:p><w:pPr><w:tabs><w:tab w:val="left" w:pos="720"/></w:tabs></w:pPr>'
        "<w:del><w:r><w:delText>deleted</w:delText></w:r></w:del>"
        "<w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom>"
        "<w:ins><w:r><w:t>in</w:t><w:noBreakHyphen/><w:t>serted</w:t></w:r></w:ins>"
        '<w:r><w:instrText>PAGE</w:instrText></w:r><mc:AlternateContent xmlns:mc="urn:mc">'
        "<mc:Choice><w:r><w:t> once</w:t></w:r></mc:Choice>"
        "<mc:Fallback><w:r><w:t> twice</w:t></w:r></mc:Fallback></mc:AlternateContent>"
        "<w:r><w:ptab/><w:ruby><w:rt><w:r><w:t>とう</w:t></w:r></w:rt>"
        "<w:rubyBase><w:r><w:t>東</w:t></w:r></w:rubyBase></w:ruby></w:r><w:r><w:t>京</w:t></w:r>"
        "</w:p>"
    )
    assert read("a.docx", docx(body)).text == "in-serted once 東京"
