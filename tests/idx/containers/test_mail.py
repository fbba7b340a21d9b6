"""E-mails and messages of Outlook: headers, text, quotations and attachments."""

import base64
import sys
from email.message import EmailMessage

import pytest

from idx.containers.message import quoted_apart
from idx.errors import SourceFileError
from tests.idx.conftest import Read
from tests.idx.containers.compound_file import outlook_message


def message() -> EmailMessage:
    mail = EmailMessage()
    mail["From"] = "Ana Ruíz <ana@example.org>"
    mail["To"] = "Bo <bo@example.org>, cy@example.org"
    mail["Subject"] = "Gärten in Spanien"
    mail["Date"] = "Sat, 01 Mar 2025 11:00:00 +0100"
    mail["X-Mailer"] = "Mailer 1"
    mail["Received"] = "from somewhere"
    return mail


RUSSIAN = "Привет из Москвы"

HEADERS = (
    "From: Ana Ruíz <ana@example.org>\nTo: Bo <bo@example.org>, cy@example.org\n"
    "Date: Sat, 01 Mar 2025 11:00:00 +0100\nSubject: Gärten in Spanien"
)


def test_a_mail_has_its_headers_text_and_names_of_attachments(read: Read) -> None:
    mail = message()
    mail.set_content("Grüße,\nAna\n", charset="latin-1")
    mail.add_alternative("<p>Grüße in HTML</p>", subtype="html")
    mail.add_attachment(b"inner words", "application", "octet-stream", filename="Plän.pdf")
    mail.add_attachment("inner words", filename="notes.txt")
    forwarded = EmailMessage()
    forwarded["Subject"] = "An older one"
    forwarded.set_content("inner words")
    mail.add_attachment(forwarded)
    extracted = read("a.eml", mail.as_bytes())
    assert extracted.text == (
        f"{HEADERS}\n\nGrüße,\nAna\n\nAttachments: Plän.pdf, notes.txt, message 3"
    )
    assert extracted.title == "Gärten in Spanien"
    assert extracted.metadata == {
        "author": "Ana Ruíz <ana@example.org>",
        "creator": "Mailer 1",
        "created": "2025-03-01T10:00:00Z",
        "modified": "2025-03-01T10:00:00Z",
        "recipients": ["bo@example.org", "cy@example.org"],
    }
    assert extracted.media_type == "message/rfc822"


def test_a_mail_in_html_is_read_as_a_page(read: Read) -> None:
    mail = message()
    mail.set_content("<style>p{}</style><p>One<br>two &amp; <b>th</b>ree</p>", subtype="html")
    assert read("a.eml", mail.as_bytes()).text == f"{HEADERS}\n\nOne\ntwo & three"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("Subject: x\nDate: yesterday\n\nbody", "Date: yesterday\nSubject: x\n\nbody"),
        ("Subject: x\n\n", "Subject: x"),
        ("Subject: x\nContent-Type: text/plain; charset=no-such\n\nbödy", "Subject: x\n\nbödy"),
        (
            "Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nbody",
            "Subject: x\n\nbody",
        ),
        ("Subject: x\nContent-Type: multipart/mixed\n\nbody", "Subject: x\n\nbody"),
        ("From: <<@>;,\nTo: =?x?q?=\nSubject: =?utf-8?b?4?=\n\nbody", None),
        ("Content-Type: text/plain; charset\nSubject:\n x\n\nbody", "Subject: x\n\nbody"),
    ],
)
def test_a_broken_mail_is_read_as_far_as_it_goes(read: Read, raw: str, text: str | None) -> None:
    extracted = read("a.eml", raw)
    assert text is None or extracted.text == text
    assert "body" in extracted.text or "bödy" in extracted.text or not raw.endswith("dy")


def test_mail_without_headers_is_damaged(read: Read) -> None:
    with pytest.raises(SourceFileError, match="is a damaged e-mail: it has no headers"):
        read("a.eml", "\n\nonly a body")


@pytest.mark.parametrize(
    ("content_type", "encoding"),
    [
        (None, "utf-8"),
        (None, "cp1252"),
        ("text/plain", "utf-8"),
        ("text/plain; charset=us-ascii", "utf-8"),
        ("text/plain; charset=ANSI_X3.4-1968", "utf-8"),
        ("text/plain; charset=utf-8", "cp1252"),
        ("text/plain; charset=koi8-r", "koi8-r"),
        ("text/plain; charset=utf-16", "utf-16"),
        ("text/plain; charset=punycode", "utf-8"),
        ("multipart/mixed", "utf-8"),
    ],
)
def test_a_text_is_decoded_by_its_bytes_where_its_charset_says_nothing(
    read: Read, content_type: str | None, encoding: str
) -> None:
    text = "Grüße aus Köln, und die Häuser der Straße gehören den Töchtern."
    if encoding == "koi8-r":
        text = RUSSIAN
    headers = f"Content-Type: {content_type}\n" if content_type else ""
    body = text.encode(encoding)
    if encoding == "utf-16":
        headers += "Content-Transfer-Encoding: base64\n"
        body = base64.b64encode(body)
    extracted = read("a.eml", f"Subject: x\n{headers}\n".encode() + body)
    assert extracted.text == f"Subject: x\n\n{text}"


@pytest.mark.skipif(
    sys.version_info < (3, 11, 7), reason="the codec of ISO-2022-JP-2004 dropped letters"
)
def test_stray_bytes_cost_only_themselves(read: Read) -> None:
    headers = b"Subject: x\nContent-Type: text/plain; charset=%s\n\n"
    korean = ["임대차 계약의 해지 통지는 세 달 전에 하여야 한다."] * 3
    body = b" \xff\xff ".join(line.encode("euc-kr") for line in korean)
    assert read("a.eml", headers % b"euc-kr" + body).text.count(korean[0]) == 3
    # Row 13 of JIS X 0208, which its codec does not have.
    body = "こんにちは①㈱Ⅱ、契約".encode("iso2022_jp_2004").replace(b"\x1b$(Q", b"\x1b$B")
    with pytest.raises(UnicodeDecodeError):
        body.decode("iso2022_jp")
    assert (
        read("a.eml", headers % b"iso-2022-jp" + body).text
        == "Subject: x\n\nこんにちは1(株)II、契約"
    )
    # An escape that no text has.
    body = "契約".encode("iso2022_jp") + b" \x1b$Zend"
    assert read("a.eml", headers % b"iso-2022-jp" + body).text.startswith("Subject: x\n\n契約")


def test_a_page_in_a_mail_may_declare_its_charset_itself(read: Read) -> None:
    page = f'<meta charset="koi8-r"><p>{RUSSIAN}'.encode("koi8-r")
    extracted = read("a.eml", b"Subject: x\nContent-Type: text/html\n\n" + page)
    assert extracted.text == f"Subject: x\n\n{RUSSIAN}"


def test_a_body_that_is_no_text_is_no_error(read: Read) -> None:
    body = base64.b64encode(b"body \xff\0\0\1\2\3 end")
    extracted = read("a.eml", b"Subject: x\nContent-Transfer-Encoding: base64\n\n" + body)
    assert extracted.text.startswith("Subject: x\n\nbody")
    assert extracted.text.endswith("end")


@pytest.mark.parametrize("charset", [b"iso-8859-1", b"latin1", b"ISO-8859-1"])
def test_latin_1_is_what_windows_writes(read: Read, charset: bytes) -> None:
    headers = b"Subject: x\nContent-Type: text/%s; charset=%s\n\n"
    body = "It\u2019s 5 \u20ac \u201chi\u201d"
    for kind in (b"plain", b"html"):
        data = headers % (kind, charset) + body.encode("cp1252")
        assert read("a.eml", data).text == f"Subject: x\n\n{body}"


def test_a_blank_plain_form_is_no_text(read: Read) -> None:
    mail = EmailMessage()
    mail["Subject"] = "x"
    mail.set_content(" \n")
    mail.add_alternative("<p>All the text", subtype="html")
    assert read("a.eml", bytes(mail)).text == "Subject: x\n\nAll the text"


def test_all_texts_that_are_no_attachments_are_read(read: Read) -> None:
    mail = EmailMessage()
    mail["Subject"] = "x"
    mail.set_content("first")
    mail.add_alternative("<p>the same as a page", subtype="html")
    mail.make_mixed()
    mail.add_attachment(b"\x89PNG", "image", "png", filename="map.png", disposition="inline")
    mail.add_attachment("second", disposition="inline")
    mail.add_attachment("<p>third", subtype="html", disposition="inline")
    mail.add_attachment("not read", filename="notes.txt")
    text = read("a.eml", bytes(mail)).text
    assert text == "Subject: x\n\nfirst\n\nsecond\n\nthird\n\nAttachments: map.png, notes.txt"


def test_a_text_of_another_kind_is_read_as_it_is(read: Read) -> None:
    raw = b"Subject: x\nContent-Type: text/markdown; name=a.md\n\n# Heading"
    assert read("a.eml", raw).text.startswith("Subject: x\n\n# Heading")


@pytest.mark.parametrize(
    "header", ["Date: Sat, 01 Mar 99999999999999999999 11:00:00 +0100", "To: " + "(" * 3_000]
)
def test_a_header_that_nobody_can_read_costs_only_itself(read: Read, header: str) -> None:
    assert read("a.eml", f"Subject: x\n{header}\n\nthe body".encode()).text.endswith("the body")


def test_mails_in_utf_7_are_read(read: Read) -> None:
    for kind in ("plain", "html"):
        raw = f"Subject: x\nContent-Type: text/{kind}; charset=utf-7\n\nGr+APwA3w-e +2AA- b"
        blanks = "  " if kind == "plain" else " "
        assert read("a.eml", raw).text == f"Subject: x\n\nGrüße{blanks}b"


OUTLOOK_HEADERS = (
    "From: Ana Ruíz <ana@a.example>\r\nTo: Bo <bo@a.example>\r\n"
    "Date: Sat, 01 Mar 2025 11:00:00 +0100\r\n"
    "Message-ID: <2@a.example>\r\nReferences: <1@a.example>\r\n\r\n"
)
TEXTS = {0x0037: "Gärten", 0x1000: "We take thirty.\r\n> Our offer\r\n", 0x007D: OUTLOOK_HEADERS}


def test_a_message_is_read_like_an_email(read: Read) -> None:
    data = outlook_message(TEXTS, {"offer.txt": b"Forty pumps"}, {"Bo": "bo@a.example"})
    extracted = read("a.msg", data)
    assert extracted.text == (
        "From: Ana Ruíz <ana@a.example>\nTo: Bo <bo@a.example>\n"
        "Date: Sat, 01 Mar 2025 11:00:00 +0100\nSubject: Gärten\n\nWe take thirty.\n\n"
        "Attachments: offer.txt\n\nQuoted text\nOur offer"
    )
    assert extracted.title == "Gärten"
    assert extracted.metadata == {
        "author": "Ana Ruíz <ana@a.example>",
        "message_id": "2@a.example",
        "thread": "1@a.example",
        "recipients": ["bo@a.example"],
    }
    assert [(each.name, each.read()) for each in extracted.members] == [
        ("offer.txt", b"Forty pumps")
    ]


def test_a_picture_that_a_message_shows_is_no_attachment(read: Read) -> None:
    files = dict.fromkeys(("logo.png", "hidden.png", "shown.png"), b"picture")
    data = outlook_message(
        TEXTS, files, {}, shown=["logo.png", "shown.png"], hidden=["logo.png", "hidden.png"]
    )
    extracted = read("a.msg", data)
    assert "Attachments: hidden.png, shown.png\n" in extracted.text
    assert [each.name for each in extracted.members] == ["hidden.png", "shown.png"]


def test_a_draft_has_no_headers_of_its_way(read: Read) -> None:
    data = outlook_message({0x0037: "Draft", 0x1000: "text"}, {}, {"Bo": "bo@a.example"})
    assert read("a.msg", data).text == "To: Bo <bo@a.example>\nSubject: Draft\n\ntext"


@pytest.mark.parametrize("share", [0.4, 0.6, 0.9])
def test_a_truncated_message_is_damaged(read: Read, share: float) -> None:
    data = outlook_message(TEXTS, {"offer.txt": b"Forty pumps" * 200}, {})
    with pytest.raises(SourceFileError, match=r"is a damaged message of Outlook|is binary"):
        read("a.msg", data[: int(len(data) * share)])


@pytest.mark.parametrize(
    ("text", "own", "quoted"),
    [
        ("Yes.\n\n> A?\n> B?\n", "Yes.\n\n", "A?\nB?"),
        ("> A?\n\nYes.\n> B?\nNo.", "\n\nYes.\n\nNo.", "A?\nB?"),
        (
            "Ja.\n\nAm 1.3.2025 um 10:00 schrieb Bo:\n\n> A?\n>> B?",
            "Ja.\n",
            "Am 1.3.2025 um 10:00 schrieb Bo:\nA?",
        ),
        (
            "Yes.\n-----Original Message-----\nFrom: Bo\nSent: today\nSubject: A\n\nA?",
            "Yes.",
            "From: Bo\nSent: today\nSubject: A\n\nA?",
        ),
        ("> only\n> quoted", "> only\n> quoted", ""),
        ("A\n-----\nB", "A\n-----\nB", ""),
        ("no quotation", "no quotation", ""),
    ],
)
def test_quotations_are_set_apart(text: str, own: str, quoted: str) -> None:
    assert quoted_apart(text) == (own, quoted)
