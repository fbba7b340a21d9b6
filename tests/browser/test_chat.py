"""The hits of a search within a chat, in a host like those of MCP Apps (SEP-1865, 2026-01-26)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from shared import Document, Index, create
from tests.browser.conftest import EVIL
from tests.model_server import quoting, sends_bytes, serving, streams
from tests.server.api.conftest import SAMPLES
from tests.server.api.test_answers import QUESTION, QUOTE, answering
from tests.server.http.served import Served, served_here
from tests.server.raw_client import RawClient

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator, Page

pytestmark = pytest.mark.browser

APP = "ui://mcp-lucene/hits"

ADDRESS = "http://127.0.0.1:9/chat"

# What a host allows a page that names no other servers.
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; media-src 'self' data:; connect-src 'none'"
)

HOST = """<!doctype html><meta charset="utf-8"><title>Chat</title>
<iframe sandbox="allow-scripts" style="width: 40rem; border: 0"></iframe>
<script>
window.told = [];
const frame = document.querySelector("iframe");
const send = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
addEventListener("message", async ({ source, data }) => {
  if (source !== frame.contentWindow) return;
  told.push(data.method ?? "answer");
  if (data.method === "ui/initialize") {
    const hostContext = { theme: "dark", displayMode: "inline" };
    const hostCapabilities = window.tools ? { serverTools: {} } : {};
    const hostInfo = { name: "test", version: "1" };
    const protocolVersion = "2026-01-26";
    send({ id: data.id, result: { protocolVersion, hostInfo, hostCapabilities, hostContext } });
  } else if (data.method === "ui/notifications/initialized") {
    send({ method: "ui/notifications/tool-input", params: { arguments: {} } });
    send({ method: "ui/notifications/tool-result", params: await call("Search", asked) });
    send({ id: "end", method: "ui/resource-teardown", params: {} });
  } else if (data.method === "tools/call") {
    send({ id: data.id, result: await call(data.params.name, data.params.arguments) });
  } else if (data.method === "ui/notifications/size-changed") {
    frame.style.height = `${data.params.height}px`;
  }
});
</script>"""


@pytest.fixture
def chat(page: "Page", samples: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator["Chat"]:
    monkeypatch.setenv("IDX_ORIGINALS", str(SAMPLES))
    chat = Chat(page, RawClient(samples))
    yield chat
    chat.end()


class Chat:
    """A chat whose assistant has searched."""

    def __init__(self, page: "Page", client: RawClient) -> None:
        self.page, self._client = page, client
        client.initialize()
        self.page.expose_function("call", self.call)

    def end(self) -> None:
        self._client.end()

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        return self._client.call(name, **arguments)

    def tool(self) -> dict[str, Any]:
        tools = self._client.request("tools/list")["result"]["tools"]
        (found,) = (tool for tool in tools if "_meta" in tool)
        assert isinstance(found, dict)
        return found

    def show(self, *, tools: bool = True, **asked: Any) -> "FrameLocator":
        """The page within the chat, after a search."""
        (content,) = self._client.request("resources/read", uri=APP)["result"]["contents"]
        assert content["mimeType"] == "text/html;profile=mcp-app"
        rule = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        html = content["text"].replace("<head>", f"<head>{rule}", 1)
        self.page.route(ADDRESS, lambda route: route.fulfill(body=HOST, content_type="text/html"))
        self.page.goto(ADDRESS)
        self.page.evaluate(
            "([html, given]) => { Object.assign(window, given); frame.srcdoc = html }",
            [html, {"asked": asked, "tools": tools}],
        )
        shown = self.page.frame_locator("iframe")
        shown.locator(".total, .notice").first.wait_for()
        return shown


def test_hits_are_shown_with_their_marks_and_open_the_page_of_the_pdf(chat: Chat) -> None:
    assert chat.tool()["_meta"] == {"ui": {"resourceUri": APP}}
    shown = chat.show(query="warranty of the level logger", content="passages")
    hit = shown.locator(".hit", has_text="otterline-wl4-manual.pdf").first
    assert "warranty" in [text.lower() for text in hit.locator("mark").all_inner_texts()]
    assert "page" in hit.locator(".where").inner_text()
    hit.get_by_role("button", name="Show page").first.click()
    picture = hit.locator("img")
    picture.wait_for()
    assert picture.evaluate("image => image.naturalWidth") > 300
    hit.get_by_role("button", name="Read here").click()
    hit.locator(".body p").nth(1).wait_for()
    assert "warranty" in hit.locator(".body").inner_text().lower()
    # What is open needs no button any more.
    assert not hit.get_by_role("button", name="Read here").count()
    told = chat.page.evaluate("told")
    assert told[:2] == ["ui/initialize", "ui/notifications/initialized"]
    assert "ui/notifications/size-changed" in told
    assert "answer" in told
    before = chat.page.evaluate("frame.clientHeight")
    chat.page.wait_for_timeout(300)
    assert chat.page.evaluate("frame.clientHeight") == before
    ground = shown.locator("html").evaluate("page => getComputedStyle(page).color")
    assert ground == "rgb(231, 229, 224)"


def test_a_host_without_tools_and_a_search_that_fails(chat: Chat) -> None:
    shown = chat.show(tools=False, query="warranty")
    assert shown.locator(".hit").count() > 1
    # Of a short text the answer has all, without marks.
    assert "warranty" in shown.locator("mark").first.inner_text().lower()
    assert not shown.get_by_role("button").count()
    shown = chat.show(query="title:(broken AND")
    assert "Parse error" in shown.locator(".notice.warning").inner_text()
    shown = chat.show(query="xyzzyplugh")
    assert shown.locator(".total").inner_text() == "Nothing found"


@pytest.mark.parametrize("options", [(), ("--fence",)])
def test_documents_do_nothing_in_it(page: "Page", tmp_path: Path, options: tuple[str, ...]) -> None:
    create(tmp_path / "index")
    with Index(tmp_path / "index") as index:
        text = f"wicked {EVIL} </script><script>parent.document.title=3</script>"
        index.add(Document(f"{EVIL}.pdf", EVIL, text, {"section": EVIL, "page_start": 1}))
    chat = Chat(page, RawClient(tmp_path / "index", *options))
    shown = chat.show(query="wicked")
    assert shown.locator(".hit h2").inner_text() == EVIL
    assert EVIL in shown.locator(".passage").inner_text()
    shown.get_by_role("button", name="Read here").click()
    shown.locator(".body").wait_for()
    assert "<document" not in shown.locator("body").inner_text()
    assert shown.locator("img, main script").count() == 0
    assert page.title() == "Chat"
    chat.end()


def test_the_longest_answer_is_shown(page: "Page", tmp_path: Path) -> None:
    create(tmp_path / "index")
    with Index(tmp_path / "index") as index:
        for number in range(100):
            index.add(Document(str(number), f"Title {number}", "river " * 240))
    chat = Chat(page, RawClient(tmp_path / "index"))
    answer = chat.call("Search", {"query": "river", "limit": 100, "content": "full"})
    assert len(json.dumps(answer["structuredContent"])) > 35_000
    shown = chat.show(query="river", limit=100, content="full")
    assert shown.locator(".hit").count() == len(answer["structuredContent"]["results"])
    chat.end()


if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def ask(page: "Page", server: Served, question: str) -> None:
    """Search for a question, and press the button for an answer."""
    page.goto(f"{server.base}/")
    page.get_by_role("searchbox").fill(question)
    page.get_by_role("button", name="Answer from the documents").click()


def test_an_answer_comes_in_parts_and_ends_checked(page: "Page", samples: Path) -> None:
    told = "😀 They paid £1,130 [1]. It is <b>gone</b>."
    model = streams(quoting(told, QUOTE), pause=0.05)
    with answering(samples, model) as server:
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


def test_what_goes_wrong_is_a_sentence_above_the_results(page: "Page", samples: Path) -> None:
    lie = streams(quoting("It is £9,999 [1].", "the deposit is £9,999"))
    with answering(samples, lie) as server:
        for question, said in (
            (QUESTION, "The documents do not answer this question."),
            ("deposit of the flat " * 60, "longer than 1,000 characters"),
        ):
            ask(page, server, question)
            page.locator("#answer .text", has_text=said).wait_for()
            assert "£9,999" not in page.locator("#answer .text").inner_text()
            assert page.locator(".hit a[href*='lease-garden-flat.txt']").count() > 0


@pytest.mark.parametrize("status", [500, 200])
def test_trouble_with_a_model_is_a_sentence(page: "Page", samples: Path, status: int) -> None:
    with serving(sends_bytes(b"<html>secret-of-the-server", status)) as model:
        variables = {"IDX_ANSWER_MODEL": "test", "IDX_ANSWER_URL": model.url}
        with served_here(samples, environment=variables) as server:
            ask(page, server, QUESTION)
            page.locator("#answer .text", has_text="language model").wait_for()
            assert "secret-of-the-server" not in page.content()


def test_without_javascript_there_is_no_box(browser: "Browser", samples: Path) -> None:
    with answering(samples, streams(quoting("No.", QUOTE))) as server:
        context = browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(f"{server.base}/?q=deposit")
        assert page.locator(".hit").count() > 0
        assert not page.locator("#answer").is_visible()
        context.close()
