"""The tool `show_page`, through the real server process over stdio."""

import base64
import io
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from fpdf import FPDF
from mcp import Client
from mcp.types import (
    BlobResourceContents,
    CallToolResult,
    ImageContent,
    ResourceLink,
    TextResourceContents,
)
from PIL import Image

from tests.conftest import Connect, Idx, connected
from tests.idx.extraction.pdf_files import add_lines, write_pages, write_pdf
from tests.idx.test_ocr import scan
from tests.programs import run_idx
from tests.server.raw_client import RawClient
from tests.server.tool_answers import answer, error, told

YELLOW = (255, 224, 64)


def shown(result: CallToolResult) -> tuple[Image.Image, dict[str, Any]]:
    """The picture, and the description, which must be the text's too."""
    assert not result.is_error, result.content
    picture, *text = result.content
    assert isinstance(picture, ImageContent)
    assert picture.mime_type == "image/png"
    described = answer(result.model_copy(update={"content": text}))
    image = Image.open(io.BytesIO(base64.b64decode(picture.data)))
    return image.convert("RGB"), described


def write_files(folder: Path) -> None:
    folder.mkdir()
    write_pages(
        folder / "manual.pdf",
        ["The river is deep.\nRivers and bridges.", "The bridge was contracted out.", "No word."],
    )

    def scan_and_text(pdf: FPDF) -> None:
        pdf.add_page()
        add_lines(pdf, "A letter about a river")
        pdf.add_page()
        pdf.image(Image.effect_noise((1200, 1700), 90), h=200)

    write_pdf(folder / "scan.pdf", scan_and_text)
    (folder / "notes.txt").write_text("Notes about a river")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages") / "files"
    write_files(folder)
    return folder


@pytest.fixture
def folder(tmp_path: Path, files: Path) -> Path:
    """The files in a folder that the test may change."""
    return Path(shutil.copytree(files, tmp_path / "files"))


@pytest.fixture(scope="module")
async def reading(files: Path) -> AsyncIterator[Client]:
    """A client for the files that no test changes."""
    index = files.with_name("lucene-index")
    run_idx(["sync", files, "--ocr", "off", "-i", index], files.parent)
    async with connected(index) as client:
        yield client


@pytest.fixture
async def client(idx: Idx, connect: Connect, folder: Path) -> AsyncIterator[Client]:
    """A client for the files that the test may change."""
    assert idx("sync", str(folder), "--ocr", "off").returncode == 0
    async with connect() as client:
        yield client


async def show(client: Client, name: str, page: int, query: str = "") -> CallToolResult:
    given = {"source_document_id": name, "page": page, "query": query}
    return await client.call_tool("show_page", given)


def yellow(image: Image.Image) -> int:
    """The number of yellow pixels: the ground of marked words."""
    return sum(pixel == YELLOW for pixel in image.get_flattened_data())


async def test_a_page_is_shown_with_its_citation(reading: Client, files: Path) -> None:
    image, described = shown(await show(reading, "manual.pdf", 2))
    assert 1_900_000 < image.width * image.height <= 2_000_000
    assert yellow(image) == 0
    assert described == {
        "source_document": "manual.pdf",
        "title": "manual.pdf",
        "file_path": (files / "manual.pdf").as_posix(),
        "page_start": 2,
        "pages": 3,
        "has_text": True,
        "marked": 0,
        "notice": None,
    }


async def test_words_of_a_query_are_marked_in_each_form(reading: Client) -> None:
    image, described = shown(await show(reading, "manual.pdf", 1, "river bridge"))
    assert described["marked"] == 3
    marked = yellow(image)
    assert marked > 1_000
    image, described = shown(await show(reading, "manual.pdf", 1, "bridge"))
    assert described["marked"] == 1
    assert 0 < yellow(image) < marked
    _, described = shown(await show(reading, "manual.pdf", 2, "contract"))
    assert described["marked"] == 1
    image, described = shown(await show(reading, "manual.pdf", 3, "river"))
    assert (described["marked"], yellow(image)) == (0, 0)


async def test_a_hit_links_to_its_page_with_the_words_marked_or_to_its_chunk(
    reading: Client,
) -> None:
    found = await reading.call_tool("Search", {"query": "river", "group": "none"})
    _, *links = found.content
    linked = {link.name: link for link in links if isinstance(link, ResourceLink)}
    assert linked.keys() == {hit["id"] for hit in answer(found)["results"]}
    assert linked["manual.pdf-chunk-001"].uri == "page://manual.pdf?page=1&query=river"
    picture = await show(reading, "manual.pdf", 1, "river")
    (page,) = (await reading.read_resource(linked["manual.pdf-chunk-001"].uri)).contents
    assert isinstance(page, BlobResourceContents)
    assert page.mime_type == linked["manual.pdf-chunk-001"].mime_type == "image/png"
    assert [page.blob] == [part.data for part in picture.content if isinstance(part, ImageContent)]
    (text,) = (await reading.read_resource(linked["notes.txt-chunk-001"].uri)).contents
    assert isinstance(text, TextResourceContents)
    assert text.mime_type == linked["notes.txt-chunk-001"].mime_type == "text/plain"
    assert text.text == "Notes about a river"


async def test_an_older_client_gets_no_links(files: Path, reading: Client) -> None:
    kinds = {}
    for version in ("2025-03-26", "2025-06-18"):
        client = RawClient(files.with_name("lucene-index"))
        client.initialize(version)
        kinds[version] = {part["type"] for part in client.search("river")["content"]}
        client.end()
    assert kinds == {"2025-03-26": {"text"}, "2025-06-18": {"text", "resource_link"}}


async def test_a_scan_is_listed_and_shown_within_the_size_of_an_answer(reading: Client) -> None:
    details = await told(reading, "document_details", source_document_id="scan.pdf")
    assert details["metadata"]["pages_without_text"] == [2]
    result = await show(reading, "scan.pdf", 2, "river")
    _, described = shown(result)
    assert (described["has_text"], described["marked"]) == (False, 0)
    # Noise is what compresses worst, and some clients refuse a megabyte.
    assert len(result.model_dump_json()) < 1_000_000
    _, described = shown(await show(reading, "scan.pdf", 1, "river"))
    assert (described["has_text"], described["marked"]) == (True, 1)


@pytest.mark.parametrize(
    ("name", "page", "reason"),
    [
        ("manual.pdf", 4, "manual.pdf has 3 pages, but not page 4"),
        ("notes.txt", 1, "notes.txt is not a PDF but text/plain, so that it has no pages"),
        ("nothing.pdf", 1, "no document has the id 'nothing.pdf'"),
        ("manual.pdf", 0, "the argument 'page' is 0"),
    ],
)
async def test_what_cannot_be_shown_is_named(
    reading: Client, name: str, page: int, reason: str
) -> None:
    assert error(await show(reading, name, page)).removeprefix("show_page: ").startswith(reason)


async def test_a_query_that_cannot_be_searched_is_an_error(reading: Client) -> None:
    assert "20,000" in error(await show(reading, "manual.pdf", 1, "word " * 5_000))


async def test_a_file_named_by_itself_is_shown(idx: Idx, connect: Connect, folder: Path) -> None:
    idx("add", str(folder / "manual.pdf"))
    async with connect() as client:
        _, described = shown(await show(client, "manual.pdf", 1, "river"))
    assert described["marked"] == 2


async def test_a_changed_file_is_shown_with_a_notice_until_it_is_indexed_again(
    client: Client, folder: Path, idx: Idx
) -> None:
    before, described = shown(await show(client, "manual.pdf", 1, "river"))
    assert (described["pages"], described["marked"]) == (3, 2)
    write_pages(folder / "manual.pdf", ["Another text, of one river"])
    after, described = shown(await show(client, "manual.pdf", 1, "river"))
    assert after != before
    # The words of the index are still those of the older text: river and Rivers.
    assert (described["pages"], described["marked"]) == (1, 1)
    assert described["notice"].startswith("The file has changed since it was indexed")
    idx("sync", str(folder), "--ocr", "off")
    _, described = shown(await show(client, "manual.pdf", 1, "text"))
    assert described["marked"] == 1
    assert described.get("notice") is None


async def test_a_file_that_is_gone_or_replaced_by_a_link_is_an_error(
    client: Client, folder: Path, tmp_path: Path
) -> None:
    shown(await show(client, "manual.pdf", 1))
    file = folder / "manual.pdf"
    outside = file.rename(tmp_path / "outside.pdf")
    assert error(await show(client, "manual.pdf", 1)) == "manual.pdf is not there any more"
    file.symlink_to(outside)
    assert "was replaced by a link, which is not followed" in error(
        await show(client, "manual.pdf", 1)
    )
    file.unlink()
    os.mkfifo(file)
    assert error(await show(client, "manual.pdf", 1)) == "manual.pdf is not a regular file"


async def test_a_protected_file_needs_the_password_of_the_configuration(
    idx: Idx, connect: Connect
) -> None:
    def protected(pdf: FPDF) -> None:
        pdf.set_encryption(owner_password="owner", user_password="open")
        pdf.add_page()
        add_lines(pdf, "A secret river")

    (idx.folder / "files").mkdir()
    write_pdf(idx.folder / "files" / "secret.pdf", protected)
    idx("sync", str(idx.folder / "files"), "--pdf-password", "open")
    async with connect() as client:
        refused = error(await show(client, "secret.pdf", 1))
    assert refused == (
        "secret.pdf is protected by a password; ask the user to set pdf_password in the "
        "configuration"
    )
    async with connect(IDX_PDF_PASSWORD="open") as client:
        _, described = shown(await show(client, "secret.pdf", 1, "river"))
    assert described["marked"] == 1


async def test_the_title_is_fenced(idx: Idx, connect: Connect, folder: Path) -> None:
    idx("sync", str(folder), "--ocr", "off")
    async with connect("--fence") as client:
        _, described = shown(await show(client, "manual.pdf", 1))
    fence = described["fence"]
    assert described["title"] == f"<{fence}>manual.pdf</{fence}>"


@asynccontextmanager
async def slow_file(idx: Idx, connect: Connect, folder: Path) -> AsyncIterator[Client]:
    """A server on a file whose page takes minutes to draw, and on one that does not."""
    write_slow_and_fast(folder)
    idx("sync", str(folder), "--ocr", "off")
    async with connect("--time-budget", "6") as client:
        yield client


def write_slow_and_fast(folder: Path) -> None:
    """Write a PDF whose pages take minutes to draw, and one whose page takes no time."""
    folder.mkdir()
    write_pages(folder / "fast.pdf", ["A river"])

    def draw(pdf: FPDF) -> None:
        pdf.add_page()
        add_lines(pdf, "A river")
        pdf.set_line_width(200)
        with pdf.local_context(fill_opacity=0.5, stroke_opacity=0.5):
            for number in range(40_000):
                pdf.line(0, number % 200, 200, 200 - number % 200)

    write_pdf(folder / "slow.pdf", draw)


@pytest.mark.soak
async def test_a_page_that_takes_too_long_costs_only_itself(idx: Idx, connect: Connect) -> None:
    async with slow_file(idx, connect, idx.folder / "files") as client:
        shown(await show(client, "fast.pdf", 1))
        assert error(await show(client, "slow.pdf", 1)) == (
            "slow.pdf took more than 6 seconds to render"
        )
        shown(await show(client, "fast.pdf", 1, "river"))


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="Tesseract is not installed")
async def test_words_that_ocr_has_read_are_marked(idx: Idx, connect: Connect) -> None:
    (idx.folder / "papers").mkdir()
    scan(idx.folder / "papers" / "scan.pdf", "The rent is due on the third")
    idx("sync", "papers", "--ocr-languages", "eng")
    async with connect() as client:
        image, described = shown(await show(client, "scan.pdf", 1, "rent"))
        assert (described["has_text"], described["marked"]) == (False, 1)
        whole, described = shown(await show(client, "scan.pdf", 1, '"rent is due"'))
        assert described["marked"] == 3
        assert yellow(whole) > 1.5 * yellow(image) > 500
        shutil.rmtree(idx.folder / "lucene-index" / "ocr")
        _, described = shown(await show(client, "scan.pdf", 1, "third"))
        assert described["marked"] == 0
