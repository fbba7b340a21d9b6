"""The answer box of the search page, with JavaScript."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.model_server import quoting, streams
from tests.server.api.test_answers import QUESTION, QUOTE, answering

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def test_an_answer_comes_in_parts_and_ends_checked(
    page: "Page", samples: Path, tmp_path: Path
) -> None:
    told = "😀 They paid £1,130 [1]. It is <b>gone</b>."
    model = streams(quoting(told, QUOTE), pause=0.05)
    with answering(samples, model, tmp_path / "log") as server:
        page.goto(f"{server.base}/")
        page.get_by_role("searchbox").fill(QUESTION)
        page.get_by_role("button", name="Answer from the documents").click()
        page.wait_for_selector("#answer .sources li")
        assert page.locator("#answer .text").inner_text() == f"{told} (no source)"
        assert page.locator("#answer .unproven").inner_text() == "It is <b>gone</b>. (no source)"
        page.locator("#answer .text a").click()
        page.wait_for_url("**#source-1")
        page.locator("#answer .sources a").click()
        page.wait_for_selector(".part.target")
        assert "/documents/lease-garden-flat.txt" in page.url
