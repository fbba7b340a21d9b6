"""The pages as people use them, with a mouse, a keyboard, a telephone, or without JavaScript."""

import re
import time
from typing import TYPE_CHECKING, Any, Literal

import pytest

from tests.browser.conftest import EVIL, FILES, TOKEN
from tests.server.http.served import Served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    const moved = entry.sources.map((each) => each.node?.outerHTML?.slice(0, 80));
    window.shifts.push([entry.value, ...moved]);
  }
}).observe({ type: "layout-shift" });
"""


def settled(page: "Page", total: str) -> None:
    page.locator(".total").filter(has_text=re.compile(total)).wait_for()


def test_from_a_query_to_the_document_and_back(page: "Page", site_of_samples: Served) -> None:
    page.goto(site_of_samples.base)
    page.get_by_role("searchbox").press_sequentially("warranty lithium", delay=30)
    settled(page, "passages")
    page.wait_for_url(re.compile(r"q=warranty(%20|\+)lithium$"))
    page.locator(".hit a.open").first.click()
    page.wait_for_url("**/documents/otterline-wl4-manual.pdf?*chunk=*#chunk-*")
    target = page.locator(".part.target")
    assert target.locator("mark").count() > 0
    box = target.bounding_box()
    assert box is not None
    assert 0 <= box["y"] < 400
    # Walking keeps the place.
    number = page.locator(".part").count()
    page.evaluate("window.scrollTo(0, 0)")
    before = target.bounding_box()
    page.locator("[data-walk=earlier]").click()
    page.locator(".part").nth(number).wait_for()
    after = target.bounding_box()
    assert before is not None
    assert after is not None
    # Browsers scroll by whole pixels.
    assert abs(after["y"] - before["y"]) < 1
    page.go_back()
    settled(page, "passages")
    assert page.get_by_role("searchbox").input_value() == "warranty lithium"


def test_the_history_has_each_search_once(page: "Page", many: Served) -> None:
    page.goto(f"{many.base}/?q=words")
    settled(page, "passages")
    box = page.get_by_role("searchbox")
    box.fill("")
    box.press_sequentially("apple", delay=200)
    page.wait_for_url("**/?q=apple")
    page.locator("#sort-Newest").click()
    page.wait_for_url("**sort=-modified**")
    page.go_back()
    page.locator("#q[value=apple]").wait_for()
    assert (page.url, box.input_value()) == (f"{many.base}/?q=apple", "apple")
    page.go_back()
    page.locator("#q[value=words]").wait_for()
    assert (page.url, box.input_value()) == (f"{many.base}/?q=words", "words")


def test_the_filters_are_in_the_address(page: "Page", many: Served, browser: "Browser") -> None:
    page.goto(f"{many.base}/?q=apple")
    page.get_by_role("link", name=re.compile("^Grace")).click()
    page.wait_for_url("**author=Grace**")
    page.get_by_role("link", name=re.compile("^folder-1")).click()
    page.wait_for_url("**folder=folder-1**")
    page.locator("#since").fill("2010-01-01")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url("**since=2010-01-01**")
    shown = page.locator(".hit .where").all_inner_texts()
    assert shown
    assert all(text.startswith("folder-1/") for text in shown)
    afresh = browser.new_page()
    afresh.goto(page.url)
    assert afresh.locator(".hit .where").all_inner_texts() == shown
    afresh.close()
    # Typing on keeps the filters, and each can be removed.
    page.get_by_role("searchbox").press("End")
    page.get_by_role("searchbox").press_sequentially(" number", delay=20)
    page.wait_for_url("**number**")
    assert "author=Grace" in page.url
    page.get_by_role("link", name="Remove all filters").click()
    page.wait_for_url(re.compile(r"\?q=apple(%20|\+)number$"))


def test_the_keyboard_is_enough(page: "Page", site_of_samples: Served) -> None:
    page.goto(site_of_samples.base)
    page.keyboard.press("/")
    page.keyboard.type("Ottermere")
    # A browser that is slow has searched for the first letters before.
    page.wait_for_url("**q=Ottermere*")
    settled(page, "passages")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("j")
    page.keyboard.press("k")
    focused = "document.activeElement.closest('.hit') === document.querySelector('.hit')"
    assert page.evaluate(focused)
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    address = page.evaluate("document.activeElement.href")
    page.keyboard.press("Enter")
    page.wait_for_url(address)
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.classList.contains('part')")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"


def test_shortcuts_can_be_turned_off(page: "Page", site_of_samples: Served) -> None:
    page.goto(site_of_samples.base)
    page.get_by_role("button", name="Keyboard shortcuts").click()
    page.get_by_label("Use shortcuts").uncheck()
    page.get_by_role("button", name="Close").click()
    page.reload()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") != "q"


def test_everything_works_without_javascript(browser: "Browser", many: Served) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(many.base)
    page.get_by_role("searchbox").fill("apple")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name=re.compile("^Ada")).click()
    # A click waits for no page to come; an address is there once the page is loaded.
    page.wait_for_url("**author=Ada**")
    page.get_by_role("link", name="Next →").click()
    page.wait_for_url("**page=2**")
    page.locator(".hit a.open").first.click()
    page.wait_for_url("**/documents/**")
    page.get_by_role("link", name="↓ Show the parts after").click()
    page.wait_for_url("**end=**")
    assert page.locator(".part").count() > 4
    page.goto(f"{many.base}/status")
    assert page.get_by_role("heading", name="Status").is_visible()
    context.close()


def test_old_answers_never_replace_newer_ones(page: "Page", many: Served) -> None:
    def late(route: Any) -> None:
        # The answers to the first letters arrive last.
        time.sleep(0.3 if route.request.url.endswith("q=app") else 0)
        route.continue_()

    page.goto(many.base)
    page.route("**/?q=*", late)
    box = page.get_by_role("searchbox")
    box.press_sequentially("app", delay=10)
    page.wait_for_timeout(150)
    box.press_sequentially("le 7", delay=5)
    page.wait_for_url(re.compile(r"q=apple(%20|\+)7$"))
    page.wait_for_timeout(600)
    assert page.locator(".hit h2").first.inner_text() == "Apple 7"
    assert re.search(r"q=apple(%20|\+)7$", page.url)


def test_nothing_moves_while_typing(page: "Page", many: Served) -> None:
    page.goto(many.base)
    # From here on: a page that comes in two pieces may still grow while it loads.
    page.evaluate(SHIFTS)
    box = page.get_by_role("searchbox")
    place = box.bounding_box()
    for letter in "apple nonexistent":
        box.press(letter if letter != " " else "Space")
        page.wait_for_timeout(200)
        assert box.bounding_box() == place
    assert page.evaluate("window.shifts") == []


@pytest.mark.parametrize("path", ["/?q=apple", "/", "/documents/long?q=apple", "/status"])
def test_a_telephone_needs_no_sideways_scrolling(page: "Page", many: Served, path: str) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"{many.base}{path}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_documents_do_nothing(page: "Page", many: Served) -> None:
    page.goto(f"{many.base}/?q=wicked")
    assert page.locator(".hit h2").first.inner_text() == EVIL
    assert page.title() == "wicked · mcp-lucene"
    page.get_by_role("searchbox").fill("wicked apple")
    page.wait_for_url("**apple")
    page.locator(".hit a.open").first.click()
    page.wait_for_url("**/documents/**")
    assert page.title() == f"{EVIL} · mcp-lucene"
    assert page.locator("main img").count() == 0
    page.goto(f"{many.base}/")
    page.locator(".facets a", has_text="img").first.click()
    page.wait_for_url("**img**")
    assert page.title() == "Search · mcp-lucene"


def test_a_text_from_right_to_left_reads_so(page: "Page", many: Served) -> None:
    page.goto(f"{many.base}/documents/rtl")
    assert page.evaluate("getComputedStyle(document.querySelector('.body')).direction") == "rtl"
    assert page.evaluate("getComputedStyle(document.querySelector('h1')).direction") == "rtl"


def test_a_citation_can_be_copied(browser: "Browser", site_of_samples: Served) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{site_of_samples.base}/documents/lease-garden-flat.txt?chunk=2")
    page.locator("#chunk-2 summary").click()
    page.locator("#chunk-2 [data-copy]").click()
    page.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("lease-garden-flat.txt, 4. Deposit, lines 32\u201363, /")
    context.close()


def test_a_token_opens_a_session_until_the_sign_out(page: "Page", guarded: Served) -> None:
    page.goto(f"{guarded.base}/?q=deposit")
    page.wait_for_url("**/sign-in?to=**")
    page.get_by_label("Token").fill("wrong" * 8)
    page.get_by_role("button", name="Sign in").click()
    assert "not valid" in page.get_by_role("alert").inner_text()
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/?q=deposit")
    settled(page, "passages")
    (cookie,) = page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/")
    assert page.evaluate("document.cookie") == ""
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in")
    assert page.context.cookies() == []
    page.goto(f"{guarded.base}/status")
    page.wait_for_url("**/sign-in?to=**")


def test_an_administrator_keeps_the_index_up_to_date(page: "Page", administered: Served) -> None:
    pause_a_crawl(page, administered)
    maintenance = page.locator("#operations")
    maintenance.get_by_role("button", name="Continue").click()
    outcome = maintenance.get_by_role("row", name=re.compile("^crawl"))
    outcome.wait_for()
    assert "done" in outcome.inner_text()
    maintenance.get_by_role("button", name="Optimize").click()
    maintenance.get_by_role("row", name=re.compile("^optimize")).get_by_text("done").wait_for()
    page.goto(f"{administered.base}/status")
    assert page.locator(".figures dd").first.inner_text() == str(FILES)


def test_a_page_that_refreshes_keeps_its_buttons(page: "Page", administered: Served) -> None:
    pause_a_crawl(page, administered)
    stop = page.get_by_role("button", name="Stop")
    stop.focus()
    refresh(page)
    assert page.evaluate("document.activeElement.innerText") == "Stop"
    stop.hover()
    page.mouse.down()
    refresh(page)
    page.mouse.up()
    outcome = page.get_by_role("row", name=re.compile("^crawl"))
    outcome.wait_for()
    assert "stopped" in outcome.inner_text()


def pause_a_crawl(page: "Page", administered: Served) -> None:
    page.goto(f"{administered.base}/status")
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Synchronize the folders").click()
    page.get_by_role("button", name="Pause").click()
    # The page shows by itself what happens, and each button when it is of use.
    page.get_by_text("is paused").wait_for()


def refresh(page: "Page") -> None:
    with page.expect_response("**/status"):
        pass
    page.wait_for_timeout(200)


def test_a_form_of_another_site_is_refused(
    browser: "Browser", guarded: Served, other_site: str
) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(guarded.base)
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{guarded.base}/")
    page.goto(f"{other_site}/#{guarded.base}/sign-out")
    with page.expect_response("**/sign-out") as refused:
        page.get_by_role("button", name="Win a prize").click()
    assert refused.value.status == 403
    page.goto(f"{guarded.base}/status")
    assert page.get_by_role("heading", name="Status").is_visible()
    context.close()


if TYPE_CHECKING:
    from playwright.sync_api import Browser


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
