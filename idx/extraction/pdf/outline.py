"""Outline of a PDF: the headings that its author put beside the pages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from idx.extraction.text.headings import MAX_HEADINGS, headings
from idx.extraction.text.properties import one_line
from shared.model.document import Heading, Page


@dataclass(frozen=True, slots=True)
class OutlineItem:
    """Item of an outline.

    Attributes:
        level: its level, from 1.
        title: its text in one line.
        page: the number of the page that it refers to, from 1.
    """

    level: int
    title: str
    page: int


def read_outline(document: Any) -> list[OutlineItem]:
    """Return the items of an outline that refer to a page, in order.

    Args:
        document: an open document of PDFium.
    """
    items = []
    for bookmark in islice(document.get_toc(), MAX_HEADINGS):
        destination = bookmark.get_dest()
        index = destination.get_index() if destination else None
        try:
            title = one_line(bookmark.get_title())
        except UnicodeDecodeError:
            # It has half of a surrogate pair.
            continue
        if index is not None and title:
            items.append(OutlineItem(bookmark.level + 1, title, index + 1))
    return items


def outline_headings(
    items: Sequence[OutlineItem], text: str, pages: Sequence[Page]
) -> tuple[Heading, ...]:
    """Return the headings of an outline in the text of the pages.

    A heading stands where its page has its words, after the heading before it, or else at the
    beginning of the page.

    Args:
        items: the items of the outline.
        text: the text of all pages.
        pages: the pages in it.
    """
    ends = [*(page.start for page in pages[1:]), len(text)]
    spans = {page.label: (page.start, end) for page, end in zip(pages, ends, strict=True)}
    return headings(sorted(_placed(items, text, spans), key=lambda placed: placed[2]))


def _placed(
    items: Sequence[OutlineItem], text: str, spans: Mapping[int | str, tuple[int, int]]
) -> Iterator[tuple[int, str, int]]:
    after = 0
    for item in items:
        if item.page not in spans:
            continue
        start, end = spans[item.page]
        after = max(start, after) if after < end else start
        found = text.find(item.title, after, end)
        after = after if found < 0 else found
        yield item.level, item.title, after
