"""FictionBook: text, sections and description."""

import pytest

from idx.errors import SourceFileError
from tests.idx.extraction.conftest import Read

BOOK = """<?xml version="1.0" encoding="windows-1252"?>
<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"
  xmlns:l="http://www.w3.org/1999/xlink">
<description><title-info><genre>prose</genre><author><first-name>Anton</first-name>
<last-name>Tschechow</last-name></author><book-title>Gärten</book-title>
<annotation><p>Komödie</p></annotation><date value="1903-10-12">1903</date><lang>de</lang>
</title-info><document-info><author><nickname>scanner</nickname></author></document-info>
</description>
<body><section><title><p>Aufzug</p><p>eins</p></title><p>Das Zimmer, <emphasis>das</emphasis>
noch Kinderzimmer heißt<a l:href="#n1">[1]</a>.</p>
<section><title><p>Szene</p></title><poem><stanza><v>drei</v><v>zwölf</v></stanza></poem></section>
</section></body>
<body name="notes"><section id="n1"><p>Anmerkung</p></section></body>
<binary id="cover.jpg" content-type="image/jpeg">/9j/4AAQSkZJRg</binary></FictionBook>
"""


def test_a_book_is_read_with_sections_and_description(read: Read) -> None:
    book = read("a.fb2", BOOK.encode("cp1252"))
    assert book.text == (
        "Aufzug\neins\n\nDas Zimmer, das noch Kinderzimmer heißt[1].\n\n"
        "Szene\n\ndrei\nzwölf\n\nAnmerkung"
    )
    assert book.title == "Gärten"
    assert book.metadata == {
        "author": "Anton Tschechow",
        "subject": "Komödie",
        "keywords": ["prose"],
        "created": "1903-10-12",
        "language": "de",
    }
    assert [(heading.level, heading.text) for heading in book.headings] == [
        (2, "Aufzug eins"),
        (3, "Szene"),
    ]


def test_a_truncated_book_is_damaged(read: Read) -> None:
    with pytest.raises(SourceFileError, match="is a damaged FB2"):
        read("a.fb2", BOOK.encode("cp1252")[:-100])
