"""The answer box of the search page."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.model_server import quoting, sends_bytes, serving, streams
from tests.server.api.test_answers import QUESTION, QUOTE, answering
from tests.server.http.served import Served, served_here

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser


def ask(page: "Page", server: Served, question: str) -> None:
    """Search for a question, and press the button for an answer."""
    page.goto(f"{server.base}/")
    page.get_by_role("searchbox").fill(question)
    page.get_by_role("button", name="Answer from the documents").click()


def test_an_answer_comes_in_parts_and_ends_checked(
    page: "Page", samples: Path, tmp_path: Path
) -> None:
    told = "😀 They paid £1,130 [1]. It is <b>gone</b>."
    model = streams(quoting(told, QUOTE), pause=0.05)
    with answering(samples, model, tmp_path / "log") as server:
        ask(page, server, QUESTION)
        page.wait_for_selector("#answer .sources li.holds")
        assert page.locator("#answer q").inner_text() == QUOTE
        assert page.locator("#answer .text").inner_text() == f"{told} (no source)"
        assert page.locator("#answer .unproven").inner_text() == "It is <b>gone</b>. (no source)"
        page.locator("#answer .text a").click()
        page.wait_for_url("**#source-1")
        page.locator("#answer .sources a").click()
        page.wait_for_selector(".part.target")
        assert "/documents/lease-garden-flat.txt" in page.url


def test_what_goes_wrong_is_a_sentence_above_the_results(
    page: "Page", samples: Path, tmp_path: Path
) -> None:
    lie = streams(quoting("It is £9,999 [1].", "the deposit is £9,999"))
    with answering(samples, lie, tmp_path / "log") as server:
        for question, said in (
            (QUESTION, "The documents do not answer this question."),
            ("deposit of the flat " * 60, "longer than 1,000 characters"),
        ):
            ask(page, server, question)
            page.locator("#answer .text", has_text=said).wait_for()
            assert "£9,999" not in page.locator("#answer .text").inner_text()
            assert page.locator(".hit a[href*='lease-garden-flat.txt']").count() > 0


@pytest.mark.parametrize("status", [500, 200])
def test_trouble_with_a_model_is_a_sentence(
    page: "Page", samples: Path, tmp_path: Path, status: int
) -> None:
    with serving(sends_bytes(b"<html>secret-of-the-server", status)) as model:
        variables = {"IDX_ANSWER_MODEL": "test", "IDX_ANSWER_URL": model.url}
        with served_here(samples, log=tmp_path / "log", environment=variables) as server:
            ask(page, server, QUESTION)
            page.locator("#answer .text", has_text="language model").wait_for()
            assert "secret-of-the-server" not in page.content()


def test_without_javascript_there_is_no_box(
    browser: "Browser", samples: Path, tmp_path: Path
) -> None:
    with answering(samples, streams(quoting("No.", QUOTE)), tmp_path / "log") as server:
        context = browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(f"{server.base}/?q=deposit")
        assert page.locator(".hit").count() > 0
        assert not page.locator("#answer").is_visible()
        context.close()
