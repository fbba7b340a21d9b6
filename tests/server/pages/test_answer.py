"""The answer box of the search page, without JavaScript."""

from pathlib import Path
from typing import Final

import httpx2
import pytest

from tests.model_server import quoting, sends_bytes, serving, streams
from tests.server.api.test_answers import QUESTION, QUOTE, answering
from tests.server.http.served import SECONDS, Served, served_here
from tests.server.pages.browsing import HTML, Page, visit


def ask(server: Served, question: str) -> Page:
    """Press the button for an answer."""
    headers = HTML | {"Origin": server.base, "Sec-Fetch-Site": "same-origin"}
    page = Page(
        httpx2.post(f"{server.base}/", data={"q": question}, headers=headers, timeout=SECONDS)
    )
    assert page.status == 200
    return page


def test_there_is_no_box_without_a_model(api: Served) -> None:
    assert visit(api, "/", q="deposit").texts("#answer") == []


def test_an_answer_shows_what_is_proven_and_what_is_not(samples: Path, tmp_path: Path) -> None:
    told = "They paid £1,130 [1]. It is <b>gone</b>."
    with answering(samples, streams(quoting(told, QUOTE)), tmp_path / "log") as server:
        page = visit(server, "/", q=QUESTION)
        assert page.texts("#answer button") == ["Answer from the documents"]
        assert page.texts("#answer .text") == [""]
        page = ask(server, QUESTION)
        assert page.texts("#answer .text") == [f"{told} (no source)"]
        assert page.texts("#answer .unproven") == ["It is <b>gone</b>. (no source)"]
        (link,) = page.tree.cssselect("#answer .text a")
        (source,) = page.tree.cssselect(f"{link.get('href')}.holds")
        assert source.tag == "li"
        assert page.texts("#answer q") == [QUOTE]
        (address,) = page.links("#answer .sources a")
        assert "/documents/lease-garden-flat.txt?" in address
        assert "#chunk-" in address


def test_a_question_that_is_too_long_still_has_its_results(samples: Path, tmp_path: Path) -> None:
    truth = streams(quoting("They paid £1,130 [1].", QUOTE))
    with answering(samples, truth, tmp_path / "log") as server:
        page = ask(server, "deposit of the flat " * 60)
        (said,) = page.texts("#answer .text")
        assert "longer than 1,000 characters" in said
        assert "lease-garden-flat.txt" in " ".join(page.links("main a"))


def test_a_refusal_has_no_text_of_the_model(samples: Path, tmp_path: Path) -> None:
    lie = streams(quoting("It is £9,999 [1].", "the deposit is £9,999"))
    with answering(samples, lie, tmp_path / "log") as server:
        page = ask(server, QUESTION)
        assert page.texts("#answer .text") == ["The documents do not answer this question."]
        # The nearest documents are the results below.
        assert "lease-garden-flat.txt" in " ".join(page.links("main a"))


@pytest.mark.parametrize("status", [500, 200])
def test_trouble_with_a_model_is_a_sentence(samples: Path, tmp_path: Path, status: int) -> None:
    with serving(sends_bytes(b"<html>secret-of-the-server", status)) as model:
        variables = {"IDX_ANSWER_MODEL": "test", "IDX_ANSWER_URL": model.url}
        with served_here(samples, log=tmp_path / "log", environment=variables) as server:
            page = ask(server, QUESTION)
            (said,) = page.texts("#answer .text")
            assert "language model" in said
            assert "secret-of-the-server" not in page.response.text


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
    "a form": ("POST", "/?q=Q", EVIL | CROSS, 403),
    "a form without a cross-site browser": ("POST", "/", EVIL, 403),
    "a form in a sandbox": ("POST", "/", {"Origin": "null"}, 403),
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
                data={"q": QUESTION} if method == "POST" else None,
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
