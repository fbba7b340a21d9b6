"""The pictures of the documentation, made only by `make pictures`."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING

import pytest

from tests.browser.test_chat import Chat
from tests.programs import PROGRAMS
from tests.server.api.conftest import SAMPLES
from tests.server.http.served import Served, served
from tests.server.raw_client import RawClient

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif("PICTURES" not in os.environ, reason="made by make pictures only"),
]

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"

MAX_BYTES = 250_000

HEIGHTS = {"document": 980}  # heights of pictures, in pixels, that show more than the others

VIEWS = {
    "search": "/?q=how+long+is+the+warranty",
    "document": "/documents/otterline-wl4-manual.pdf?q=how+long+is+the+warranty&chunk=11&start=11",
    "status": "/status",
}


@pytest.fixture(scope="module")
def shown(semantic: None) -> Iterator[Served]:
    """A server on the samples in a folder whose name tells nothing of this machine."""
    home = Path(gettempdir()) / "me"
    shutil.copytree(SAMPLES, home / "documents")
    try:
        command = [
            str(PROGRAMS / "idx"),
            "sync",
            str(home / "documents"),
            "-i",
            str(home / "index"),
        ]
        subprocess.run(command, check=True, capture_output=True)
        with served(home / "index") as server:
            yield server
    finally:
        shutil.rmtree(home)


@pytest.mark.parametrize("view", VIEWS)
def test_a_picture_is_made(browser: "Browser", shown: Served, view: str) -> None:
    context = browser.new_context(
        color_scheme="light",
        viewport={"width": 1_120, "height": HEIGHTS.get(view, 640)},
        reduced_motion="reduce",
    )
    page = context.new_page()
    # The page tells how long a search took, and the first ones load Java's classes.
    for _ in range(10):
        page.goto(f"{shown.base}{VIEWS[view]}", wait_until="networkidle")
    file = FOLDER / f"{view}.png"
    page.screenshot(path=file)
    context.close()
    assert file.stat().st_size < MAX_BYTES


@pytest.mark.usefixtures("shown")
def test_a_picture_of_a_chat_is_made(page: "Page", monkeypatch: pytest.MonkeyPatch) -> None:
    home = Path(gettempdir()) / "me"
    monkeypatch.delenv("IDX_SEMANTIC", raising=False)
    monkeypatch.setenv("IDX_ORIGINALS", str(home))
    page.set_viewport_size({"width": 660, "height": 900})
    chat = Chat(page, RawClient(home / "index"))
    frame = chat.show(query="how long is the warranty", limit=3)
    hit = frame.locator(".hit", has_text="otterline-wl4-manual.pdf").first
    hit.get_by_role("button", name="Show page").last.click()
    hit.locator("img").wait_for()
    page.wait_for_timeout(500)
    chat.end()
    target = FOLDER / "chat.png"
    page.screenshot(path=target)
    assert target.stat().st_size < MAX_BYTES
