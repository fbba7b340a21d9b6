"""Citations: where in which file the words of an answer stand, through the real server."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pptx
import pytest
import xlsxwriter  # type: ignore[import-untyped]
from fpdf import FPDF
from mcp import Client

from idx.extraction.types import ExtractionOptions
from shared import Document, Index
from shared.model.document import Metadata
from tests.conftest import Connect, Idx, NewIndex, add_documents
from tests.idx.conftest import extract
from tests.idx.preparation import index_files
from tests.server.tool_answers import answer, refused, text_of, told

PLACE: Final = frozenset(
    f"{unit}_{end}"
    for unit in ("page", "slide", "sheet", "line", "char")
    for end in ("start", "end")
)

FILES: Final = {
    "book.pdf": "page",
    "deck.pptx": "slide",
    "numbers.xlsx": "sheet",
    "notes.md": "line",
    "plain.txt": "line",
    "windows.txt": "line",
    "page.html": None,
}
"""What each of the files is cited by, besides characters."""

PARTS: Final = 4
WORDS: Final = 130  # parts of a file, and words in each, that say in which part they stand


def words(part: int) -> Iterator[str]:
    return (f"p{part}w{number}" for number in range(WORDS))


def write_files(folder: Path) -> None:
    folder.mkdir()
    texts = [" ".join(words(part)) for part in range(1, PARTS + 1)]
    pdf = FPDF()
    pdf.set_font("Helvetica", size=12)
    deck = pptx.Presentation()
    book = xlsxwriter.Workbook(folder / "numbers.xlsx")
    for part, text in enumerate(texts, start=1):
        pdf.add_page()
        pdf.multi_cell(0, text=text)
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.placeholders[1].text = text
        sheet = book.add_worksheet(f"Sheet {part}")
        for row, word in enumerate(words(part)):
            sheet.write(row, 0, word)
    pdf.output(str(folder / "book.pdf"))
    deck.save(str(folder / "deck.pptx"))
    book.close()
    (folder / "plain.txt").write_text("\n".join(texts))
    (folder / "windows.txt").write_text("\r\n".join(texts), newline="")
    (folder / "notes.md").write_text("\n".join(texts))
    paragraphs = "".join(f"<p>{text}</p>" for text in texts)
    (folder / "page.html").write_text(f"<html><body>{paragraphs}</body></html>")


def place(chunk: dict[str, Any]) -> dict[str, Any]:
    """The file and the place of a chunk or a hit."""
    return {name: chunk[name] for name in chunk if name in PLACE | {"file_path"}}


async def test_every_answer_says_where_its_words_stand(
    idx: Idx, empty_index: Path, tmp_path: Path, connect: Connect
) -> None:
    papers = tmp_path / "papers"
    write_files(papers)
    index_files(empty_index, "papers")
    async with connect() as client:
        for name, unit in FILES.items():
            read = await told(client, "get_document_chunks", source_document_id=name, count=100)
            chunks = read["chunks"]
            assert len(chunks) > 2
            text = extract(papers / name, ExtractionOptions()).text
            for chunk in chunks:
                assert_is_cited(chunk, papers / name, unit, text)
            await assert_is_cited_alike(client, chunks)


def assert_is_cited(chunk: dict[str, Any], file: Path, unit: str | None, text: str) -> None:
    cited = place(chunk)
    assert cited.pop("file_path") == file.as_posix()
    part = text[cited.pop("char_start") : cited.pop("char_end")]
    assert part.split() == chunk["content"].split()
    numbers = [int(number) for number in re.findall(r"p(\d+)w\d+", chunk["content"])]
    first, last = numbers[0], numbers[-1]
    # A title of a sheet that begins a chunk, or ends it, has no such word.
    titles = [int(number) for number in re.findall(r"Sheet (\d+)", chunk["content"])]
    first, last = min([first, *titles]), max([last, *titles])
    expected = {f"{unit}_start": first, f"{unit}_end": last} if unit else {}
    if unit == "sheet":
        expected = {name: f"Sheet {number}" for name, number in expected.items()}  # type: ignore[misc]
    assert cited == expected


async def assert_is_cited_alike(client: Client, chunks: list[dict[str, Any]]) -> None:
    """Whichever tool gives a chunk, its place is the same."""
    for before, after in pairwise(chunks):
        found = await told(client, "get_next_chunk", chunk_id=before["id"])
        assert found["chunk"] == after
        found = await told(client, "get_previous_chunk", chunk_id=after["id"])
        assert found["chunk"] == before
    for content in ("full", "passages", "none"):
        condition = {"field": "file_path", "value": chunks[0]["file_path"]}
        asked = {"query": "", "filters": [condition], "group": "none", "limit": 100}
        found = await told(client, "Search", content=content, **asked)
        assert [place(hit) for hit in found["results"]] == [place(chunk) for chunk in chunks]
    (hit, *_) = (await told(client, "Search", query="p4w129", filters=[condition]))["results"]
    assert place(hit) == place(chunks[-1])


async def test_a_document_without_a_file_has_only_characters(
    idx: Idx, empty_index: Path, connect: Connect
) -> None:
    add_documents(empty_index, Document("a", "A", "one\ntwo"))
    async with connect() as client:
        (chunk,) = (await told(client, "get_document_chunks", source_document_id="a"))["chunks"]
        (hit,) = (await told(client, "Search", query="two"))["results"]
    assert place(chunk) == place(hit)
    assert chunk["char_end"] == 7
    assert not place(chunk).keys() & {"file_path", "page_start", "slide_start", "sheet_start"}


LONG = " ".join(f"word{number}" for number in range(700))


@pytest.fixture(scope="module")
def index(new_index: NewIndex) -> Path:
    manual: Metadata = {"year": 2020, "author": "Ann", "creator": "Writer", "language": "en"}
    return new_index(
        Document("manual", "The manual", LONG, manual),
        Document("menu", "Menu", "Café au lait\ncafés", {"year": 2024, "author": "Bob"}),
        Document("note", "Note", "the café, see DEC-0054", {"author": "Ann"}),
    )


async def test_terms_with_a_prefix(client: Client) -> None:
    assert await told(client, "suggest_terms", prefix="CAFÉ") == {
        "field": "content",
        "prefix": "cafe",
        "terms": [{"term": "cafe", "chunks": 2}, {"term": "cafes", "chunks": 1}],
        "complete": True,
        "notice": None,
    }
    nothing = await told(client, "suggest_terms", prefix="zzz")
    assert nothing["terms"] == []
    found = await told(client, "suggest_terms", prefix="A", field="author", limit=1)
    assert found["terms"] == [{"term": "Ann", "chunks": 5}]
    found = await told(client, "suggest_terms", prefix="dec00", field="content")
    assert "dec0054" in [entry["term"] for entry in found["terms"]]


async def test_terms_of_most_chunks(client: Client) -> None:
    values = await told(client, "top_terms", field="author")
    assert (values["field"], values["prefix"], values["complete"]) == ("author", "", True)
    assert values["terms"] == [{"term": "Ann", "chunks": 5}, {"term": "Bob", "chunks": 1}]
    words = await told(client, "top_terms", limit=2, min_length=5)
    assert [entry["chunks"] for entry in words["terms"]] == [2, 2]
    assert all(len(entry["term"]) >= 5 for entry in words["terms"])


async def test_fields(client: Client) -> None:
    listed = await told(client, "list_fields", detail="full")
    assert (listed["total_chunks"], listed["notice"]) == (6, None)
    by_name = {field["name"]: field for field in listed["fields"]}
    internal = {"details", "file_state", "content.reversed", "languages", "number.year"}
    assert internal.isdisjoint(by_name)
    assert list(by_name)[:4] == ["content", "title", "stems", "title_stems"]
    assert by_name["author"] == {
        "name": "author",
        "kind": "keyword",
        "meaning": None,
        "chunks": 6,
        "searchable": True,
        "query_name": "metadata.author",
        "filterable": True,
        "sortable": True,
        "facet": True,
        "examples": ["Ann", "Bob"],
    }
    assert by_name["year"]["kind"] == "number"
    assert by_name["stems"]["kind"] == "text"
    assert by_name["content"]["filterable"] is False
    query = f"{by_name['author']['query_name']}:Bob"
    assert (await told(client, "Search", query=query))["totalHits"] == 1


async def test_statistics(client: Client) -> None:
    figures = await told(client, "index_stats")
    assert (figures["documents"], figures["chunks"], figures["deleted_chunks"]) == (3, 6, 0)
    assert figures["languages"]["en"] >= 1
    assert figures["notice"] is None


async def test_details_of_a_document(client: Client) -> None:
    details = await told(client, "document_details", source_document_id="manual")
    assert LONG.startswith(details.pop("preview").removesuffix("…"))
    assert details == {
        "source_document": "manual",
        "title": "The manual",
        "chunk_count": 4,
        "language": "en",
        "words": 700,
        "characters": len(LONG),
        "metadata": {"year": 2020, "author": "Ann", "creator": "Writer", "language": "en"},
        "notice": None,
    }
    menu = await told(client, "document_details", source_document_id="menu")
    assert (menu["preview"], menu["words"], menu["characters"]) == ("Café au lait\ncafés", 4, 18)


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("suggest_terms", {}, r"the argument 'prefix' is missing"),
        ("suggest_terms", {"prefix": ""}, r"the argument 'prefix' is ''"),
        ("suggest_terms", {"prefix": "x" * 1_001}, r"the argument 'prefix' is"),
        ("suggest_terms", {"prefix": "a", "limit": 101}, r"the argument 'limit' is 101"),
        ("suggest_terms", {"prefix": "a", "field": "autor"}, r"did you mean 'author'"),
        ("top_terms", {"field": "zzz"}, r"'zzz' .*the fields are content, title, stems"),
        ("top_terms", {"limit": 0}, r"the argument 'limit' is 0"),
        ("top_terms", {"feld": "x"}, r"did you mean 'field'"),
        ("list_fields", {"x": 1}, r"no argument 'x'"),
        ("document_details", {"source_document_id": "nobody"}, r"no document has the id 'nobody'"),
        ("document_details", {}, r"'source_document_id' is missing"),
    ],
)
async def test_a_mistake_is_answered(
    client: Client, tool: str, arguments: dict[str, Any], message: str
) -> None:
    assert re.search(message, await refused(client, tool, **arguments))


async def test_answers_stay_short_and_say_what_was_cut(empty_index: Path, connect: Connect) -> None:
    with Index(empty_index) as index:
        for number in range(20):
            metadata: Metadata = {f"key {number} {part}": "x" * 5_000 for part in range(10)}
            metadata["language"] = f"{number}" + "l" * 5_000
            index.add(Document(f"{number}", "T " * 4_500, "text", metadata | {"tag": f"t{number}"}))
        index.add(Document("long" + "i" * 9_000, "T", "text", {"all": ["v" * 400] * 2_000}))
    calls: list[tuple[str, dict[str, Any]]] = [
        ("top_terms", {"field": "language", "limit": 1_000}),
        ("suggest_terms", {"prefix": "1", "field": "language", "limit": 100}),
        ("list_fields", {"detail": "full"}),
        ("index_stats", {}),
        ("document_details", {"source_document_id": "1"}),
        ("document_details", {"source_document_id": "long" + "i" * 9_000}),
    ]
    async with connect() as client:
        for tool, arguments in calls:
            result = await client.call_tool(tool, arguments)
            assert len(text_of(result)) < 40_000
            assert "max_characters" in (answer(result)["notice"] or ""), (tool, arguments)
        for tool, arguments in calls:
            small = {**arguments, "max_characters": 5_000}
            result = await client.call_tool(tool, small)
            assert len(text_of(result)) < 5_000
        whole = await told(
            client, "document_details", source_document_id="1", max_characters=100_000
        )
    assert (whole["notice"], len(whole["title"])) == (None, 9_000)
