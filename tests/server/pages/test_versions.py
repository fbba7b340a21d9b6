"""The search page shows of several versions of a text the newest, and links the others."""

from pathlib import Path

from tests.conftest import add_documents
from tests.idx.letters import OTHERS, VERSIONS, letters
from tests.server.http.served import served_here
from tests.server.pages.browsing import follow, visit


def test_similar_documents_are_a_click_away(empty_index: Path, tmp_path: Path) -> None:
    add_documents(empty_index, *letters())
    with served_here(empty_index, log=tmp_path / "log") as server:
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
