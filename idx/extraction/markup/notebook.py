"""Extraction of Jupyter notebooks: cells in order, with outputs that are text."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from idx.extraction.markup.markdown import markdown_headings
from idx.extraction.text.decoding import decode, without_tags
from idx.extraction.text.headings import headings
from idx.extraction.text.properties import one_line, properties
from idx.extraction.types import Extracted, Source

_CELL_SEPARATOR: Final = "\n\n"

_MAX_OUTPUT: Final = 20_000  # characters of an output: a progress bar may print megabytes

_TERMINAL_CODE: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
"""Colours of a traceback, as terminals understand them."""

_ENCODED: Final = re.compile(r"(?:data:[\w/+.-]+;base64,)?[A-Za-z0-9+/]{300,}={0,2}")
"""Data in base64, such as a picture within Markdown or a printed value."""


def extract_notebook(source: Source) -> Extracted:
    """Extract the cells of a notebook of version 3 or 4, each followed by its outputs.

    Of an output, its plain text is taken; pictures, HTML and data in base64 are left out. The
    headings are those of its Markdown cells.
    """
    book = _table(json.loads(decode(source.data, source.file, source.options.encoding)))
    texts: list[str] = []
    found: list[tuple[int, str | None, int]] = []
    length = 0
    for is_markdown, part in _parts(book):
        text = without_tags(_ENCODED.sub("", part)).strip("\r\n")
        if not text.strip():
            continue
        start = length + len(_CELL_SEPARATOR) if texts else 0
        if is_markdown:
            found += [(level, title, start + at) for level, title, at in markdown_headings(text)]
        texts.append(text)
        length = start + len(text)
    metadata = _table(book.get("metadata"))
    authors = metadata.get("authors")
    highest = (title for level, title, _ in found if level == 1 and title)
    return Extracted(
        text=_CELL_SEPARATOR.join(texts),
        media_type=source.media_type,
        title=one_line(_text(metadata.get("title"))) or next(highest, None),
        metadata=properties(
            author=[_text(_table(each).get("name")) for each in authors]
            if isinstance(authors, list)
            else None
        ),
        headings=headings(found),
    )


def _parts(book: Mapping[str, Any]) -> Iterator[tuple[bool, str]]:
    """Yield the texts of a notebook in order, each with whether it is Markdown."""
    sheets = book.get("worksheets")
    holders = sheets if isinstance(sheets, list) else [book]
    cells = [cell for holder in holders for cell in _list(_table(holder).get("cells"))]
    if not cells and not ("cells" in book or "worksheets" in book):
        raise ValueError("it has no cells")
    for each in cells:
        cell = _table(each)
        kind = cell.get("cell_type")
        # Version 3 calls the source of a cell with code its input, and headings have a level.
        text = _text(cell.get("source", cell.get("input")))
        if kind == "heading" and isinstance(level := cell.get("level"), int):
            text = f"{'#' * min(max(level, 1), 6)} {text}"
        yield kind in {"markdown", "heading"}, text
        for output in _list(cell.get("outputs")):
            yield False, _output(_table(output))


def _output(output: Mapping[str, Any]) -> str:
    said: Any = output.get("text")
    if output.get("output_type") in {"error", "pyerr"}:
        lines = [_text(line) for line in _list(output.get("traceback"))]
        said = "\n".join(lines) or f"{output.get('ename')}: {output.get('evalue')}"
    elif isinstance(data := output.get("data"), dict):
        said = data.get("text/markdown", data.get("text/plain"))
    # What a carriage return overwrites, such as a progress bar, is not shown.
    lines = [line.rpartition("\r")[2] for line in _text(said)[:_MAX_OUTPUT].split("\n")]
    return _TERMINAL_CODE.sub("", "\n".join(lines))


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
