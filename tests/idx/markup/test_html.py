import pytest

from tests.idx.conftest import Read

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


def test_how_a_word_is_read_is_no_part_of_it(read: Read) -> None:
    page = "<p><ruby>東<rp>(</rp><rt>とう</rt><rp>)</rp></ruby><ruby>京<rt>きょう</rt></ruby></p>"
    assert read("a.html", page).text == "東京"


def test_rows_of_a_table_within_a_table_stay_rows(read: Read) -> None:
    inner = "<table><tr><td>a<td>b<tr><td>c<td>d</table>"
    page = f"<table><tr><td>left<td>{inner}<td>right</table>"
    assert read("a.html", page).text == "left\n\na | b\nc | d\n\nright"


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


def test_a_page_of_any_depth_is_read(read: Read) -> None:
    extracted = read("a.html", "<div>" * 50_000 + "deep" + "</div>" * 50_000 + "after")
    assert extracted.text == "deep\nafter"


def test_a_broken_page_is_read_as_far_as_it_goes(read: Read) -> None:
    assert read("a.html", "<p>one <b>two</p></i></div> three <a href='x").text == "one two\n\nthree"


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
