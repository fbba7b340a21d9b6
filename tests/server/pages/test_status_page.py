"""The status page, the API's documentation, errors, the answer box, and pages of other sites."""

import hashlib
from pathlib import Path
from typing import Final

import httpx2
import pytest

from tests.model_server import quoting, serving, streams
from tests.programs import run_idx
from tests.server.api.test_answers import QUESTION, QUOTE
from tests.server.http.served import SECONDS, Served, served_here
from tests.server.pages.browsing import HTML, Page, visit

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
    with served_here(index) as server:
        page = visit(server, "/status")
        assert len(page.texts(".failures tbody tr")) == 50
        rest = visit(server, "/status", offset=50).texts(".failures tbody tr")
        assert len(rest) == server.get("/api/failures").json()["total"] - 50
        assert any(row.startswith("broken.pdf failed") for row in rest)


def test_without_an_index_each_page_says_what_to_do(tmp_path: Path) -> None:
    with served_here(tmp_path / "nothing") as server:
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


def test_there_is_no_box_without_a_model(api: Served) -> None:
    assert visit(api, "/", q="deposit").texts("#answer") == []


def test_a_box_with_a_button_asks_nobody_by_itself(samples: Path) -> None:
    with serving(streams(quoting("They paid £1,130 [1].", QUOTE))) as model:
        variables = {"IDX_ANSWER_MODEL": "test", "IDX_ANSWER_URL": model.url}
        with served_here(samples, environment=variables) as server:
            page = visit(server, "/", q=QUESTION)
            assert page.texts("#answer button") == ["Answer from the documents"]
            assert page.texts("#answer .text") == [""]
            assert model.requests == []


CROSS: Final = {"Sec-Fetch-Site": "cross-site"}
EVIL: Final = {"Origin": "https://evil.example"}

FOREIGN: Final[dict[str, tuple[str, str, dict[str, str], int]]] = {
    "a picture whose address asks": ("GET", "/?q=Q&answer=true", {}, 200),
    "a link that asks": ("GET", "/?q=Q&answer=true", CROSS, 403),
    "a link that searches": ("GET", "/?q=Q", CROSS, 403),
    "a link to a search of the API": ("GET", "/api/search?query=Q", CROSS, 403),
    "a picture of a page": ("GET", "/api/documents/a/pages/1.png", CROSS, 403),
    "a link to a document": ("GET", "/documents/lease-garden-flat.txt?q=Q", CROSS, 403),
    "a link to the start": ("GET", "/", CROSS, 200),
    "a form": ("POST", "/search?query=Q", EVIL | CROSS, 403),
    "a form without a cross-site browser": ("POST", "/search", EVIL, 403),
    "a form in a sandbox": ("POST", "/search", {"Origin": "null"}, 403),
    "a script": ("POST", "/search", EVIL | CROSS | {"Content-Type": "text/plain"}, 403),
}
"""Requests that a page of another site makes a browser send."""


@pytest.mark.parametrize("request_", FOREIGN.values(), ids=FOREIGN.keys())
def test_a_page_of_another_site_asks_no_model(
    samples: Path, request_: tuple[str, str, dict[str, str], int]
) -> None:
    method, path, headers, status = request_
    with serving(streams(quoting("They paid £1,130 [1].", QUOTE))) as model:
        variables = {"IDX_ANSWER_MODEL": "test", "IDX_ANSWER_URL": model.url}
        with served_here(samples, environment=variables) as server:
            answered = httpx2.request(
                method,
                server.base + path.replace("Q", QUESTION.replace(" ", "+").rstrip("?")),
                headers=HTML | headers,
                data={"query": QUESTION, "include_answer": "true"} if method == "POST" else None,
                timeout=SECONDS,
            )
            assert answered.status_code == status
            assert model.requests == []
            if status == 403 and path.startswith(("/?", "/documents")) and method == "GET":
                # Whoever wanted to go there may, by a click on a page of this server.
                (link,) = Page(answered).links("a.again")
                assert link == str(answered.url)


def test_a_page_of_an_origin_that_is_allowed_is_answered(samples: Path) -> None:
    allowed = {"Origin": "https://app.example.org"} | CROSS
    with served_here(samples, "--allowed-origin", allowed["Origin"]) as server:
        assert server.get("/api/search?query=deposit", **allowed).status_code == 200
        assert server.get("/api/search?query=deposit", **CROSS).status_code == 403
