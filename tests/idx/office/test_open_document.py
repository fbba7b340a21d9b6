"""What is read of OpenDocument files, from content that is written for the test."""

import re

import pytest

from idx.errors import SourceFileError
from tests.idx.conftest import FILES, Read
from tests.idx.extraction.test_office import parts_of, rewritten

NAMESPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "table", "text", "meta")
)
NOTE = (
    "<office:annotation><dc:creator>Ana Ruiz</dc:creator><dc:date>2025-03-01T10:00:00</dc:date>"
    "<meta:creator-initials>AR</meta:creator-initials><text:p>Check this</text:p>"
    "</office:annotation>"
)


def with_content(name: str, kind: str, content: str) -> bytes:
    """A file of the tests with other content; other parts with texts are left out."""
    return rewritten(
        (FILES / name).read_bytes(),
        **{
            "styles.xml": None,
            "content.xml": f"<office:document-content {NAMESPACES} "
            'xmlns:dc="http://purl.org/dc/elements/1.1/"><office:body>'
            f"<office:{kind}>{content}</office:{kind}></office:body></office:document-content>",
        },
    )


def test_notes_and_annotations_follow_the_text(read: Read) -> None:
    footnote = (
        "<text:note><text:note-citation>1</text:note-citation><text:note-body>"
        "<text:p>Without heating.</text:p></text:note-body></text:note>"
    )
    data = with_content(
        "garden.odt",
        "text",
        f"<text:p>The rent{footnote} is due{NOTE} on <text:date>1 May</text:date>.</text:p>"
        "<text:p>Signed by <text:creator>Bo</text:creator></text:p>",
    )
    assert read("a.odt", data).text == (
        "The rent is due on 1 May.\n\nSigned by Bo\n\nWithout heating.\n\nCheck this"
    )


def test_an_annotation_is_no_part_of_its_cell(read: Read) -> None:
    sheet = (
        '<table:table table:name="{name}"><table:table-row><table:table-cell>{note}<text:p>42'
        "</text:p></table:table-cell><table:table-cell><text:p>{name}</text:p></table:table-cell>"
        "</table:table-row></table:table>"
    )
    sheets = sheet.format(name="S", note=NOTE) + sheet.format(name="T", note="")
    extracted = read("a.ods", with_content("book.ods", "spreadsheet", sheets))
    assert parts_of(extracted) == {"S": "S\n\n42 | S\n\nCheck this", "T": "T\n\n42 | T"}


def test_how_words_are_read_and_patterns_of_lists_are_no_text(read: Read) -> None:
    ruby = (
        "<text:ruby><text:ruby-base>{}</text:ruby-base>"
        "<text:ruby-text>{}</text:ruby-text></text:ruby>"
    )
    contents = (
        "<text:table-of-content><text:table-of-content-source><text:index-title-template>Contents"
        "</text:index-title-template></text:table-of-content-source><text:index-body>"
        "<text:index-title><text:p>Contents</text:p></text:index-title></text:index-body>"
        "</text:table-of-content>"
    )
    words = ruby.format("東", "とう") + ruby.format("京", "きょう")
    data = with_content("garden.odt", "text", f"{contents}<text:p>{words}</text:p>")
    assert read("a.odt", data).text == "Contents\n\n東京"


def test_cells_that_repeat_a_long_text_end_in_an_error(read: Read) -> None:
    row = (
        '<table:table-row><table:table-cell table:number-columns-repeated="20"><text:p>'
        f"{'x' * 600_000}</text:p></table:table-cell></table:table-row>"
    )
    data = with_content(
        "book.ods", "spreadsheet", f'<table:table table:name="S">{row * 9}</table:table>'
    )
    with pytest.raises(SourceFileError, match=re.escape("its cells repeat too much text")):
        read("a.ods", data)
