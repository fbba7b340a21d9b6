"""Numbers that Word makes before paragraphs."""

from pathlib import Path

import pytest

from tests.conftest import Idx
from tests.idx.conftest import Read
from tests.idx.office.packages import definition, docx, item, level, numbered, paragraph, style

HEADING = style("berschrift1", title="heading 1")


def lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line]


LEASE = docx(
    item("Mieträume", properties='<w:pStyle w:val="berschrift1"/>')
    + item("Vermietet wird die Wohnung.", 1)
    + item("Tierhaltung", properties='<w:pStyle w:val="berschrift1"/>')
    + item("Hunde bedürfen der Zustimmung.", 1)
    + paragraph("Das gilt auch für Gäste.")
    + item("Kleintiere sind erlaubt.", 1),
    numbering=definition(level(0, "decimal", "§ %1"), level(1, "decimal", "(%2)")) + numbered(),
    styles=HEADING,
)
MANUAL = docx(
    paragraph("Pump", '<w:pStyle w:val="Heading1"/>')
    + paragraph("Valve", '<w:pStyle w:val="Heading2"/>')
    + paragraph("Gasket", '<w:pStyle w:val="OwnHeading"/>')
    + paragraph("Preface", '<w:pStyle w:val="Heading1"/><w:numPr><w:numId w:val="0"/></w:numPr>')
    + paragraph("Storage", '<w:pStyle w:val="Heading1"/>')
    + paragraph("Frost", '<w:pStyle w:val="Heading2"/>'),
    numbering=definition(
        level(0, "decimal", "%1", '<w:pStyle w:val="Heading1"/>'),
        level(1, "decimal", "%1.%2", '<w:pStyle w:val="Heading2"/>'),
    )
    + numbered(7),
    styles=style("Heading1", '<w:numPr><w:numId w:val="7"/></w:numPr>', title="heading 1")
    + style("Heading2", '<w:numPr><w:numId w:val="7"/></w:numPr>', title="Heading 2")
    + style("OwnHeading", based_on="Heading2"),
)
CONTRACT = docx(
    item("Parties")
    + item("Term", 1)
    + item("Notice", 2)
    + item("Form", 2)
    + item("Annexes")
    + item("Price list", 0, 2)
    + item("Drawings", 0, 2),
    numbering=definition(
        level(0, "upperRoman", "Article %1."),
        level(1, "lowerLetter", "%2)"),
        level(2, "lowerRoman", "(%3)"),
    )
    + definition(level(0, "decimal", "Anlage %1:"), name=5)
    + numbered()
    + numbered(2, 5),
    styles=style("Normal"),
)
RICH_TEXT = (
    r"{\rtf1\ansi{\listtext\pard\plain \'a7 4\tab}\pard\ls1 Tierhaltung\par"
    r"{\listtext (iv)\tab}\pard Hunde\par"
    r"{\pntext\f0 Anlage 2\tab}{\*\pn\pnlvlbody\pndec}Hausordnung\par"
    r"{\listtext\'b7\tab}\pard Ein Punkt\par{\listtext o\tab}Noch einer\par}"
)


@pytest.mark.parametrize(
    ("name", "data", "numbers"),
    [
        (
            "mietvertrag.docx",
            LEASE,
            "§ 1 Mieträume|(1) Vermietet wird|§ 2 Tierhaltung|(1) Hunde|Das gilt|(2) Kleintiere",
        ),
        ("manual.docx", MANUAL, "1 Pump|1.1 Valve|1.2 Gasket|Preface|2 Storage|2.1 Frost"),
        (
            "contract.docx",
            CONTRACT,
            "Article I. Parties|a) Term|(i) Notice|(ii) Form|Article II. Annexes|Anlage 1: Price",
        ),
        (
            "vertrag.rtf",
            RICH_TEXT.encode(),
            "§ 4 Tierhaltung|(iv) Hunde|Anlage 2 Hausordnung|Ein Punkt|Noch einer",
        ),
    ],
)
def test_paragraphs_have_the_numbers_that_word_shows(
    read: Read, name: str, data: bytes, numbers: str
) -> None:
    shown = lines(read(name, data).text)
    for beginning in numbers.split("|"):
        assert any(line.startswith(beginning) for line in shown), beginning


def test_a_chunk_has_the_number_of_its_heading(idx: Idx, tmp_path: Path) -> None:
    (tmp_path / "mietvertrag.docx").write_bytes(LEASE)
    idx("add", "mietvertrag.docx")
    found = idx.json("search", 'section:"§ 1 Mieträume"')["results"]
    assert [hit["section"] for hit in found] == ["§ 1 Mieträume"]
    assert "§ 2 Tierhaltung" in idx("search", '"§ 2"').stdout


@pytest.mark.parametrize(
    ("form", "text", "start", "shown"),
    [
        ("decimalZero", "%1", 9, "09;10;11"),
        ("lowerLetter", "%1.", 26, "z.;aa.;bb."),
        ("upperLetter", "%1.", 1, "A.;B.;C."),
        ("lowerRoman", "%1)", 3, "iii);iv);v)"),
        ("upperRoman", "%1.", 1989, "MCMLXXXIX.;MCMXC.;MCMXCI."),
        ("ordinal", "%1", 11, "11th;12th;13th"),
        ("ordinal", "%1", 1, "1st;2nd;3rd"),
        ("russianLower", "%1)", 24, "ш);щ);ы)"),
        ("numberInDash", "%1", 1, "- 1 -;- 2 -;- 3 -"),
        ("japaneseCounting", "%1", 1, "1;2;3"),
        ("bullet", "\uf0b7", 1, ";;"),
        ("none", "%1", 1, ";;"),
        ("none", "NB:", 1, "NB:;NB:;NB:"),
        ("upperRoman", "%1", 99_999, "99999;100000;100001"),
    ],
)
def test_numbers_are_in_their_format(
    read: Read, form: str, text: str, start: int, shown: str
) -> None:
    numbering = definition(level(0, form, text, start=start)) + numbered()
    body = item("x") + item("x") + item("x")
    assert read("a.docx", docx(body, numbering=numbering)).text == "\n\n".join(
        f"{number} x".strip() for number in shown.split(";")
    )


DECIMAL = (
    level(0, "decimal", "%1."),
    level(1, "decimal", "%1.%2."),
    level(2, "decimal", "%1.%2.%3"),
)


@pytest.mark.parametrize(
    ("body", "numbering", "shown"),
    [
        pytest.param(
            item("a") + item("b", 1) + item("c", 0, 2) + item("d", 1, 2) + item("e"),
            definition(*DECIMAL) + numbered() + numbered(2),
            "1. a|1.1. b|2. c|2.1. d|3. e",
            id="lists of one definition count on",
        ),
        pytest.param(
            item("a") + item("b") + item("c", 0, 2) + item("d", 0, 2) + item("e", 0, 2),
            definition(*DECIMAL)
            + numbered()
            + numbered(
                2, 0, '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="4"/></w:lvlOverride>'
            ),
            "1. a|2. b|4. c|5. d|6. e",
            id="a list begins anew",
        ),
        pytest.param(
            item("a", 0, 2) + item("b", 0, 1),
            definition(*DECIMAL)
            + numbered()
            + numbered(
                2,
                0,
                f'<w:lvlOverride w:ilvl="0">{level(0, "upperLetter", "Teil %1")}</w:lvlOverride>',
            ),
            "Teil A a|2. b",
            id="a list has a level of its own",
        ),
        pytest.param(
            item("a") + item("b", 2) + item("c", 1) + item("d", 2) + item("e") + item("f", 2),
            definition(*DECIMAL[:2], level(2, "decimal", "[%3]", '<w:lvlRestart w:val="0"/>'))
            + numbered(),
            "1. a|[1] b|1.2. c|[2] d|2. e|[3] f",
            id="a level never begins anew",
        ),
        pytest.param(
            item("a")
            + item("b", 1)
            + item("c", 2)
            + item("d", 1)
            + item("e", 2)
            + item("f")
            + item("g", 2),
            definition(*DECIMAL[:2], level(2, "decimal", "[%3]", '<w:lvlRestart w:val="1"/>'))
            + numbered(),
            "1. a|1.1. b|[1] c|1.2. d|[2] e|2. f|[1] g",
            id="a level begins anew after the first only",
        ),
        pytest.param(
            item("a") + item("b", 1) + item("c", 2),
            definition(
                level(0, "upperRoman", "%1."),
                level(1, "lowerLetter", "%1.%2"),
                level(2, "decimal", "%1.%2.%3", "<w:isLgl/>"),
            )
            + numbered(),
            "I. a|I.a b|1.1.1 c",
            id="legal numbers",
        ),
        pytest.param(
            item("a") + item("b", 1),
            definition(
                level(0, "upperRoman", "Article %1."),
                level(1, "decimalZero", "Section %1.%2", "<w:isLgl/>"),
            )
            + numbered(),
            "Article I. a|Section 1.01 b",
            id="legal numbers with a zero",
        ),
        pytest.param(
            item("a")
            + item("gone", properties="<w:rPr><w:del/></w:rPr>")
            + item(
                "was b",
                properties='<w:pPrChange><w:pPr><w:pStyle w:val="x"/><w:numPr><w:ilvl '
                'w:val="1"/><w:numId w:val="9"/></w:numPr></w:pPr></w:pPrChange>',
            ),
            definition(*DECIMAL) + numbered(),
            "1. a|gone|2. was b",
            id="deleted paragraphs and former numbers",
        ),
        pytest.param(
            f"<w:tbl><w:tr><w:tc>{item('')}</w:tc><w:tc>{paragraph('Hammer')}</w:tc></w:tr>"
            f"<w:tr><w:tc>{item('')}</w:tc><w:tc>{paragraph('Saw')}</w:tc></w:tr></w:tbl>"
            + item("after"),
            definition(*DECIMAL) + numbered(),
            "1. | Hammer|2. | Saw|3. after",
            id="a column of numbers",
        ),
        pytest.param(
            item("a") + item("b"),
            definition(more='<w:numStyleLink w:val="Legal"/>')
            + definition(
                level(0, "decimal", "Art. %1"), name=3, more='<w:styleLink w:val="Legal"/>'
            )
            + numbered(),
            "Art. 1 a|Art. 2 b",
            id="a style of lists",
        ),
        pytest.param(
            item("a") + item("b"),
            '<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="7"/>'
            '<c:AlternateContent xmlns:c="http://schemas.openxmlformats.org/markup-compatibility/2006">'
            '<c:Choice Requires="w14"><w:numFmt w:val="custom" w:format="001, 002, 003, ..."/>'
            '</c:Choice><c:Fallback><w:numFmt w:val="decimal"/></c:Fallback></c:AlternateContent>'
            '<w:lvlText w:val="Nr. %1"/></w:lvl></w:abstractNum>' + numbered(),
            "Nr. 007 a|Nr. 008 b",
            id="digits of one's own",
        ),
        pytest.param(
            item("a", 9) + item("b", 99_999_999) + item("c", 0, 3) + item("d", 1),
            definition(*DECIMAL, level(99_999_999, "decimal", "%1")) + numbered() + numbered(3, 4),
            "a|b|c|1.1. d",
            id="lists and levels that do not exist",
        ),
    ],
)
def test_numbers_are_counted_as_in_word(read: Read, body: str, numbering: str, shown: str) -> None:
    text = read("a.docx", docx(body, numbering=numbering)).text
    assert "|".join(lines(text)) == shown


def test_long_texts_around_numbers_are_cut(read: Read) -> None:
    text = "%1" + "x" * 100_000
    numbering = definition(level(0, "lowerLetter", text, start=999_999_999)) + numbered()
    assert len(read("a.docx", docx(item("a") * 3, numbering=numbering)).text) < 1_000
