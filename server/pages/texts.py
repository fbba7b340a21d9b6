"""Parts of pages: marked texts, places of chunks, and names of what the index holds as codes."""

import re
from collections.abc import Iterator, Set as AbstractSet
from typing import Any, Final
from urllib.parse import quote

from markupsafe import Markup

from shared.messages import quantity
from shared.model.answers import Answer
from shared.model.search_results import MARKS

__all__ = ["quantity"]

_MARK: Final = re.compile("|".join(map(re.escape, MARKS)))

_CITATION: Final = re.compile(r"\[(\d{1,9})\]")

UNPROVEN: Final = "no source"
"""Remark after a statement of an answer that no citation proves; also in `answer.js`."""

_MIN_LIKELY_CONFIDENCE: Final = 0.5  # confidence of a hit shown as likely, as by `idx search`

_LANGUAGES: Final = {
    "ar": "Arabic",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fa": "Persian",
    "fi": "Finnish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "hu": "Hungarian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sv": "Swedish",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "und": "Undetermined",
    "vi": "Vietnamese",
    "zh": "Chinese",
}
"""English names of frequent languages; others are shown by their code."""

_FILE_TYPES: Final = {
    "application/epub+zip": "E-book",
    "application/json": "JSON",
    "application/msword": "Word",
    "application/pdf": "PDF",
    "application/rtf": "Rich Text",
    "application/vnd.ms-excel": "Excel",
    "application/vnd.ms-outlook": "E-mail",
    "application/vnd.oasis.opendocument.presentation": "OpenDocument slides",
    "application/vnd.oasis.opendocument.spreadsheet": "OpenDocument sheet",
    "application/vnd.oasis.opendocument.text": "OpenDocument text",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "PowerPoint",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "Excel",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "Word",
    "message/rfc822": "E-mail",
    "text/csv": "CSV",
    "text/html": "Web page",
    "text/markdown": "Markdown",
    "text/plain": "Text",
    "text/rtf": "Rich Text",
}
"""Names of frequent media types; others are shown as they are."""

_PLACES: Final = (
    ("page", "page", "pages"),
    ("slide", "slide", "slides"),
    ("line", "line", "lines"),
)

_KILO: Final = 1000


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text with marks: each with whether it is marked.

    A document may contain the tags of marks itself, so they need not be balanced.
    """
    is_marked, end = False, 0
    for tag in _MARK.finditer(text):
        if part := text[end : tag.start()]:
            yield part, is_marked
        is_marked, end = tag.group() == MARKS[0], tag.end()
    if part := text[end:]:
        yield part, is_marked


def without_marks(text: str) -> str:
    """Return a text without the tags of its marks."""
    return _MARK.sub("", text)


def marked(text: str) -> Markup:
    """Return a text as HTML: its marks are elements, everything else is escaped."""
    shown = (
        Markup("<mark>{}</mark>").format(part) if is_marked else Markup.escape(part)
        for part, is_marked in pieces(text)
    )
    return Markup("").join(shown)


def answer_text(answer: Answer) -> Markup:
    """Return the text of an answer as HTML: its citations are links to its sources.

    Statements without a citation that holds are marked, so that nobody takes them for proven.
    """
    offered = {citation.number for citation in answer.citations}
    shown, end = Markup(""), 0
    for statement in answer.statements:
        shown += _with_links(answer.text[end : statement.start], offered)
        stated = _with_links(answer.text[statement.start : statement.end], offered)
        if statement.state != "cited":
            stated = Markup('<span class="unproven">{} <em>({})</em></span>').format(
                stated, UNPROVEN
            )
        shown, end = shown + stated, statement.end
    return shown + _with_links(answer.text[end:], offered)


def _with_links(text: str, offered: AbstractSet[int]) -> Markup:
    parts = _CITATION.split(text)
    # Numbers are at odd positions, since the pattern has one group.
    return Markup("").join(
        Markup('<a href="#source-{0}">[{0}]</a>').format(part)
        if place % 2 and int(part) in offered
        else Markup.escape(f"[{part}]" if place % 2 else part)
        for place, part in enumerate(parts)
    )


def after(text: str, count: int) -> str:
    """Return a text with marks without its first characters, which are counted without tags."""
    kept = []
    for part, is_marked in pieces(text):
        rest, count = part[count:], max(0, count - len(part))
        kept.append(f"{MARKS[0]}{rest}{MARKS[1]}" if is_marked and rest else rest)
    return "".join(kept)


def before(text: str, count: int) -> str:
    """Return a text with marks without its last characters, which are counted without tags."""
    left = max(0, len(without_marks(text)) - count)
    kept = []
    for part, is_marked in pieces(text):
        rest, left = part[:left], max(0, left - len(part))
        kept.append(f"{MARKS[0]}{rest}{MARKS[1]}" if is_marked and rest else rest)
    return "".join(kept)


def document_title(chunk: Any) -> str:
    """Return the title of a chunk's document: that of a chunk ends with its number."""
    title = str(chunk.title).removesuffix(f" - Part {chunk.chunk_index}")
    return title or str(chunk.source_document)


def place(chunk: Any) -> str:
    """Return the place of a chunk in its file, such as ``pages 5-6``; empty if it is unknown."""
    for name, one, several in _PLACES:
        start, end = getattr(chunk, f"{name}_start"), getattr(chunk, f"{name}_end")
        if start is not None:
            return f"{one} {start}" if end in {None, start} else f"{several} {start}\u2013{end}"
    return f"sheet {chunk.sheet_start}" if chunk.sheet_start else ""


def confidence_word(confidence: float) -> str:
    """Return a confidence in a word: likely, possible or unlikely."""
    from shared.search.confidence import LOW

    if confidence >= _MIN_LIKELY_CONFIDENCE:
        return "likely"
    return "possible" if confidence >= LOW else "unlikely"


def language_name(code: str) -> str:
    """Return the English name of a language, or its code."""
    return _LANGUAGES.get(code, code)


def file_type_name(media_type: str) -> str:
    """Return the name of a media type, or the type itself."""
    return _FILE_TYPES.get(media_type, media_type)


def day(moment: Any) -> str:
    """Return the date of an ISO 8601 moment."""
    return str(moment)[:10]


def file_size(size: float) -> str:
    """Return a number of bytes in a readable unit of powers of 1,000."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < _KILO or unit == "GB":
            break
        size /= _KILO
    return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"


def encoded(text: str) -> str:
    """Return a text as one part of a path, with its slashes percent-encoded."""
    return quote(text, safe="")
