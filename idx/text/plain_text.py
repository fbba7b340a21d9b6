"""Plain text, subtitles, notebooks, and formats of which only headings and properties are read."""

import html
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any, Final

from idx.extraction import media_types
from idx.extraction.types import Extracted, Source
from idx.markup.markdown import markdown_headings
from idx.text.cleaning import MAX_HEADINGS, headings, joined, normalize, plain_text_headings
from idx.text.decoding import decode, without_tags
from idx.text.escapes import without_escapes
from idx.text.properties import one_line, properties

_TIMES: Final = re.compile(
    r"(?P<start>(?:\d{1,3}:)?\d{1,2}:\d{2})[.,]\d{1,3}\s*-->\s*(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d.*"
)
_TAG: Final = re.compile(r"<[^<>\n]{0,200}>|\{\\[^{}\n]{0,200}\}")
"""Styles, voices and times within a cue; positions of SubRip stand in braces."""


def extract_subtitles(source: Source) -> Extracted:
    """Extract what is said, without numbers, times and styles.

    A heading stands for each minute, so that a result says when: ``00:12``, hours and minutes. A
    text without times is extracted as it is.
    """
    written = decode(source.data, source.file, source.options.encoding)
    lines: list[str] = []
    found: list[tuple[int, str | None, int]] = []
    length = 0
    for minute, said in _cues(written):
        text = normalize(html.unescape(_TAG.sub("", said)))
        # Automatic captions repeat the line above.
        new = [line for line in text.split("\n") if line and line not in lines[-2:]]
        if not new:
            continue
        if not found or found[-1][1] != minute:
            found.append((1, minute, length))
        lines += new
        length += sum(len(line) + 1 for line in new)
    if not lines:
        return extract_plain_text(source)
    return Extracted("\n".join(lines), headings=headings(found))


def _cues(text: str) -> Iterator[tuple[str, str]]:
    """Yield the beginning of each cue, in hours and minutes, and its text."""
    minute, said = "", list[str]()
    for line in [*text.splitlines(), ""]:
        times = _TIMES.match(line.strip())
        if minute and (times or not line.strip()):
            if times and said and said[-1].strip().isdecimal():
                # The number of this cue, with no blank line before it.
                said.pop()
            yield minute, "\n".join(said)
            minute, said = "", []
        if times:
            *hours, minutes, _ = times["start"].split(":")
            minute = f"{int(hours[0]) if hours else 0:02}:{int(minutes):02}"
        elif minute:
            said.append(line)


_Found = tuple[int, str | None, int]  # level, text and offset of a heading

_LATEX_LEVELS: Final = (
    *("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph"),
)
# A title may have commands with arguments of their own.
_ARGUMENT: Final = r"\{((?:[^{}]|\{[^{}]{0,300}\}){1,600})\}"
_LATEX_HEADING: Final = re.compile(
    rf"^[ \t]*\\({'|'.join(_LATEX_LEVELS)})\*?(?:\[[^\]]{{0,300}}\])?{_ARGUMENT}", re.MULTILINE
)
_LATEX_SAID: Final = re.compile(rf"^[^%\n]{{0,200}}?\\(title|author|date){_ARGUMENT}", re.MULTILINE)
_LATEX_COMMAND: Final = re.compile(r"\\\\|\\[A-Za-z]+\*?(?:\[[^\]]{0,300}\])?|\\(?=[&%$#_])|[{}~]")

_ORG_HEADING: Final = re.compile(
    r"^(\*+)[ \t]+(?:(?:TODO|DONE)[ \t]+)?(?:\[#\w\][ \t]*)?([^\n]*?)(?:[ \t]+:[\w@#%:]+:)?[ \t]*$",
    re.MULTILINE,
)
_ORG_SAID: Final = re.compile(
    r"^#\+(title|author|date|language|keywords|filetags|description):[ \t]*([^\n]*)$",
    re.MULTILINE | re.IGNORECASE,
)

_ASCIIDOC_HEADING: Final = re.compile(r"^(={1,6})[ \t]+(\S[^\n]*)$", re.MULTILINE)

_RST_UNDERLINE: Final = re.compile(r"([=\-`:.'\"~^_*+#])\1{2,}")


def extract_plain_text(source: Source) -> Extracted:
    """Extract the text of a file line by line, without its byte order mark.

    It is the exact text, but for letters that some formats write as escapes. Of some formats, the
    headings are read, and what a text says of itself.
    """
    text = decode(source.data, source.file, source.options.encoding)
    text = without_escapes(text, source.media_type)
    outline = _HEADINGS.get(source.media_type)
    found = [*islice(outline(text), MAX_HEADINGS)] if outline else []
    said = _said(text, source.media_type)
    first = found[0][1] if found and source.media_type != media_types.LATEX else None
    return Extracted(
        text=text,
        is_own_text=True,
        title=one_line(said.get("title")) or first,
        metadata=properties(
            author=said.get("author"),
            subject=said.get("description"),
            keywords=said.get("keywords") or said.get("filetags", "").strip(":").replace(":", ","),
            created=said.get("date", "").strip("<>[]")[:10],
            language=said.get("language"),
        ),
        headings=plain_text_headings(text)
        if source.media_type == media_types.PLAIN_TEXT
        else headings(found),
    )


def _said(text: str, media_type: str) -> dict[str, str]:
    """Return what a text says of itself, by lower-case name."""
    if media_type == media_types.ORG:
        return {match[1].lower(): match[2] for match in reversed([*_ORG_SAID.finditer(text)])}
    if media_type == media_types.LATEX:
        return {match[1]: _plain_latex(match[2]) for match in _LATEX_SAID.finditer(text)}
    return {}


def _latex(text: str) -> Iterator[_Found]:
    for match in _LATEX_HEADING.finditer(text):
        level = _LATEX_LEVELS.index(match[1]) + 1
        yield level, one_line(_plain_latex(match[2])), match.start()


def _plain_latex(text: str) -> str:
    return _LATEX_COMMAND.sub(" ", re.sub(r"\s*\\and\b", ",", text))


def _marked(pattern: re.Pattern[str], text: str) -> Iterator[_Found]:
    """Yield the headings that as many signs as their level stand before."""
    for match in pattern.finditer(text):
        yield len(match[1]), one_line(match[2]), match.start()


def _rst(text: str) -> Iterator[_Found]:
    """Yield the headings of reStructuredText: a style is of the level at which it first occurs."""
    styles: dict[tuple[str, bool], int] = {}
    before = above = ""
    offset = start = 0
    for line in text.splitlines(keepends=True):
        stripped = line.rstrip()
        is_underline = _RST_UNDERLINE.fullmatch(stripped) is not None
        if is_underline and above.strip() and len(stripped) >= len(above.strip()):
            has_overline = before == stripped
            # Without a line above, the paragraph would go on: a table, or a quoted text.
            if has_overline or not before.strip():
                style = stripped[0], has_overline
                yield styles.setdefault(style, len(styles) + 1), one_line(above), start
            before = above = ""
        else:
            is_text = not is_underline and not above[:1].isspace()
            before, above = (above, stripped) if is_text or is_underline else ("", stripped)
            start = offset
        offset += len(line)


_HEADINGS: Final[dict[str, Callable[[str], Iterator[_Found]]]] = {
    media_types.LATEX: _latex,
    media_types.ORG: partial(_marked, _ORG_HEADING),
    media_types.ASCIIDOC: partial(_marked, _ASCIIDOC_HEADING),
    media_types.RST: _rst,
}


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
    parts = (
        (is_markdown, without_tags(_ENCODED.sub("", part))) for is_markdown, part in _parts(book)
    )
    text, placed = joined(
        (is_markdown, part.strip("\r\n") if part.strip() else "") for is_markdown, part in parts
    )
    found = [
        (level, title, start + at)
        for is_markdown, part, start in placed
        if is_markdown
        for level, title, at in markdown_headings(part)
    ]
    metadata = _table(book.get("metadata"))
    authors = metadata.get("authors")
    highest = (title for level, title, _ in found if level == 1 and title)
    return Extracted(
        text=text,
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
