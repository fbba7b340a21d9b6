"""Titles and sections of documents, and the white space of their chunks."""

import json
from pathlib import Path

import docx
import pptx
import pytest

from idx.text.properties import without_default_title
from shared import Document, Searcher
from shared.model.document import Heading
from tests.conftest import Connect, Idx, add_documents
from tests.idx.files import hits
from tests.idx.test_add_files import pdf_of
from tests.server.tool_answers import answer

LAW = (
    "# Bürgerliches Gesetzbuch\n\n## § 550 Form\n\n"
    + "Der Vertrag gilt für unbestimmte Zeit, wenn die Form fehlt. " * 30
    + "\n\n## § 551 Begrenzung der Sicherheiten\n\n"
    + "Sie darf höchstens das Dreifache betragen und ist getrennt anzulegen. " * 40
)
DEPOSITS = "Bürgerliches Gesetzbuch > § 551 Begrenzung der Sicherheiten"


@pytest.fixture
def law(idx: Idx, tmp_path: Path) -> Path:
    (tmp_path / "bgb.md").write_text(LAW)
    (tmp_path / "other.txt").write_text("Das Dreifache ist hier gemeint, ohne Überschrift.")
    idx("add", "bgb.md", "other.txt")
    return tmp_path


def test_a_hit_shows_the_section_that_it_begins_in(idx: Idx, law: Path) -> None:
    sections = {hit["id"]: hit.get("section") for hit in hits(idx, "Dreifache Form")}
    assert sections["other.txt-chunk-001"] is None
    assert sections["bgb.md-chunk-001"] == "Bürgerliches Gesetzbuch"
    assert sections["bgb.md-chunk-003"] == DEPOSITS
    shown = idx("search", "Dreifache").stdout
    assert f"bgb.md, line 9, {DEPOSITS}" in shown
    assert DEPOSITS in idx("show", "bgb.md", "--chunk", "3").stdout


def test_a_chunk_is_found_by_words_of_its_headings(idx: Idx, law: Path) -> None:
    (chunk,) = (hit for hit in hits(idx, "Begrenzung") if hit["id"] == "bgb.md-chunk-003")
    assert "Begrenzung" not in chunk["content"]
    # Of chunks with the other word, those in the section come first.
    found = [hit["id"] for hit in hits(idx, "Sicherheit Dreifache")]
    assert "bgb.md-chunk-003" in found[:2]
    assert found[-1] == "other.txt-chunk-001"


def test_a_query_can_name_the_section(idx: Idx, law: Path) -> None:
    found = {hit["section"] for hit in hits(idx, "section:sicherheiten")}
    assert found == {DEPOSITS}


@pytest.mark.parametrize(
    ("condition", "chunks"),
    [
        (f"section={DEPOSITS}", {"003", "004"}),
        ("section=Bürgerliches Gesetzbuch", {"001", "002", "003", "004"}),
        ("section^=Bürgerliches Gesetzbuch > § 551", {"003", "004"}),
        ("section!=Bürgerliches Gesetzbuch", set()),
    ],
)
def test_a_filter_on_a_section_takes_the_sections_within_it(
    idx: Idx, law: Path, condition: str, chunks: set[str]
) -> None:
    found = {hit["id"] for hit in hits(idx, "", "--filter", condition)}
    assert {name[-3:] for name in found if name.startswith("bgb")} == chunks


async def test_a_client_gets_sections_with_hits_and_chunks(
    idx: Idx, law: Path, connect: Connect
) -> None:
    async with connect() as client:
        found = answer(await client.call_tool("Search", {"query": "Dreifache"}))
        sections = [hit.get("section") for hit in found["results"]]
        assert DEPOSITS in sections
        chunk = answer(await client.call_tool("get_next_chunk", {"chunk_id": "bgb.md-chunk-002"}))
        assert chunk["chunk"]["section"] == DEPOSITS
        fields = answer(await client.call_tool("list_fields", {}))
        assert "section" in {field["name"] for field in fields["fields"]}


def test_sections_survive_a_rebuild(idx: Idx, law: Path) -> None:
    before = hits(idx, "Sicherheit Dreifache")
    idx("rebuild")
    after = hits(idx, "Sicherheit Dreifache")
    assert [(hit["id"], hit.get("section")) for hit in after] == [
        (hit["id"], hit.get("section")) for hit in before
    ]


def test_a_program_may_give_headings_of_its_own(empty_index: Path) -> None:
    text = "Rent is due.\n\nNotice is three months."
    add_documents(empty_index, Document("a", "A", text, headings=[Heading(1, "Lease", 0)]))
    with Searcher(empty_index) as searcher:
        (hit,) = searcher.search("notice").results
    assert hit.section == "Lease"


MADE_UP = (
    *("Microsoft Word - Document1.docx", "Microsoft Word - Dokument3", "untitled", "Untitled-1"),
    *("Präsentation1", "PowerPoint-Präsentation", "PowerPoint Presentation", "Normal.dotm"),
    *("Présentation PowerPoint", "Presentazione standard di PowerPoint", "Vorlage", "Mappe1"),
    *("Microsoft Excel - Book2.xlsx", "Unbenanntes Dokument", "Untitled Document", "Document (2)"),
    *("(no title)", "Titel", "--", "Brief.dotx", "Neues Textdokument", "Slide 1", "sans titre"),
    *("Слайд 1", "Презентация PowerPoint", "Без названия", "Prezentacja1"),
    *("Prezentacja programu PowerPoint", "PowerPoint 演示文稿", "文档1", "無題", "Doc2"),
    *("New Microsoft Word Document", "Neues Microsoft Word-Dokument", "No Slide Title"),
)
TITLES = dict.fromkeys(MADE_UP) | {
    "Microsoft Word - Mietvertrag 2024.docx": "Mietvertrag 2024",
    "Microsoft PowerPoint - Q3 review.pptx": "Q3 review",
    "Document management at Acme": "Document management at Acme",
    "Präsentation der Ergebnisse": "Präsentation der Ergebnisse",
    "PowerPoint-Präsentation zum Umbau": "PowerPoint-Präsentation zum Umbau",
    "Book of changes": "Book of changes",
    "Word - a history": "Word - a history",
    "Untitled poems": "Untitled poems",
    "Книга перемен": "Книга перемен",
    "Word document styles": "Word document styles",
    "README.md": "README.md",
    "2024": "2024",
}


@pytest.mark.parametrize("title", TITLES)
def test_what_somebody_wrote_is_a_title_and_what_a_program_made_up_is_none(title: str) -> None:
    assert without_default_title(title) == TITLES[title]


def written(file: Path, title: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".pdf":
        file.write_bytes(pdf_of(["Revenue was up."], title))
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
        found = idx.json("search", query)["results"]
        assert found[0]["source_document"] == name, query
        own = title if title.startswith("Annual") else Path(name).name
        assert found[0]["title"] == own


CODE = "".join(f"def f{number}(x):\n    return x + {number}\n\n\n" for number in range(120))


def contents(idx: Idx, document: str) -> list[str]:
    shown = idx.json("show", document)
    return [chunk["content"] for chunk in shown["chunks"]]


def joined(content: str) -> bool:
    return content == " ".join(content.split())


ADDED: dict[str, tuple[str, ...]] = {
    "a text": ("add", "-d", "a.py", "-t", "A", "-c", CODE),
    "a document": ("add", "-d", "a.py", "-t", "A", "-f", "docs/a.py"),
    "a bulk file": ("bulk", "-j", "a.json"),
    "a file": ("add", "docs/a.py"),
    "a folder": ("sync", "docs"),
}
"""Ways to add a document: the first three join its lines unless they are asked to keep them."""


@pytest.mark.parametrize("layout", [None, "keep", "join"])
@pytest.mark.parametrize("way", ADDED)
def test_lines_are_kept_or_joined(idx: Idx, way: str, layout: str | None) -> None:
    (idx.folder / "docs").mkdir()
    (idx.folder / "docs" / "a.py").write_text(CODE)
    entry = {"Id": "a.py", "Title": "A", "Content": CODE}
    (idx.folder / "a.json").write_text(json.dumps([entry]))
    idx(*ADDED[way], *(("--layout", layout) if layout else ()))
    first, *others = contents(idx, "a.py")
    assert others
    if layout == "keep" or (layout is None and way in {"a file", "a folder"}):
        assert first == CODE[: len(first)]
        assert all(content in CODE for content in others)
    else:
        assert all(map(joined, [first, *others]))


def test_the_layout_is_a_setting(idx: Idx) -> None:
    (idx.folder / "a.py").write_text(CODE)
    idx.setenv("IDX_LAYOUT", "join")
    idx("sync", "a.py")
    assert all(map(joined, contents(idx, "a.py")))


def test_another_layout_is_refused(idx: Idx, tmp_path: Path) -> None:
    refused = idx("add", "-d", "a", "-t", "A", "-c", "b", "--layout", "wrap", code=2)
    assert "'keep', 'join'" in refused.stderr


def test_a_long_row_is_cut_into_chunks_that_can_be_read(idx: Idx, tmp_path: Path) -> None:
    row = ",".join(f"value{number}" for number in range(6_000))
    (tmp_path / "a.csv").write_text(f"{row}\n" * 3)
    idx("add", "a.csv")
    found = contents(idx, "a.csv")
    assert max(map(len, found)) <= 3_000
    assert "".join(found).count("value5999") == 3


async def test_a_document_is_read_as_it_was_written(
    idx: Idx, tmp_path: Path, connect: Connect
) -> None:
    texts = {"code.py": CODE, "chinese.txt": "我们今天去北京大学。她在上海工作。" * 100}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    idx("add", *texts)
    async with connect() as client:
        for name, text in texts.items():
            (content,) = (await client.read_resource(f"document://{name}")).contents
            assert text.rstrip() in getattr(content, "text", "")
            details = answer(
                await client.call_tool("document_details", {"source_document_id": name})
            )
            assert details["characters"] == len(text.rstrip())
            if name == "code.py":
                assert details["words"] == len(text.split())
