"""The answer box of the search page before its button is pressed, and pages of other sites."""

from pathlib import Path
from typing import Final

import httpx2
import pytest

from tests.model_server import quoting, serving, streams
from tests.server.api.test_answers import QUESTION, QUOTE
from tests.server.http.served import SECONDS, Served, served_here
from tests.server.pages.browsing import HTML, Page, visit


def test_there_is_no_box_without_a_model(api: Served) -> None:
    assert visit(api, "/", q="deposit").texts("#answer") == []


def test_a_box_with_a_button_asks_nobody_by_itself(samples: Path, tmp_path: Path) -> None:
    with serving(streams(quoting("They paid £1,130 [1].", QUOTE))) as model:
        variables = {"IDX_ANSWER_MODEL": "test", "IDX_ANSWER_URL": model.url}
        with served_here(samples, log=tmp_path / "log", environment=variables) as server:
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
    samples: Path, tmp_path: Path, request_: tuple[str, str, dict[str, str], int]
) -> None:
    method, path, headers, status = request_
    with serving(streams(quoting("They paid £1,130 [1].", QUOTE))) as model:
        variables = {"IDX_ANSWER_MODEL": "test", "IDX_ANSWER_URL": model.url}
        with served_here(samples, log=tmp_path / "log", environment=variables) as server:
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


def test_a_page_of_an_origin_that_is_allowed_is_answered(samples: Path, tmp_path: Path) -> None:
    allowed = {"Origin": "https://app.example.org"} | CROSS
    with served_here(
        samples, "--allowed-origin", allowed["Origin"], log=tmp_path / "log"
    ) as server:
        assert server.get("/api/search?query=deposit", **allowed).status_code == 200
        assert server.get("/api/search?query=deposit", **CROSS).status_code == 403
