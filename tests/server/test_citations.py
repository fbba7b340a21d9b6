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

from idx.extraction.formats import extract
from idx.extraction.types import ExtractionOptions
from shared import Document
from tests.conftest import Connect, Idx, add_documents
from tests.idx.preparation import index_files
from tests.server.tool_answers import answer

pytestmark = pytest.mark.anyio

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
            asked = {"source_document_id": name, "count": 100}
            chunks = answer(await client.call_tool("get_document_chunks", asked))["chunks"]
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
        found = answer(await client.call_tool("get_next_chunk", {"chunk_id": before["id"]}))
        assert found["chunk"] == after
        found = answer(await client.call_tool("get_previous_chunk", {"chunk_id": after["id"]}))
        assert found["chunk"] == before
    for content in ("full", "passages", "none"):
        condition = {"field": "file_path", "value": chunks[0]["file_path"]}
        asked = {
            "query": "",
            "filters": [condition],
            "group": "none",
            "content": content,
            "limit": 100,
        }
        hits = answer(await client.call_tool("Search", asked))["results"]
        assert [place(hit) for hit in hits] == [place(chunk) for chunk in chunks]
    (hit, *_) = answer(
        await client.call_tool("Search", {"query": "p4w129", "filters": [condition]})
    )["results"]
    assert place(hit) == place(chunks[-1])


async def test_a_document_without_a_file_has_only_characters(
    idx: Idx, empty_index: Path, connect: Connect
) -> None:
    add_documents(empty_index, Document("a", "A", "one\ntwo"))
    async with connect() as client:
        asked = {"source_document_id": "a"}
        (chunk,) = answer(await client.call_tool("get_document_chunks", asked))["chunks"]
        (hit,) = answer(await client.call_tool("Search", {"query": "two"}))["results"]
    assert place(chunk) == place(hit)
    assert chunk["char_end"] == 7
    assert not place(chunk).keys() & {"file_path", "page_start", "slide_start", "sheet_start"}
