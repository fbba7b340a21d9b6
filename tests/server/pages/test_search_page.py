"""The search page as it is without JavaScript: everything is in its URL."""

import re
from pathlib import Path
from typing import Any

import httpx2
import pytest

from shared import Document, Index
from shared.model.document import Metadata
from tests.conftest import add_documents
from tests.idx.letters import OTHERS, VERSIONS, letters
from tests.server.http.served import SECONDS, Served, served, served_here, wait_for
from tests.server.pages.browsing import follow, visit


def test_a_search_shows_passages_with_the_words_marked(api: Served) -> None:
    page = visit(api, "/", q="deposit of the flat")
    titles = page.texts(".hit h2")
    assert titles[0] == "lease-garden-flat.txt"
    assert {"deposit", "Deposit", "flat"} <= set(page.texts("mark"))
    assert page.texts(".confidence")[0] == "likely"
    found = api.get("/api/search?query=deposit+of+the+flat").json()
    assert page.texts(".total")[0].startswith(f"{found['totalHits']} passages of 1 document in")
    assert len(titles) == 1
    (address, *_) = page.links(".hit h2 a")
    first = found["results"][0]
    assert address.endswith(
        f"?q=deposit+of+the+flat&chunk={first['chunk_index']}#chunk-{first['chunk_index']}"
    )


def test_passages_of_a_document_are_together_or_one_by_one(api: Served) -> None:
    page = visit(api, "/", q="level of the water")
    documents = page.texts(".hit .where > bdi")
    assert len(documents) == len(set(documents)) == len(page.texts(".hit"))
    (more, *_) = page.texts(".others .dim")
    assert re.fullmatch(r"and \d+ more passages of this document", more)
    other = page.links(".others a")[0]
    assert "#chunk-" in other
    assert follow(other).response.status_code == 200
    (single,) = page.links("#group")
    each = follow(single)
    total = int(each.texts(".total strong")[0])
    assert each.texts(".total")[0].startswith(f"{total} passages in")
    assert page.texts(".total")[0].startswith(f"{total} passages of {len(documents)} documents in")
    assert not each.texts(".others")
    assert each.texts(".pages .dim") == [f"Page 1 of {-(-total // 10)}"]
    # Facets count what is listed.
    assert sum(int(re.sub(r"\D", "", text)) for text in page.texts(".facets li a .number")) < total
    # A filter keeps the choice.
    assert all("group=none" in link for link in each.links(".facets li a"))


def test_without_a_query_it_lists_each_document_once(api: Served) -> None:
    page = visit(api, "/")
    assert page.texts(".total") == ["13 documents in the index"]
    assert len(set(page.texts(".hit .where"))) == 10
    second = follow(page.links("a[rel=next]")[0])
    assert len(second.texts(".hit")) == 3
    assert not set(page.texts(".hit .where")) & set(second.texts(".hit .where"))
    assert second.links("a[rel=prev]") == [f"{api.base}/"] or second.links("a[rel=prev]") == [
        f"{api.base}/?"
    ]


def test_a_filter_is_a_link_that_can_be_opened_afresh_and_taken_back(api: Served) -> None:
    page = visit(api, "/", q="Ottermere")
    facets = dict(zip(page.texts(".facets li a"), page.links(".facets li a"), strict=True))
    (name,) = [name for name in facets if name.startswith("German")]
    german = follow(facets[name])
    assert "language=de" in str(german.response.url)
    assert len(german.texts(".hit")) == int(name.removeprefix("German"))
    # The other choices of the same facet stay.
    assert any(name.startswith("English") for name in german.texts(".facets li a"))
    # A new query keeps the filter, since the form sends it.
    hidden = german.tree.cssselect("#found > input[type=hidden]")
    assert [(each.get("name"), each.get("value")) for each in hidden] == [("language", "de")]
    back = follow(german.links("[aria-current=true][id^=language]")[0])
    assert back.texts(".total")[0].split()[0] == page.texts(".total")[0].split()[0]


@pytest.mark.parametrize(
    ("query", "documents"),
    [
        ({"type": "application/pdf"}, {"otterline-wl4-manual.pdf"}),
        ({"language": "de", "type": "text/plain"}, {"mietvertrag-werkstatt.txt"}),
        ({"author": "Ottermere Instruments Ltd"}, {"otterline-wl4-manual.pdf"}),
        ({"folder": "lease"}, {"lease-garden-flat.txt"}),
        ({"until": "1999"}, set()),
        ({"since": "2000-01-01", "type": "application/pdf"}, {"otterline-wl4-manual.pdf"}),
    ],
)
def test_each_filter_counts(api: Served, query: dict[str, Any], documents: set[str]) -> None:
    assert set(visit(api, "/", **query).texts(".hit .where")) == documents


def test_the_order_is_that_of_the_url(api: Served) -> None:
    ids = visit(api, "/", sort="source_document").texts(".hit .where")
    assert ids == sorted(ids)
    assert visit(api, "/", q="notice", sort="source_document").texts("[aria-current=true]") == [
        "Path"
    ]


def test_a_misspelled_query_is_corrected_with_a_word_about_it(api: Served) -> None:
    page = visit(api, "/", q="depsoit")
    assert "deposit" in page.texts(".notice")[0]
    assert follow(page.links(".notice a")[0]).texts(".hit")


def test_a_doubtful_answer_is_called_so(api: Served) -> None:
    page = visit(api, "/", q="volcano board zebra quantum meeting giraffe")
    assert page.texts(".hit")
    assert any("Probably none of these" in text for text in page.texts(".notice"))
    assert "likely" not in page.texts(".confidence")


def test_it_says_how_a_query_was_read(api: Served) -> None:
    notices = visit(api, "/", q="What is (the rent AND").texts(".notice")
    assert any("plain text" in text for text in notices), notices


def test_nothing_found_says_what_to_do(api: Served) -> None:
    page = visit(api, "/", q="xyzzyplugh", language="de")
    assert page.texts("#count") == ["Nothing found"]
    assert follow(page.links(".empty a")[0]).tree.cssselect("#found > input") == []


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ({"q": "/(a{100}){100}/"}, 400, "repeats"),
        ({"page": "0"}, 422, "'page'"),
        ({"since": "yesterday"}, 422, "'since'"),
    ],
)
def test_what_cannot_be_searched_is_said_in_words(
    api: Served, query: dict[str, Any], status: int, said: str
) -> None:
    page = visit(api, "/", status, **query)
    assert any(said in text for text in page.texts("main p"))


def test_the_texts_of_documents_do_nothing(tmp_path: Path) -> None:
    evil = '"><img src=x onerror=alert(1)><script>alert(2)</script><mark>'
    with Index(tmp_path / "index", create=True) as index:
        for number, language in enumerate(("en", "de")):
            metadata: Metadata = {
                "author": f"{evil}{number}",
                "language": language,
                "file_type": evil,
            }
            index.add(Document(f"{evil}/{number}", f"# {evil}", f"word {evil} text", metadata))
    with served_here(tmp_path / "index") as server:
        # Not the words of the tags, since marks would take these apart.
        page = visit(server, "/", q="word")
        shown = [page, *(follow(link) for link in page.links(".hit h2 a, .facets a"))]
        assert len(shown) > 4
        for each in (*shown, visit(server, "/status"), visit(server, f"/{'%3Cimg%3E'}", 404)):
            assert each.tree.cssselect("img, script:not([src]), [onerror]") == []
            assert each.response.text.count("<script ") == each.response.text.count("<script src=")
        # A tag of a mark that stands in the text opens and closes nothing else.
        assert "onerror=alert(1)" in page.texts(".hit")[0]


def test_the_words_of_a_query_do_nothing_either(api: Served) -> None:
    page = visit(api, "/", q='"><script>alert(1)</script>')
    assert page.tree.cssselect("script:not([src])") == []


def test_all_links_hold_below_any_path_of_a_proxy(api: Served) -> None:
    for path in ("/?q=deposit", "/documents/lease-garden-flat.txt?q=deposit", "/status"):
        page = visit(api, path)
        for name, selector in (("href", "[href]"), ("action", "[action]"), ("src", "[src]")):
            for each in page.tree.cssselect(selector):
                address = str(each.get(name))
                assert not address.startswith("/"), address
                assert "://" not in address


def test_pages_are_kept_nowhere_and_load_nothing_from_elsewhere(api: Served) -> None:
    for path in ("/", "/status", "/documents/lease-garden-flat.txt", "/nothing"):
        response = httpx2.get(f"{api.base}{path}", headers={"Accept": "text/html"}, timeout=SECONDS)
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["content-security-policy"].startswith("default-src 'self';")
        assert "style=" not in response.text
        assert "<style" not in response.text


@pytest.mark.soak
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="only Linux has /proc")
def test_pictures_are_prepared_when_a_result_has_pages(samples: Path) -> None:
    with served(samples) as server:

        def children() -> list[str]:
            threads = Path(f"/proc/{server.process.pid}/task").glob("*/children")
            return [child for thread in threads for child in thread.read_text().split()]

        visit(server, "/", q="lease deposit", folder="lease")
        assert children() == []
        visit(server, "/", q="warranty lithium")
        wait_for(children, "the processes start")


def test_similar_documents_are_a_click_away(empty_index: Path) -> None:
    add_documents(empty_index, *letters())
    with served_here(empty_index) as server:
        page = visit(server, "/", q="harbour")
        pages = [page, follow(page.links("a[rel=next]")[0])]
        shown = [name for each in pages for name in each.texts(".hit .where > bdi")]
        assert len(shown) == OTHERS + 1
        assert {*VERSIONS} & {*shown} == {"final"}
        # The last page says so, although the total counts older versions, too.
        assert not pages[1].links("a[rel=next]")
        total = len(VERSIONS) + OTHERS
        assert page.texts(".total")[0].startswith(f"{total} passages of {total} documents")
        (link,) = [link for each in pages for link in each.links(".similar a")]
        (text,) = [text for each in pages for text in each.texts(".similar a")]
        assert text == "2 similar documents"
        versions = follow(link)
        assert {*versions.texts(".hit .where > bdi")} == {*VERSIONS}
        back = follow(versions.links("#version_of")[0])
        assert back.texts(".total")[0].split()[:1] == page.texts(".total")[0].split()[:1]
        found = server.get("/api/search?query=harbour&content=passages&limit=20").json()
        similar = [hit.get("similar_documents") for hit in found["results"]]
        assert [each["ids"] for each in similar if each] == [["second", "draft"]]
        every = server.get("/api/search?query=harbour&group=document&versions=all&limit=20").json()
        assert len(every["results"]) == total
        one = server.get("/api/search?filters=version_of%3Ddraft&group=document").json()
        assert {hit["source_document"] for hit in one["results"]} == {*VERSIONS}
