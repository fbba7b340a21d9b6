"""The site that ``make site`` builds from README.md and docs/, with Sphinx.

Every page is plain Markdown as GitHub shows it: the order of the site is that of docs/index.md, and
diagrams, which would need a script from elsewhere, are shown as their source.
"""

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from posixpath import normpath
from typing import Any, Final

project = html_title = "mcp-lucene"
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["*.md", "docs/**", "pylucene/README.md", "test-index/README.md"]
exclude_patterns = ["docs/site/**"]
html_extra_path = ["../llms.txt"]
myst_heading_anchors = 6
html_theme = "furo"
html_copy_source = html_show_sourcelink = False

_NOT_LOADED: Final = {"canonical", "index", "search", "next", "prev"}
"""What a ``<link>`` may be without making a browser load anything."""


def contents(index: str) -> str:
    """Write the tables of contents of the site.

    Args:
        index: docs/index.md.
    """
    _, *sections = re.split(r"^## (.+)$", index, flags=re.MULTILINE)
    lines = ["```{toctree}", ":hidden:", "", "/docs/index", "```"]
    for heading, text in zip(sections[::2], sections[1::2], strict=True):
        pages = re.findall(r"^- \[.+?\]\((.+?)\.md\)", text, re.MULTILINE)
        lines += ["```{toctree}", ":hidden:", f":caption: {heading}", ""]
        lines += [f"/{normpath(f'docs/{page}')}" for page in pages]
        lines += ["```"]
    return "\n".join(lines)


class _Loads(HTMLParser):
    """The addresses that a browser loads to show a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "link" and given.get("rel") not in _NOT_LOADED:
            self.addresses.append(given.get("href") or "")
        elif tag not in {"a", "link"}:
            self.addresses += [given.get(name) or "" for name in ("src", "data", "poster")]


def loaded_from_elsewhere(file: Path) -> Iterator[str]:
    """The addresses of other servers that a page or a style sheet loads something from."""
    text = file.read_text("utf-8")
    loads = _Loads()
    if file.suffix == ".html":
        loads.feed(text)
    styles = re.findall(r"""(?:url\(|@import)\s*["']?([^"')\s;]+)""", text)
    for address in (*loads.addresses, *styles):
        if re.match(r"(https?:)?//", address):
            yield address


def _prepare(_app: Any, page: str, source: list[str]) -> None:
    source[0] = source[0].replace("```mermaid", "```text")
    if page == root_doc:
        index = Path(__file__).parents[1] / "index.md"
        source[0] += "\n" + contents(index.read_text("utf-8"))


def _finish(app: Any, error: Exception | None) -> None:
    if error:
        return
    site = Path(app.outdir)
    (site / "index.html").write_text(
        f'<!doctype html><meta http-equiv="refresh" content="0; url={root_doc}.html">', "utf-8"
    )
    found = [
        f"{file.relative_to(site)} loads {address}"
        for file in sorted(site.rglob("*"))
        if file.suffix in {".html", ".css"}
        for address in loaded_from_elsewhere(file)
    ]
    if found:
        sys.exit("\n".join(["Error: the site is not readable offline:", *found]))


def setup(app: Any) -> None:
    """Connect this module to the build."""
    app.connect("source-read", _prepare)
    app.connect("build-finished", _finish)
