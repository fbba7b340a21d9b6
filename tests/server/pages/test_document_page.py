"""The page of a document as it is without JavaScript."""

import os
from pathlib import Path

import pytest

from server.pages.document import CHANGED
from shared import Document
from tests.conftest import add_documents
from tests.programs import run_idx
from tests.server.http.served import Served, served_here
from tests.server.pages.browsing import follow, visit


def test_it_opens_at_the_best_match_with_its_words_marked(api: Served) -> None:
    page = visit(api, "/documents/lease-garden-flat.txt", q="deposit scheme")
    assert page.texts("h1") == ["lease-garden-flat.txt"]
    (target,) = page.tree.cssselect(".part.target")
    found = api.get(
        "/api/search?query=deposit+scheme&filters=source_document=lease-garden-flat.txt"
    )
    assert target.get("id") == f"chunk-{found.json()['results'][0]['chunk_index']}"
    assert {"deposit", "scheme"} <= set(page.texts(".target mark"))
    assert page.texts("title") == ["lease-garden-flat.txt · mcp-lucene"]


def test_it_opens_where_the_url_says(api: Served) -> None:
    page = visit(api, "/documents/otterline-wl4-manual.pdf", q="warranty", chunk=7)
    assert [each.get("id") for each in page.tree.cssselect(".part.target")] == ["chunk-7"]
    assert "page" in page.texts("#label-7")[0]
    assert len(page.texts(".matches a")) == 3
    beyond = visit(api, "/documents/otterline-wl4-manual.pdf", chunk=10_000)
    assert [each.get("id") for each in beyond.tree.cssselect(".part.target")] == ["chunk-11"]


def test_the_pages_of_a_pdf_stand_beside_its_text(api: Served) -> None:
    page = visit(api, "/documents/otterline-wl4-manual.pdf", q="warranty", chunk=11)
    pictures = [each.get("src") for each in page.tree.cssselect("img[data-picture]")]
    assert page.texts("#label-11 span")[0] == "pages 5\u20136"
    folder = "../api/documents/otterline-wl4-manual.pdf/pages"
    assert pictures == [f"{folder}/5.png?q=warranty", f"{folder}/6.png?q=warranty"]
    assert visit(api, "/documents/lease-garden-flat.txt").tree.cssselect("img") == []


def test_its_parts_repeat_nothing(tmp_path: Path) -> None:
    words = [f"word{number}" for number in range(2_000)]
    add_documents(tmp_path / "index", Document("long", "Long", " ".join(words)))
    with served_here(tmp_path / "index") as server:
        for query in ("", "word700 word741"):
            page = visit(server, "/documents/long", q=query, chunk=4, start=1, end=99)
            assert " ".join(page.texts(".part .body")).split() == words


def test_one_walks_through_it_and_keeps_the_place(api: Served) -> None:
    address, seen = f"{api.base}/documents/otterline-wl4-manual.pdf?q=warranty&chunk=5", set()
    for selector in ("[data-walk=later]", "[data-walk=earlier]"):
        page = follow(address)
        while page.tree.cssselect(selector):
            assert page.tree.cssselect(".part.target")[0].get("id") == "chunk-5"
            page = follow(page.links(selector)[0])
        seen |= {each.get("id") for each in page.tree.cssselect(".part")}
    assert seen == {f"chunk-{number}" for number in range(1, 12)}


@pytest.mark.soak
def test_a_very_long_one_is_read_in_windows(tmp_path: Path) -> None:
    add_documents(tmp_path / "index", Document("long", "Long", "some words and more " * 10_000))
    with served_here(tmp_path / "index") as server:
        address, seen = f"{server.base}/documents/long", set()
        while True:
            page = follow(address)
            parts = [each.get("id") for each in page.tree.cssselect(".part")]
            assert 0 < len(parts) <= 60
            seen |= set(parts)
            if not page.tree.cssselect("[data-walk=later]"):
                break
            address = page.links("[data-walk=later]")[0]
    assert len(seen) == int(page.texts(".about")[0].partition(" words, ")[2].split()[0]) > 150


def test_it_shows_what_is_known_of_it_and_how_to_cite_it(api: Served) -> None:
    page = visit(api, "/documents/otterline-wl4-manual.pdf", chunk=11)
    about = page.texts(".about")[0]
    assert "Type PDF" in about
    assert "Author Ottermere Instruments Ltd" in about
    citation = page.texts("#cite-11")[0]
    assert citation.startswith("Otterline WL-4 Level Logger: User Manual, ")
    assert "pages 5\u20136" in citation
    assert citation.endswith("otterline-wl4-manual.pdf")


@pytest.mark.parametrize("name", ["a/b.txt", "über ?#%&+.txt", "..%2F", "日本語/1", "<b>"])
def test_an_id_may_have_any_characters(tmp_path: Path, name: str) -> None:
    add_documents(tmp_path / "index", Document(name, "T", "text of a document"))
    with served_here(tmp_path / "index") as server:
        found = visit(server, "/", q="document")
        page = follow(found.links(".hit h2 a")[0])
        assert page.texts(".where") == [name]
        assert page.texts("mark") == ["document"]
        assert follow(page.links(".back a")[0]).texts(".hit h2") == ["T"]


def test_an_unknown_one_is_a_page_that_says_so(api: Served) -> None:
    page = visit(api, "/documents/lease-garden-fla.txt", 404)
    assert page.texts("h1") == ["Nothing is here"]
    assert "lease-garden-flat.txt" in page.texts("main p")[0]


def test_a_query_that_does_not_parse_hinders_no_reading(api: Served) -> None:
    page = visit(api, "/documents/lease-garden-flat.txt", q="/(a{100}){100}/")
    assert page.texts(".part")


def test_it_says_what_has_become_of_the_original(tmp_path: Path) -> None:
    folder, index = tmp_path / "folder", tmp_path / "index"
    folder.mkdir()
    names = ("same.txt", "longer.txt", "newer.txt", "gone.txt")
    for name in names:
        (folder / name).write_text("The river is deep.")
        # A file that was just written may change again within the resolution of its time.
        os.utime(folder / name, (1_600_000_000, 1_600_000_000))
    assert run_idx(["add", folder, "-i", index], folder).returncode == 0
    add_documents(index, Document("typed", "Typed", "The river is deep."))
    (folder / "longer.txt").write_text("The river is deep and wide.")
    os.utime(folder / "longer.txt", (1_600_000_000, 1_600_000_000))
    os.utime(folder / "newer.txt")
    (folder / "gone.txt").unlink()
    with served_here(index) as server:
        pages = {name: visit(server, f"/documents/{name}", q="river") for name in (*names, "typed")}
    notices = {name: page.texts(".notice") for name, page in pages.items()}
    assert notices["same.txt"] == notices["typed"] == []
    assert notices["longer.txt"] == notices["newer.txt"] == [CHANGED]
    assert notices["gone.txt"] == ["gone.txt is not there any more."]
    originals = {name for name, page in pages.items() if page.links("a[data-original]")}
    assert originals == {"same.txt", "longer.txt", "newer.txt"}
