"""Letters that a format writes as escapes are found as people type them."""

from pathlib import Path

import pytest

from tests.conftest import Idx

XML_WORKBOOK = """<?xml version="1.0" encoding="ISO-8859-1"?>
<?mso-application progid="Excel.Sheet"?>
<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"
 xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">
<Styles><Style ss:ID="s1"><NumberFormat ss:Format="00000"/></Style>
<Style ss:ID="s2"><NumberFormat ss:Format="dd/mm/yyyy"/></Style></Styles>
<Worksheet ss:Name="Lager"><Table>
<Row><Cell><Data ss:Type="String">Lagerliste</Data></Cell></Row>
<Row ss:Index="3"><Cell><Data ss:Type="String">Artikel</Data></Cell>
<Cell><Data ss:Type="String">PLZ</Data></Cell><Cell><Data ss:Type="String">Seit</Data></Cell></Row>
<Row><Cell><Data ss:Type="String">Fl&#252;gelmutter</Data>
<Comment><ss:Data>x</ss:Data></Comment></Cell>
<Cell ss:StyleID="s1"><Data ss:Type="Number">1067</Data></Cell>
<Cell ss:StyleID="s2"><Data ss:Type="DateTime">2024-03-05T00:00:00.000</Data></Cell></Row>
<Row><Cell ss:Index="2" ss:StyleID="s1"><Data ss:Type="Number">4109</Data></Cell></Row>
</Table></Worksheet></Workbook>
"""

CHAT = r"""{
"name": "J\u00fcrgen",
"content": "Bew\u00e4sserung \ud83d\ude00 \u0022gut\u0022",
"path": "C:\\users\\u00e4x",
"none": "\u0000\ud800\u202e"
}
"""
EXPORT = r"""{"text": "Stra\u00C3\u009Fe gesperrt"}
{"text": "Sch\u00f6ne Gr\u00fc\u00dfe"}
"""
MESSAGES = r"""greeting=Gr\u00fc\u00df Gott
error.key=Schl\u00FCssel fehlt
path=a\\u00e4
"""
PEOPLE = r"""name: "M\xFCller"
city: "K\u00f6ln"
path: C:\xbad
"""
REPORT = r"""\documentclass{article}
\title{Bericht \"uber die Kl\"aranlage}
\author{Andr\'e}
\begin{document}
\section{Einf\"uhrung}
In Gro\ss kmehlen gr\"und\-lich ge\-pr{\"u}ft,
Stra{\ss}e, Ma\ss{}e, \c{C}a, \v{S}koda, na\"{\i}f, Erd\H{o}s\\
\date{x} \cite{k}
"""
OLD_REPORT = r"""\usepackage{ngerman}
Die Gr"o"se der Stra"se, "Uberlauf und Bau"-stelle
"""
REFERENCES = r"""@book{m,
 author = {M{\"u}ller, Fran{\c{c}}ois and S{\o}rensen, {\AA}ke and Ji{\v r}{\'\i}},
 title = {Die gr{\"o}{\ss}te Stadt}
}
"""
CUSTOMERS = """<?xml version="1.0" encoding="ISO-8859-1"?>
<kunden>
<kunde id="0" typ="privat"><name>J&#252;rgen M&#xFC;ller</name></kunde>
<kunde id="1" typ="firma"><name>R&amp;D B&auml;r &lt;b&gt;</name></kunde>
</kunden>
"""

FILES = {
    # A name, its content in ASCII, words that are found, and pieces of what is shown.
    "chat.json": (
        CHAT,
        ["Bewässerung", "Jürgen"],
        [r'"content": "Bewässerung 😀 \u0022gut\u0022"', r"users\\u00e4x", r"\u0000", r"\u202e"],
    ),
    "messages.jsonl": (
        EXPORT,
        ["Straße", "Grüße"],
        ['{"text": "Straße gesperrt"}\n{"text": "Schöne Grüße"}'],
    ),
    "messages_de.properties": (
        MESSAGES,
        ["Schlüssel"],
        ["greeting=Grüß Gott\nerror.key=Schlüssel fehlt\npath=a\\\\u00e4"],
    ),
    "people.yaml": (PEOPLE, ["Müller", "Köln"], ['name: "Müller"', r"C:\xbad"]),
    "report.tex": (
        REPORT,
        ["Kläranlage", "Großkmehlen", "gründlich", "Škoda"],
        ["geprüft,\nStraße, Maße, Ça, Škoda, naïf, Erdős\\\\", r"\date{x} \cite{k}"],
    ),
    "old.tex": (
        OLD_REPORT,
        ["Größe", "Überlauf", "Baustelle"],
        ["Die Größe der Straße, Überlauf und Baustelle"],
    ),
    "refs.bib": (
        REFERENCES,
        ["Müller", "François", "größte"],
        ["Müller, François and Sørensen, Åke and Jiří"],
    ),
    "kunden.xml": (
        CUSTOMERS,
        ["Jürgen", "Bär"],
        ["<name>Jürgen Müller</name>", "<name>R&D Bär &lt;b&gt;</name>"],
    ),
    "lager.xml": (
        XML_WORKBOOK,
        ["Flügelmutter", "01067", "1067"],
        [
            "Lagerliste\n",
            "Artikel: Flügelmutter | PLZ: 01067 (1067) | Seit: 05/03/2024 (2024-03-05)\n",
            "\nPLZ: 04109 (4109)",
        ],
    ),
    "lager.xls": (XML_WORKBOOK, [], ["Artikel: Flügelmutter | PLZ: 01067 (1067)"]),
}


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("papers")
    for name, (text, _, _) in FILES.items():
        (folder / name).write_text(text, "ascii")
    return folder


def test_escaped_letters_are_found_and_shown(idx: Idx, papers: Path) -> None:
    idx("sync", papers)
    for name, (_, words, pieces) in FILES.items():
        text = idx("show", name).stdout
        assert [piece for piece in pieces if piece not in text] == [], (name, text)
        for word in words:
            assert name in idx("search", f'"{word}"').stdout, (name, word)


def test_what_was_escaped_is_cited_by_its_lines(idx: Idx, papers: Path) -> None:
    idx("sync", papers)
    for name in ("chat.json", "messages_de.properties", "report.tex", "kunden.xml"):
        assert f"{name}, lines 1-{FILES[name][0].count(chr(10))}" in idx("show", name).stdout
    assert "report.tex" in idx("search", "section:Einführung").stdout
    assert "# Bericht über die Kläranlage" in idx("show", "report.tex").stdout


def test_a_workbook_in_xml_that_is_cut_off_is_read_as_text(idx: Idx, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "lager.xml").write_text(XML_WORKBOOK[:-40], "ascii")
    idx("sync", folder)
    assert "Flügelmutter" in idx("show", "lager.xml").stdout
