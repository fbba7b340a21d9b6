"""Files that are nested as deeply as they can be, one for each reader."""

from collections.abc import Callable
from typing import Final

from tests.idx.conftest import FILES
from tests.idx.extraction.pdf_files import pdf
from tests.idx.extraction.test_office import rewritten
from tests.idx.office.packages import docx, package

_DEPTH: Final = 100_000


def _elements(name: str, namespace: str = "urn:a") -> bytes:
    return (
        f'<a:{name} xmlns:a="{namespace}">'.encode()
        + f"<a:{name}>".encode() * _DEPTH
        + f"</a:{name}>".encode() * (_DEPTH + 1)
    )


def _pdf(catalog: bytes = b"", contents: bytes = b"", resources: bytes = b"") -> bytes:
    contents = b"BT /F 9 Tf 5 5 Td (needle) Tj ET\n" + contents
    return pdf(
        b"<</Type/Catalog/Pages 2 0 R" + catalog + b">>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R"
        b"/Resources<</Font<</F 5 0 R>>" + resources + b">>>>",
        b"<</Length %d>>stream\n%s\nendstream\n" % (len(contents), contents),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    )


def _page_tree() -> bytes:
    data = b"%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    inner = b"".join(
        b"%d 0 obj<</Type/Pages/Kids[%d 0 R]/Count 1/Parent %d 0 R>>endobj\n"
        % (number, number + 1, number - 1)
        for number in range(2, 20_000)
    )
    return data + inner + b"trailer<</Root 1 0 R>>\n%%EOF"


def _mail(depth: int) -> bytes:
    parts = b"".join(
        b'Content-Type: multipart/mixed; boundary="b%d"\r\n\r\n--b%d\r\n' % (level, level)
        for level in range(depth)
    )
    return b"From: a@example.org\r\nSubject: Deep\r\nMIME-Version: 1.0\r\n" + parts


def _messages(depth: int) -> bytes:
    return (
        b"From: a@example.org\r\nSubject: Deep\r\nMIME-Version: 1.0\r\n"
        + b"Content-Type: message/rfc822\r\n\r\n" * depth
        + b"text"
    )


NESTED: Final[dict[str, Callable[[], bytes]]] = {
    "flow.md": lambda: b"---\na: " + b"[" * 9_900 + b"\n---\nneedle",
    "objects.md": lambda: b"---\na: " + b"{b: " * 2_400 + b"\n---\nneedle",
    "closed.md": lambda: b"---\na: " + b"[" * 4_900 + b"]" * 4_900 + b"\n---\nneedle",
    "lists.md": lambda: b"---\n" + b"- " * 4_900 + b"\n---\nneedle",
    "keys.md": lambda: b"---\n" + b"? " * 4_900 + b"\n---\nneedle",
    "paragraphs.docx": lambda: docx("", parts={"word/document.xml": _elements("p")}),
    "types.docx": lambda: docx("", parts={"_rels/.rels": _elements("Relationships")}),
    "shapes.pptx": lambda: package(
        "ppt/presentation.xml", {"ppt/presentation.xml": _elements("sp")}
    ),
    "cells.xlsx": lambda: rewritten(
        (FILES / "book.xlsx").read_bytes(), **{"xl/workbook.xml": _elements("sheet")}
    ),
    "spans.odt": lambda: rewritten(
        (FILES / "garden.odt").read_bytes(), **{"content.xml": _elements("span")}
    ),
    "meta.odt": lambda: rewritten(
        (FILES / "garden.odt").read_bytes(), **{"meta.xml": _elements("title")}
    ),
    "blocks.html": lambda: b"<div>" * _DEPTH + b"needle",
    "inline.html": lambda: b"<b><i>" * _DEPTH + b"needle",
    "tables.html": lambda: b"<table><tr><td>" * 20_000 + b"needle",
    "arrays.pdf": lambda: _pdf(catalog=b"/A" + b"[" * _DEPTH + b"]" * _DEPTH),
    "dictionaries.pdf": lambda: _pdf(catalog=b"/A" + b"<</A" * _DEPTH + b"1" + b">>" * _DEPTH),
    "resources.pdf": lambda: _pdf(resources=b"/XObject" + b"<</A" * _DEPTH),
    "operands.pdf": lambda: _pdf(contents=b"[" * _DEPTH + b"]" * _DEPTH + b"TJ"),
    "states.pdf": lambda: _pdf(contents=b"q " * _DEPTH),
    # pdfplumber takes a time that grows with their square.
    "parentheses.pdf": lambda: _pdf(contents=b"(" * 20_000 + b")" * 20_000 + b"Tj"),
    "pages.pdf": _page_tree,
    "groups.rtf": lambda: b"{\\rtf1 needle" + b"{" * _DEPTH,
    "notes.rtf": lambda: b"{\\rtf1 needle" + b"{\\footnote " * _DEPTH,
    "parts.eml": lambda: _mail(2_000),
    "messages.eml": lambda: _messages(2_000),
    "values.json": lambda: b"[" * _DEPTH,
    "elements.xml": lambda: b"<?xml version='1.0'?>" + b"<a>" * _DEPTH + b"needle",
}
"""The bytes of each file by its name."""
