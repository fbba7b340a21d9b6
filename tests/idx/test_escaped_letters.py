"""Letters written as escapes, and names in composed or other forms, are found as people type."""

import json
from pathlib import Path
from typing import Literal
from unicodedata import normalize

import pytest

from tests.conftest import Connect, Idx
from tests.idx.files import found, ids

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
</Table></Worksheet><Worksheet ss:Name="Weit"><Table>
<Row><Cell ss:Index="900"><Data ss:Type="String">Rest</Data></Cell>
<Cell><Data ss:Type="String">Ende</Data></Cell></Row>
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
            "Rest | Ende",
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


NAMES = ("Größen/übersicht.md", "Größen/Straßenbäume.txt", "École/été/leçon.txt", "한국/요약.txt")
Form = Literal["NFC", "NFD"]
FORMS: list[tuple[Form, Form]] = [("NFD", "NFC"), ("NFC", "NFD")]
BOTH: tuple[Form, Form] = ("NFC", "NFD")


def mixed(name: str) -> str:
    """A name whose folder is composed and whose file is not."""
    folder, _, file = name.rpartition("/")
    return f"{normalize('NFC', folder)}/{normalize('NFD', file)}"


def written(folder: Path, names: list[str]) -> None:
    for number, name in enumerate(names):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# Text {number}\n\nThe text of number {number}.\n", "utf-8")


@pytest.mark.parametrize(("on_disk", "asked"), FORMS)
def test_documents_are_named_in_either_form(
    idx: Idx, tmp_path: Path, on_disk: Form, asked: Form
) -> None:
    folder = tmp_path / normalize(on_disk, "Ordner für alles")
    names = [normalize(on_disk, name) for name in NAMES]
    written(folder, names)
    idx("sync", folder)
    assert {*ids(idx.index)} == {*names}
    for number, name in enumerate(NAMES):
        wanted = normalize(asked, name)
        assert f"number {number}" in idx("show", wanted).stdout
        path = normalize(asked, str(folder / name))
        assert f"number {number}" in idx("show", path).stdout
        assert f"number {number}" in idx("show", wanted, "--chunk", 1).stdout
        for condition in (
            *(f"source_document={wanted}", f"file_path={path}", f"folder={Path(wanted).parent}"),
            *(f"file_path^={Path(path).parent}", f"id={wanted}-chunk-001"),
        ):
            assert names[number] in found(idx, "text", "--filter", condition), condition
    deleted = idx("delete", normalize(asked, NAMES[0]), "--json").stdout
    assert json.loads(deleted)["deleted"] == {names[0]: 1}
    assert NAMES[0] not in idx("list").stdout


def test_a_name_in_both_forms_is_two_documents(idx: Idx, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    both = [normalize(form, "übersicht.md") for form in BOTH]
    written(folder, [*both, mixed(NAMES[1])])
    if len([*folder.glob("*.md")]) == 1:
        pytest.skip("the file system compares names in one form")
    idx("sync", folder)
    for number, name in enumerate(both):
        assert f"number {number}" in idx("show", name).stdout
    for form in BOTH:
        assert "number 2" in idx("show", normalize(form, NAMES[1])).stdout
    idx("delete", both[1])
    assert "number 0" in idx("show", both[1]).stdout


@pytest.mark.parametrize(("on_disk", "asked"), FORMS)
async def test_tools_take_names_in_either_form(
    idx: Idx, connect: Connect, tmp_path: Path, on_disk: Form, asked: Form
) -> None:
    folder = tmp_path / "papers"
    names = [normalize(on_disk, name) for name in NAMES]
    written(folder, names)
    idx("sync", folder)
    async with connect() as client:
        for number, name in enumerate(names):
            wanted = normalize(asked, name)

            async def call(tool: str, **arguments: object) -> str:
                answer = await client.call_tool(tool, arguments)
                assert not answer.is_error, answer
                return json.dumps(answer.structured_content, ensure_ascii=False)

            text = f"number {number}"
            assert text in await call("get_document_chunks", source_document_id=wanted)
            before = await call("get_previous_chunk", chunk_id=f"{wanted}-chunk-001")
            assert '"chunk": null' in before
            assert name in await call("ListDocuments", prefix=wanted[:-4])
            for field, operator, value in (
                ("source_document", "eq", wanted),
                ("folder", "eq", wanted.rpartition("/")[0]),
                ("file_path", "prefix", normalize(asked, str(folder / name))[:-2]),
                ("file_name", "in", [wanted.rpartition("/")[2]]),
            ):
                condition = {"field": field, "operator": operator, "value": value}
                assert text in await call("Search", query="text", filters=[condition]), condition
