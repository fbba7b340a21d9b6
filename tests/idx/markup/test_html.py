"""Pages, XML, notebooks and EPUB: their text without what is markup."""

import json
import time

import pytest

from idx.errors import SourceFileError
from tests.idx.conftest import Read
from tests.idx.files import zipped

PAGE = """<!DOCTYPE html>
<html lang="de-AT"><head>
<title> The
  Gardens &amp; more </title>
<meta name="Author" content="Ana Ruiz"><meta name="description" content="About gardens">
<meta name=keywords content="water, stone"><meta name="generator" content="Hugo">
<meta property="article:published_time" content="2025-03-01T10:00:00+01:00">
<style>p { color: red }</style><script>var hidden = "<p>no</p>";</script></head>
<body><!-- a comment --><nav>Home</nav>
<h1>Gardens</h1><p>One
line with <b>bo</b>ld, &eacute;t&eacute; &#8364;&nbsp;5 &bogus; and a<br>break
<ul><li>first<li>second</ul>
<table><tr><th>Place<th>Year<tr><td>Gra<i>nada</i></td><td></td><td>1238
 AD</table>
<pre>code
  stays</pre>
<noscript>Turn on scripts</noscript><template>no</template><svg><title>no</title></svg>
Caf\u00e9 ﬁn</body></html>
"""


def test_a_page_is_its_text(read: Read) -> None:
    extracted = read("a.html", PAGE)
    assert extracted.text == (
        "Home\n\nGardens\n\nOne line with bold, été € 5 &bogus; and a\nbreak\n\nfirst\nsecond\n\n"
        "Place | Year\nGranada | | 1238 AD\n\ncode\n  stays\n\nCafé fin"
    )
    assert extracted.title == "The Gardens & more"
    assert extracted.metadata == {
        "author": "Ana Ruiz",
        "subject": "About gardens",
        "keywords": ["water", "stone"],
        "creator": "Hugo",
        "created": "2025-03-01T09:00:00Z",
        "language": "de",
    }
    assert not extracted.is_own_text


@pytest.mark.parametrize(
    ("page", "text"),
    [
        # Pronunciation above a word.
        ("<ruby>東<rp>(</rp><rt>とう</rt><rp>)</rp></ruby><ruby>京<rt>きょう</rt></ruby>", "東京"),
        # Rows of a table within a table stay rows.
        (
            "<table><tr><td>left<td><table><tr><td>a<td>b<tr><td>c<td>d</table><td>right</table>",
            "left\n\na | b\nc | d\n\nright",
        ),
        # Any depth.
        ("<div>" * 50_000 + "deep" + "</div>" * 50_000 + "after", "deep\nafter"),
        # A broken page is read as far as it goes.
        ("<p>one <b>two</p></i></div> three <a href='x", "one two\n\nthree"),
    ],
    ids=["ruby", "tables", "depth", "broken"],
)
def test_elements_have_their_effect_on_the_text(read: Read, page: str, text: str) -> None:
    assert read("a.html", page).text == text


@pytest.mark.parametrize(
    ("page", "encoding"),
    [
        ("<meta charset=iso-8859-1><p>“Grüße” €", "cp1252"),
        ("<meta charset='windows-1251'><p>Привет", "cp1251"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=shift_jis"><p>日本', "cp932"),
        ('<?xml version="1.0" encoding="gb2312"?><html><p>你好</p></html>', "gb18030"),
        ("<meta charset=latin1><p>Grüße", "utf-16"),
        ("<meta charset=latin1><p>Grüße", "utf-8-sig"),
        ("<meta charset=no-such><p>Grüße", "utf-8"),
        ("<meta charset=punycode><p>Grüße", "utf-8"),
        ("<meta charset=utf-16><p>Grüße", "utf-8"),
    ],
)
def test_a_page_is_read_in_the_encoding_it_declares(read: Read, page: str, encoding: str) -> None:
    expected = page.rpartition("<p>")[2].removesuffix("</p></html>")
    assert read("a.html", page.encode(encoding)).text == expected


@pytest.mark.parametrize(
    ("charset", "codec"),
    [
        ("iso8859-1", "cp1252"),
        ("Latin-1", "cp1252"),
        ("ascii", "cp1252"),
        ("x-sjis", "cp932"),
        ("utf16", "utf-8"),
        ("utf_32", "utf-8"),
        ("utf-7", "utf-8"),
        ("no-such", "utf-8"),
        ("hex", "utf-8"),
        ("windows-874", "cp874"),
        ("tis-620", "cp874"),
        ("x-mac-cyrillic", "mac_cyrillic"),
        ("x-cp1251", "cp1251"),
        ("iso-8859-8-i", "iso8859_8"),
        ("x-euc-jp", "euc_jp"),
    ],
)
def test_a_declaration_means_what_browsers_take_it_for(
    read: Read, charset: str, codec: str
) -> None:
    text = {
        **dict.fromkeys(("cp932", "euc_jp"), "東京の家賃"),
        "cp874": "“สวัสดี”",
        "mac_cyrillic": "Да, Привет",
        "cp1251": "Да",
        "iso8859_8": "שכר דירה",
    }.get(codec, "It\u2019s the rent of +2AA- friends")
    page = f"<html><meta charset={charset}><p>{text}</p></html>".encode(codec)
    assert read("a.html", page).text == text


ARTICLE = """<?xml version="1.0"?>
<!DOCTYPE article [<!ENTITY secret SYSTEM "file:///etc/passwd">]>
<article><title>Wells &amp; pumps</title>
<para role="a > b">Water, H<sub>2</sub>O, comes from the
<emphasis>well</emphasis> behind the house&#33; &secret;</para>
<!-- a comment
--><row><entry>Oslo</entry><entry>2024</entry></row>
<para><![CDATA[if a < b]]> and so on, until the end of the paragraph is reached,
which takes a while, because prose has many words and few tags, unlike the settings
of a program.</para>
</article>
"""


def test_prose_is_read_without_tags(read: Read) -> None:
    extracted = read("a.xml", ARTICLE)
    lines = extracted.text.split("\n")
    assert lines[2].strip() == "Wells & pumps"
    assert lines[3].strip() == "Water, H2O, comes from the"
    assert lines[4] == "well behind the house! &secret;"
    assert lines[6].strip() == "Oslo 2024"
    assert lines[7].startswith("if a < b and so on")
    assert (extracted.title, extracted.is_own_text) == ("Wells & pumps", True)


def test_settings_stay_as_they_are(read: Read) -> None:
    settings = (
        '<settings>\n  <property name="url" value="jdbc:h2"/>\n  <port>80</port>\n</settings>'
    )
    assert read("pom.xml", settings).text == settings


@pytest.mark.soak
@pytest.mark.parametrize(
    "piece", ["<!DOCTYPE [", "<a b='", '<a b="', "<!--", "<![CDATA[", "<a ", "&#", "<?"]
)
def test_hostile_markup_takes_no_longer(read: Read, piece: str) -> None:
    def seconds(pieces: int) -> float:
        started = time.process_time()
        read("a.xml", piece * pieces)
        return time.process_time() - started

    # Ten times as much takes ten times as long, and not a hundred times.
    assert seconds(50_000) < 30 * max(seconds(5_000), 0.02)


PICTURE = "iVBORw0KGgo" * 100
CELLS = [
    {"cell_type": "markdown", "source": ["# Rainfall\n", "in Oslo\n", f"![x]({PICTURE})"]},
    {
        "cell_type": "code",
        "source": "rain.plot()",
        "outputs": [
            {"output_type": "stream", "text": ["10 %\r", "100 %\n"]},
            {
                "output_type": "display_data",
                "data": {"image/png": PICTURE, "text/plain": ["<Figure 1>"]},
            },
            {
                "output_type": "error",
                "ename": "KeyError",
                "traceback": ["\x1b[31mKeyError\x1b[0m: 7"],
            },
        ],
    },
]


def test_cells_and_outputs_are_text_in_order(read: Read) -> None:
    extracted = read("a.ipynb", json.dumps({"nbformat": 4, "cells": CELLS, "metadata": {}}))
    assert extracted.text == (
        "# Rainfall\nin Oslo\n![x]()\n\nrain.plot()\n\n100 %\n\n<Figure 1>\n\nKeyError: 7"
    )
    assert extracted.title == "Rainfall"
    assert [(heading.text, heading.start) for heading in extracted.headings] == [("Rainfall", 0)]


def test_version_3_has_worksheets(read: Read) -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Snow"},
        {"cell_type": "code", "input": "1 + 1", "outputs": [{"output_type": "pyout", "text": "2"}]},
    ]
    extracted = read("a.ipynb", json.dumps({"worksheets": [{"cells": cells}]}))
    assert extracted.text == "## Snow\n\n1 + 1\n\n2"
    assert [heading.level for heading in extracted.headings] == [2]


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1}', "[" * 100_000])
def test_what_is_no_notebook_is_damaged(read: Read, text: str) -> None:
    with pytest.raises(SourceFileError, match=r"damaged notebook|nested too deeply"):
        read("a.ipynb", text)


def test_cells_of_any_type_are_read(read: Read) -> None:
    cells = [7, None, {"source": {"a": 1}}, {"outputs": [3, {"data": 4}]}, {"source": "kept"}]
    assert read("a.ipynb", json.dumps({"cells": cells, "metadata": 5})).text == "kept"


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
    contents: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": BOOK,
        "OEBPS/nav.xhtml": "<p>Contents",
        "OEBPS/one.xhtml": ONE,
        "OEBPS/text/two more.xhtml": "<p>Two",
    }
    return zipped(**(contents | entries))


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


@pytest.mark.parametrize(
    "date", ["0101-01-01T00:00:00+00:00", "0001-01-01T00:00:00", "0101-01-01", "0101-01", "0101"]
)
def test_a_placeholder_is_no_date_of_a_book(read: Read, date: str) -> None:
    opf = BOOK.replace("<dc:date>2025<", f"<dc:date>{date}<")
    assert "created" not in read("a.epub", book(**{"OEBPS/book.opf": opf})).metadata


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
