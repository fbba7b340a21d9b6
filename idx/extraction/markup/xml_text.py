"""Text of XML files: without tags where prose prevails, such as in DocBook, TEI and feeds."""

import html
import re
from contextlib import suppress
from typing import Final

from idx.extraction.office.xml_workbook import extract_xml_workbook, is_xml_workbook
from idx.extraction.text.decoding import decode
from idx.extraction.text.escapes import character, without_escapes
from idx.extraction.text.properties import one_line
from idx.extraction.types import Extracted, Source

# Attribute values may contain ">"; a comment ends at its own mark only. A document type has no
# other one within it: each character is looked at once, however many begin and do not end.
_MARKUP: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[(?P<data>.*?)(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)"
    r"|<!DOCTYPE(?:[^<>\[]|\[(?:[^\]<]|<(?!!DOCTYPE))*+\])*+>"
    r"|</?[A-Za-z_:](?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*+>",
    re.DOTALL,
)
_REFERENCE: Final = re.compile(r"&#?\w{1,32};")
_TITLE: Final = re.compile(r"<(?:\w+:)?title(?:\s[^<>]*)?>([^<>]{1,400})</")

_MIN_PROSE_SHARE: Final = 0.5
"""Minimum share of text in a file of prose; settings and data have less, and their names are
searched for."""


def extract_xml(source: Source) -> Extracted:
    """Extract the text of XML line by line as in the file; that of a workbook by its sheets.

    References to characters are resolved. If at least half of it is text, tags, comments and
    instructions are left out; else they stay. No entity of a document type is expanded.
    """
    if is_xml_workbook(source.data):
        with suppress(SyntaxError):
            return extract_xml_workbook(source)
    written = decode(source.data, source.file, source.options.encoding)
    marked = sum(
        match.end() - match.start() for match in _MARKUP.finditer(written) if match["data"] is None
    )
    letters = len(written) - marked
    # Indentation is not text.
    blank = sum(len(line) - len(line.strip()) for line in written.split("\n"))
    if letters - blank < _MIN_PROSE_SHARE * (len(written) - blank):
        text = without_escapes(written, source.media_type)
        return Extracted(text, source.media_type, is_own_text=True)
    title = _TITLE.search(written)
    return Extracted(
        text=_REFERENCE.sub(character, _MARKUP.sub(_without_tag, written)),
        media_type=source.media_type,
        is_own_text=True,
        title=one_line(html.unescape(title[1])) if title else None,
    )


def _without_tag(match: re.Match[str]) -> str:
    """Return what stands in place of markup: its line breaks, so that lines keep their numbers."""
    if match["data"] is not None:
        return match["data"]
    breaks = "\n" * match[0].count("\n")
    # Elements that follow each other without text, such as cells, are not one word, while letters
    # within a word, such as in H<sub>2</sub>O, are.
    stands_between = match.string[match.start() - 1 : match.start()] == ">"
    return breaks or (" " if stands_between else "")
