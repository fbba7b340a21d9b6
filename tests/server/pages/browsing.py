"""Pages as a browser without JavaScript reads them."""

from typing import Any
from urllib.parse import urljoin

import httpx2
from lxml import html

from tests.server.http.served import SECONDS, Served

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


_BLOCKS = {"dd", "div", "dt", "h2", "li", "p", "section", "td", "th", "tr"}


class Page:
    """A page that a server answered."""

    def __init__(self, response: httpx2.Response) -> None:
        assert response.headers["content-type"] == "text/html; charset=utf-8", response.text
        self.response = response
        self.tree = html.fromstring(response.text)

    def texts(self, selector: str) -> list[str]:
        """The texts of the elements that a selector matches, without white space around words."""
        return [" ".join(_text(each).split()) for each in self.tree.cssselect(selector)]

    def links(self, selector: str) -> list[str]:
        """The addresses of links, complete."""
        found = self.tree.cssselect(selector)
        return [urljoin(str(self.response.url), each.get("href")) for each in found]

    @property
    def status(self) -> int:
        return self.response.status_code


def _text(element: Any) -> str:
    """The text of an element, with white space where a browser has a gap."""
    parts = [element.text or ""]
    for each in element:
        gap = " " if each.tag in _BLOCKS else ""
        parts += [gap, _text(each), gap, each.tail or ""]
    return "".join(parts)


def visit(server: Served, path: str, status: int = 200, **query: Any) -> Page:
    response = httpx2.get(
        f"{server.base}{path}", params=query or None, headers=HTML, timeout=SECONDS
    )
    page = Page(response)
    assert page.status == status, page.texts("main")
    return page


def follow(address: str, status: int = 200) -> Page:
    response = httpx2.get(address, headers=HTML, timeout=SECONDS)
    page = Page(response)
    assert page.status == status, page.texts("main")
    return page
