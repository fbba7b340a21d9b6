import io
import zipfile

import pytest

from idx.errors import SourceFileError
from tests.idx.conftest import Read

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
)
BOOK = """<?xml version="1.0"?>
<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">
<metadata><dc:title>The Gardens</dc:title><dc:creator>Ana</dc:creator><dc:creator>Bo</dc:creator>
<dc:subject>Water</dc:subject><dc:subject>Stone</dc:subject><dc:language>es-ES</dc:language>
<dc:description>About gardens</dc:description><dc:date>2025</dc:date>
<meta property="dcterms:modified">2025-04-01T10:00:00Z</meta></metadata>
<manifest>
<item id="b" href="text/two%20more.xhtml" media-type="application/xhtml+xml"/>
<item id="a" href="one.xhtml" media-type="application/xhtml+xml"/>
<item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="p" href="p.png" media-type="image/png"/>
<item id="up" href="../../../../etc/passwd" media-type="text/html"/>
</manifest>
<spine><itemref idref="n"/><itemref idref="a"/><itemref idref="p"/><itemref idref="up"/>
<itemref idref="b"/><itemref idref="a"/><itemref idref="gone"/></spine></package>"""
ONE = (
    '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" '
    '"http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd"><html xmlns="http://www.w3.org/1999/xhtml">'
    "<head><title>no</title></head><body><h1>One</h1><p>Agua&nbsp;ñ</p></body></html>"
)


def book(**entries: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as zipped:
        zipped.writestr("mimetype", "application/epub+zip")
        contents = {
            "META-INF/container.xml": CONTAINER,
            "OEBPS/book.opf": BOOK,
            "OEBPS/nav.xhtml": "<p>Contents",
            "OEBPS/one.xhtml": ONE,
            "OEBPS/text/two more.xhtml": "<p>Two",
        }
        for name, text in (contents | entries).items():
            zipped.writestr(name, text)
    return data.getvalue()


def test_chapters_are_read_in_order(read: Read) -> None:
    extracted = read("a.epub", book())
    assert extracted.text == "One\n\nAgua ñ\n\nTwo"
    assert extracted.title == "The Gardens"
    assert extracted.metadata == {
        "author": "Ana, Bo",
        "subject": "About gardens",
        "keywords": ["Water", "Stone"],
        "created": "2025",
        "modified": "2025-04-01T10:00:00Z",
        "language": "es",
    }
    assert extracted.pages == ()


def test_a_protected_book_says_so_and_protected_fonts_do_not_matter(read: Read) -> None:
    encryption = (
        '<encryption xmlns:enc="urn:enc"><enc:CipherReference URI="OEBPS/{}"/></encryption>'
    )
    with pytest.raises(SourceFileError, match=r": protected against copying \(DRM\)"):
        read("a.epub", book(**{"META-INF/encryption.xml": encryption.format("one.xhtml")}))
    data = book(**{"META-INF/encryption.xml": encryption.format("font.otf")})
    assert read("a.epub", data).text


def test_a_book_without_a_list_of_chapters_is_damaged(read: Read) -> None:
    with pytest.raises(SourceFileError, match="is a damaged EPUB: it has no list of chapters"):
        read("a.epub", book(**{"META-INF/container.xml": "<container/>"}))


def test_chapters_that_are_missing_are_named(read: Read) -> None:
    renamed = BOOK.replace("one.xhtml", "One.xhtml").replace("../../../../etc/passwd", "three.html")
    extracted = read("a.epub", book(**{"OEBPS/book.opf": renamed}))
    assert extracted.text == "Two"
    assert extracted.warnings == ("chapters are missing: OEBPS/One.xhtml, OEBPS/three.html",)
    none = renamed.replace("two%20more", "two")
    with pytest.raises(SourceFileError, match=r"is a damaged .*: its chapters are missing"):
        read("a.epub", book(**{"OEBPS/book.opf": none}))


def test_a_chapter_may_be_named_by_a_place_in_it(read: Read) -> None:
    named = BOOK.replace("one.xhtml", "one.xhtml#start")
    assert read("a.epub", book(**{"OEBPS/book.opf": named})).text == "One\n\nAgua ñ\n\nTwo"
