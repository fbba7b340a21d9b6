"""The status page, the documentation of the API, and errors as pages."""

import hashlib
from pathlib import Path

import httpx2
import pytest

from tests.programs import run_idx
from tests.server.http.served import SECONDS, Served, served_here
from tests.server.pages.browsing import HTML, visit

STATIC = Path(__file__).parents[3] / "server" / "pages" / "static"


def test_the_status_is_that_of_the_index(api: Served) -> None:
    page = visit(api, "/status")
    index = api.get("/api/statistics").json()
    figures = page.texts(".figures dd")
    assert figures[:2] == [str(index["documents"]), str(index["chunks"])]
    assert "English 8" in page.texts(".cards tr")
    assert "pdf 1" in page.texts(".cards tr")
    assert page.texts(".paths li") == list(index["folders"])
    # Nobody may change anything here.
    assert page.tree.cssselect("main form") == []


def test_files_that_failed_are_listed_with_their_reasons(tmp_path: Path) -> None:
    folder, index = tmp_path / "folder", tmp_path / "index"
    folder.mkdir()
    (folder / "a.txt").write_text("text")
    for number in range(60):
        (folder / f"{number:02}.bin").write_bytes(b"\0\1\2")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    assert run_idx(["sync", folder, "-i", index], folder).returncode == 1
    with served_here(index, log=tmp_path / "log") as server:
        page = visit(server, "/status")
        assert len(page.texts(".failures tbody tr")) == 50
        rest = visit(server, "/status", offset=50).texts(".failures tbody tr")
        assert len(rest) == server.get("/api/failures").json()["total"] - 50
        assert any(row.startswith("broken.pdf failed") for row in rest)


def test_without_an_index_each_page_says_what_to_do(tmp_path: Path) -> None:
    with served_here(tmp_path / "nothing", log=tmp_path / "log") as server:
        for path in ("/", "/status", "/documents/a"):
            page = visit(server, path, 503)
            assert page.texts("h1") == ["The index cannot be searched now"]
            assert "there is no index" in page.texts("main p")[0].lower()
        # Programs get the same as a problem.
        problem = httpx2.get(f"{server.base}/api/search", headers=HTML, timeout=SECONDS)
        assert problem.headers["content-type"] == "application/problem+json"


def test_an_error_is_a_page_only_where_a_browser_asks_for_one(api: Served) -> None:
    assert visit(api, "/nothing", 404).texts("h1") == ["Nothing is here"]
    assert api.get("/nothing").headers["content-type"] == "application/problem+json"
    assert visit(api, "/sign-in", 404)
    for path in ("/api/nothing", "/static/nothing"):
        response = httpx2.get(f"{api.base}{path}", headers=HTML, timeout=SECONDS)
        assert response.status_code == 404
        assert response.headers["content-type"] == "application/problem+json"


def test_the_api_describes_itself_but_not_the_pages(api: Served) -> None:
    response = httpx2.get(f"{api.base}/api/docs", timeout=SECONDS)
    assert (response.status_code, response.headers["location"]) == (307, "openapi.json")
    described = api.get("/api/openapi.json").json()["paths"]
    assert {"/api/search", "/api/documents/{document_id}/file", "/index/rebuild"} <= set(described)
    assert not {"/", "/status", "/api/docs", "/documents/{document_id}"} & set(described)


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        # htmx.org 2.0.11: dist/htmx.min.js and LICENSE of its package.
        ("htmx.min.js", "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717"),
        ("htmx.LICENSE.txt", "d3d2456f76414f2456104660ebd65aff1c04cd7966b942bdabd63f3cdb316a38"),
    ],
)
def test_the_library_is_the_published_one(api: Served, name: str, digest: str) -> None:
    assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == digest
    served_file = api.get(f"/static/{name}")
    assert hashlib.sha256(served_file.content).hexdigest() == digest
    assert "immutable" in served_file.headers["cache-control"]
