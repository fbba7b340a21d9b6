"""No view has a fault that axe-core finds, in light and in dark."""

from typing import TYPE_CHECKING, Literal

import pytest

from tests.server.http.served import Served

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

VIEWS = {
    "start": "/",
    "results": "/?q=apple&author=Ada",
    "corrected": "/?q=appel",
    "nothing": "/?q=xyzzyplugh&author=Ada",
    "document": "/documents/folder-1%2F1.txt?q=apple&chunk=2",
    "status": "/status",
    "error": "/documents/nothing",
}


def faults(browser: "Browser", address: str, scheme: Literal["light", "dark"], width: int) -> str:
    from axe_playwright_python.sync_playwright import Axe

    context = browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": 800}, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(address)
    found = Axe().run(page)
    context.close()
    return str(found.generate_report()) if found.violations_count else ""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_each_view_is_accessible(
    browser: "Browser", many: Served, view: str, scheme: Literal["light", "dark"]
) -> None:
    for width in (1_280, 360):
        assert faults(browser, f"{many.base}{VIEWS[view]}", scheme, width) == ""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_sign_in_is_accessible(
    browser: "Browser", guarded: Served, scheme: Literal["light", "dark"]
) -> None:
    assert faults(browser, f"{guarded.base}/sign-in", scheme, 1_280) == ""
