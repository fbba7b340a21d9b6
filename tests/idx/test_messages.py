"""Messages and what comes with them, as people have them, through the command line."""

import base64
import binascii
import shutil
import struct
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, pkcs7

from tests.conftest import Idx
from tests.idx.containers.compound_file import attached_message, outlook_message
from tests.idx.files import ids, sync, text_of

FILES = Path(__file__).parents[1] / "data" / "messages"


class Papers:
    """A folder that is synchronized and searched."""

    def __init__(self, idx: Idx, index: Path, folder: Path) -> None:
        self.idx = idx
        self.index = index
        self.folder = folder
        folder.mkdir()

    def read(self, files: Mapping[str, bytes | str], *given: str, code: int = 0) -> None:
        """Synchronize files with their contents, and some of those that others have made."""
        for name, content in files.items():
            data = content if isinstance(content, bytes) else content.encode()
            (self.folder / name).write_bytes(data)
        for name in given:
            shutil.copy(FILES / name, self.folder)
        sync(self.idx, "papers", code=code)

    def text(self, name: str) -> str:
        return text_of(self.index, name)

    def found(self, query: str) -> list[str]:
        answer = self.idx.json("search", query, "--operator", "and")
        return [hit["source_document"] for hit in answer["results"]]

    def reasons(self) -> dict[str, str]:
        failures = self.idx.json("failures")["failures"]
        return {each["source_document"]: each["reason"] for each in failures}

    def titles(self) -> set[str]:
        return {each["title"] for each in self.idx.json("list")["documents"]}


@pytest.fixture
def papers(idx: Idx, empty_index: Path, tmp_path: Path) -> Papers:
    return Papers(idx, empty_index, tmp_path / "papers")


def body_of(text: str) -> str:
    return text.partition("\n\n")[2]


def test_messages_of_outlook_lose_no_letter_to_their_encoding(papers: Papers) -> None:
    papers.read(
        {},
        "umlaut-sender.msg",
        "html-1252-badbyte.msg",
        "html-ascii-20127.msg",
        "html-big5-950.msg",
    )
    assert papers.text("umlaut-sender.msg").splitlines()[:3] == [
        "From: Jürgen Müller <jm@example.org>",
        "To: Zoë Öztürk <zo@example.org>",
        "Cc: René <r@example.org>",
    ]
    assert papers.found("öztürk") == ["umlaut-sender.msg"]
    assert body_of(papers.text("html-1252-badbyte.msg")) == "Wir kündigen zum Quartal"
    assert body_of(papers.text("html-ascii-20127.msg")) == "Wir kündigen zum Quartal"
    assert body_of(papers.text("html-big5-950.msg")) == "合約附件已寄出"
    assert papers.found("附件") == ["html-big5-950.msg"]


def test_headers_with_a_blank_before_the_colon_are_headers(papers: Papers) -> None:
    mail = "From : Ana <ana@a.example>\nSubject\t: Pumps\nX-A: 1\n\nWe take thirty : all\n"
    mailbox = f"From ana@a.example Sat Mar  1 10:00:00 2025\nMessage-ID : <1@a.example>\n{mail}\n"
    papers.read({"a.eml": mail, "letter": f"Received : x\n{mail}", "box": mailbox * 2})
    text = "From: Ana <ana@a.example>\nSubject: Pumps\n\nWe take thirty : all"
    for name in ("a.eml", "letter", "box!/1@a.example", "box!/1@a (2).example"):
        assert papers.text(name) == text


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_messages_in_utf_16_or_with_a_byte_order_mark_are_read(
    papers: Papers, encoding: str
) -> None:
    # As PowerShell saves them, whatever they declare.
    kind = "Subject: Gärten\nContent-Type: text/plain; charset="
    files = {
        "a.eml": f"{kind}utf-8\n\nGrüße",
        "b.eml": f"{kind}latin-1\nContent-Transfer-Encoding: quoted-printable\n\nGr=FC=DFe",
    }
    if encoding != "utf-8-sig":
        files["c.eml"] = f"{kind}latin-1\n\nGrüße"
    papers.read({name: text.encode(encoding) for name, text in files.items()})
    for name in files:
        assert papers.text(name) == "Subject: Gärten\n\nGrüße"


def test_a_boundary_with_an_equals_sign_needs_no_quotation_marks(papers: Papers) -> None:
    parts = "".join(
        f"------=_Next\nContent-Type: text/{kind}\n\n{text}\n"
        for kind, text in (("plain", "Forty pumps"), ("html", "<p>Forty pumps"))
    )
    kind = "Content-Type: multipart/alternative; boundary=----=_Next; charset=utf-8"
    papers.read({"a.eml": f"Subject: x\n{kind}\n\nIn parts.\n\n{parts}------=_Next--\n"})
    assert papers.text("a.eml") == "Subject: x\n\nForty pumps"


def test_messages_attached_to_a_message_of_outlook_are_read(papers: Papers) -> None:
    within = attached_message({0x37: "Pumps", 0x1000: "We take thirty."})
    an_object = {"CONTENTS": b"cells of a sheet"}
    data = outlook_message(
        {0x37: "Fwd", 0x1000: "See below."}, {"a.txt": b"Wells"}, {}, messages=[within, an_object]
    )
    papers.read({"a.msg": data})
    assert papers.text("a.msg!/message 2") == "Subject: Pumps\n\nWe take thirty."
    assert ids(papers.index) == ["a.msg", "a.msg!/a.txt", "a.msg!/message 2"]
    assert papers.reasons() == {"a.msg": "1 attached objects of Outlook are not read"}


def attribute(number: int, value: bytes) -> bytes:
    """An attribute of a winmail.dat ([MS-OXTNEF])."""
    return struct.pack("<BII", 2, number, len(value)) + value + bytes(2)


def listed(number: int, kind: int, value: bytes) -> bytes:
    """A property in an attribute with properties."""
    return struct.pack("<HHII", kind, number, 1, len(value)) + value + bytes(-len(value) % 4)


def test_files_in_a_winmail_dat_are_attachments(papers: Papers) -> None:
    named = listed(0x3707, 0x1F, "Pläne.txt\0".encode("utf-16-le"))
    attachments = [
        (0x18010, "Größe.txt\0".encode("cp1252")), (0x6800F, b"Forty pumps"),
        (0x6800F, b"Ten wells"), (0x18010, b"PLNE~1.TXT\0"), (0x69005, named),
        (0x6800F, b"This message is not supported."), (0x69005, listed(0x3701, 0xD, bytes(16))),
    ]  # fmt: skip
    data = b"\x78\x9f\x3e\x22\1\0" + attribute(0x69007, struct.pack("<II", 1252, 0))
    for place, (number, value) in enumerate(attachments):
        data += attribute(0x69002, bytes(14)) * (place in (0, 2, 5)) + attribute(number, value)
    mail = EmailMessage()
    mail["Subject"] = "Plans"
    mail.set_content("See below.")
    mail.add_attachment(data, "application", "ms-tnef", filename="winmail.dat")
    papers.read({"a.eml": mail.as_bytes(), "cut.dat": data[:-20], "stub.dat": data[:8]})
    assert papers.text("a.eml!/winmail.dat") == "Attachments: Größe.txt, Pläne.txt"
    assert papers.text("a.eml!/winmail.dat!/Größe.txt") == "Forty pumps"
    assert papers.found("wells") == ["a.eml!/winmail.dat!/Pläne.txt", "cut.dat!/Pläne.txt"]
    assert papers.reasons()["a.eml!/winmail.dat"] == (
        "winmail.dat: 1 attached messages or objects of Outlook are not read"
    )


CODE_PAGES = {
    874: ("cp874", "สัญญาเช่าบ้าน"),
    932: ("cp932", "契約①の解除"),
    936: ("gbk", "合同附件镕已发"),
    949: ("cp949", "임대차 계약의 해지 똠"),
    950: ("cp950", "合約附件已寄出"),
    1251: ("cp1251", "Договор аренды"),
    1255: ("cp1255", "חוזה שכירות"),
    20127: ("cp1252", "Wir kündigen für Größe"),
    20866: ("koi8-r", "Договор аренды"),
    28591: ("cp1252", "Miete: 5 € für März"),
    38598: ("iso8859-8", "חוזה שכירות"),
    50220: ("iso2022_jp", "契約の解除"),
    50225: ("iso2022_kr", "임대차 계약"),
    51932: ("euc_jp", "契約の解除"),
    54936: ("gb18030", "合同附件已发㐀"),
    65001: ("utf-8", "Straße, 5 €"),
    4711: ("utf-8", "Straße in Köln"),
}


def test_a_body_of_outlook_is_read_by_its_code_page(papers: Papers) -> None:
    files = {}
    for code_page, (encoding, text) in CODE_PAGES.items():
        page = f"<html><body><p>{text}</p></body></html>".encode(encoding)
        plain = f"{text}\r\n".encode(encoding)
        numbers = {0x3FDE: code_page, 0x3FFD: code_page}
        for name, part in (("page", ((0x1013, 0x102), page)), ("plain", ((0x1000, 0x1E), plain))):
            data = outlook_message({0x37: "x"}, {}, {}, numbers, dict([part]))
            files[f"{name}-{code_page}.msg"] = data
    papers.read(files)
    for code_page, (_, text) in CODE_PAGES.items():
        page_text = body_of(papers.text(f"page-{code_page}.msg"))
        assert text.partition("①")[0] in page_text
        assert body_of(papers.text(f"plain-{code_page}.msg")) == page_text


BAD_BYTES = {
    "cp950": (950, b"\xff", "合同附件已"),
    "gbk": (936, b"\xff", "合同附件已"),
    "cp1251": (1251, b"\x98", "Договор аренды"),
    "utf-8": (65001, b"\xc3", "合同附件已"),
}


def test_a_bad_byte_costs_a_letter(papers: Papers) -> None:
    files = {}
    for encoding, (number, bad, text) in BAD_BYTES.items():
        body = text.encode(encoding) + b" " + bad + b" " + text.encode(encoding)
        headers = f"Subject: x\nContent-Type: text/plain; charset={encoding}\n\n".encode()
        files[f"{encoding}.eml"] = headers + body
        files[f"{encoding}.msg"] = outlook_message(
            {0x37: "x"}, {}, {}, {0x3FDE: number}, {(0x1013, 0x102): body}
        )
    papers.read(files)
    for name in files:
        assert papers.text(name).count(BAD_BYTES[name[:-4]][2]) == 2, name


def test_words_of_rfc_2047_are_decoded_wherever_they_stand(papers: Papers) -> None:
    # "一二三四五" with the fourth letter divided between the words.
    divided = "=?utf-8?B?5LiA5LqM5LiJ5Zs=?=\r\n =?utf-8?B?m+S6lA==?="
    headers = f"From: =?utf-8?Q?J=C3=BCrgen?= <a@a.example>\r\nTo: {divided} <b@a.example>\r\n\r\n"
    texts = {0x37: "=?iso-8859-1?Q?Gr=F6=DFe_und?= =?iso-8859-1?Q?_M=FChe?=", 0x7D: headers}
    name = "=?utf-8?Q?Kostenvoranschl=C3?= =?utf-8?Q?=A4ge.txt?="
    sender = {0x37: "x", 0x0C1A: "=?koi8-r?B?9MXT1A==?=", 0x0C1F: "t@a.example"}
    papers.read(
        {
            "a.msg": outlook_message(texts, {name: b"Forty pumps"}, {}),
            "b.msg": outlook_message(sender, {}, {"=?gb2312?B?uf6ZgA==?=": "h@a.example"}),
            "c.eml": f"{headers[:-2]}Subject: =?windows-950?B?pKSk5Q==?=\r\n"
            f'Content-Type: text/plain; name="{name}"\r\nContent-Disposition: attachment;\r\n '
            "filename*0*=utf-8''Vertr%C3;\r\n filename*1*=%A4ge.txt\r\n\r\nForty pumps",
        }
    )
    assert papers.text("a.msg") == (
        "From: Jürgen <a@a.example>\nTo: 一二三四五 <b@a.example>\nSubject: Größe und Mühe\n\n"
        "Attachments: Kostenvoranschläge.txt"
    )
    assert papers.text("b.msg").splitlines()[:2] == [
        'From: "Тест" <t@a.example>',
        "To: 哈檧 <h@a.example>",
    ]
    assert "To: 一二三四五 <b@a.example>\nSubject: 中文\n" in papers.text("c.eml")
    assert {"a.msg!/Kostenvoranschläge.txt", "c.eml!/Verträge.txt"} <= set(ids(papers.index))


def test_a_message_in_rich_text_alone_is_read(papers: Papers) -> None:
    # The first text is that of Microsoft's own description, the others are not compressed.
    packed = bytes.fromhex(
        "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c09002062"
        "7705b06c647d0a800fa0"
    )
    umlaut = rb"{\rtf1\ansi\ansicpg1252 Wir k\'fcndigen zum Quartal}"
    page = (
        rb"{\rtf1\ansi\ansicpg1252\fromhtml1{\*\htmltag64 <p>}\htmlrtf {\htmlrtf0 The well is deep"
        rb"{\*\htmltag72 </p>}\htmlrtf\par}\htmlrtf0 }"
    )

    def stored(data: bytes) -> bytes:
        sizes = (len(data) + 12).to_bytes(4, "little") + len(data).to_bytes(4, "little")
        return sizes + b"MELA\0\0\0\0" + data

    texts = {"a": packed, "b": stored(umlaut), "c": stored(page), "broken": packed[:20], "d": b"x"}
    papers.read(
        {
            f"{name}.msg": outlook_message({0x37: "x"}, {}, {}, {}, {(0x1009, 0x102): data})
            for name, data in texts.items()
        }
    )
    assert body_of(papers.text("a.msg")) == "hello world"
    assert body_of(papers.text("b.msg")) == "Wir kündigen zum Quartal"
    assert body_of(papers.text("c.msg")) == "The well is deep"
    assert {"broken.msg", "d.msg"} <= set(ids(papers.index))
    assert "Rich Text is damaged" in papers.reasons()["d.msg"]


HEADERS = {
    "cp1252": "Kündigung der Größe und Übergabe",
    "utf-8": "Kündigung und Übergabe",
    "cp1251": "Договор аренды квартиры",
    "gbk": "关于合同附件的通知",
    "euc_kr": "임대차 계약의 해지 통지",
}


@pytest.mark.parametrize("is_declared", [True, False])
def test_bytes_in_headers_are_letters(papers: Papers, is_declared: bool) -> None:
    files = {}
    for encoding, text in HEADERS.items():
        declared = f'Content-Type: text/plain; charset="{encoding}"\n' if is_declared else ""
        raw = f"From: {text} <a@a.example>\nSubject: {text}\n{declared}\n{text}, {text}."
        named = (
            f"Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\n{declared}\n{text}\n"
            f'--b\nContent-Disposition: attachment; filename="{text}.txt"\n\nForty pumps\n--b--\n'
        )
        files[f"{encoding}.eml"] = raw.encode(encoding)
        files[f"{encoding}-named.eml"] = named.encode(encoding)
    papers.read(files)
    for encoding, text in HEADERS.items():
        assert papers.text(f"{encoding}.eml") == (
            f"From: {text} <a@a.example>\nSubject: {text}\n\n{text}, {text}."
        )
        assert f"{encoding}-named.eml!/{text}.txt" in ids(papers.index)


def with_forms(plain: str, page: str, *others: tuple[str, str]) -> bytes:
    mail = EmailMessage()
    mail["Subject"] = "x"
    mail.set_content(plain)
    mail.add_alternative(page, subtype="html")
    for subtype, text in others:
        mail.add_alternative(text, subtype=subtype)
    return mail.as_bytes()


RICH = (
    "<h1>Jahresabrechnung 2023</h1><p>Der neue Abschlag beträgt 84 Euro ab April. Die Kundennummer "
    "ist 77-4412-A. Wir haben Ihren Zählerstand geschätzt, weil niemand zu Hause war.</p>"
)


STUBS = (
    "Ihr E-Mail-Programm kann keine HTML-Nachrichten anzeigen.",
    "Please view this message in a browser: https://t.example/c/eJxVjkEOgyAQRU8zOwmCYl2waJP2HuOA",
    "https://t.example/c/eJxVjkEOgyAQRU8zOwmCYl2waJP2HuOA-this-link-is-only-here-to-be-followed",
    "这封邮件请在浏览器中查看",
    "",
)


def test_a_plain_text_that_says_nothing_gives_way_and_another_one_stays(papers: Papers) -> None:
    amp = ("x-amp-html", "<!doctype html><html ⚡4email><p>" + "one two three four " * 50)
    files = {f"{number}.eml": with_forms(stub, RICH, amp) for number, stub in enumerate(STUBS)}
    said = {"long.eml": "Der neue Abschlag gilt ab April. " * 4, "short.eml": "Bis morgen!\nAna"}
    for name, plain in said.items():
        page = "<p>" + plain.replace("\n", "<br>") + "<p>By Mailer"
        files[name] = with_forms(plain, page)
    papers.read(files)
    for number, _ in enumerate(STUBS):
        assert "Der neue Abschlag beträgt 84 Euro" in papers.text(f"{number}.eml")
        assert "three four" not in papers.text(f"{number}.eml")
    for name, plain in said.items():
        assert body_of(papers.text(name)) == plain.strip()


MEETING = (
    "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nSUMMARY:Quartalsrunde\r\n"
    "LOCATION:Raum Zugspitze\r\nDTSTART:20240412T100000Z\r\n"
    "ORGANIZER;CN=Ana Ruíz:mailto:ana@a.example\r\nDESCRIPTION:Budget der Turbinenhalle\r\n"
    "END:VEVENT\r\nEND:VCALENDAR\r\n"
)


def test_invitations_are_read(papers: Papers) -> None:
    attached = EmailMessage()
    attached["Subject"] = "x"
    attached.set_content("Siehe Anhang.")
    attached.add_attachment(MEETING.encode(), "application", "ics", filename="invite.ics")
    alone = EmailMessage()
    alone["Subject"] = "x"
    alone.set_content(MEETING, subtype="calendar")
    papers.read(
        {
            "outlook.eml": with_forms(
                "Siehe Kalender.", "<p>Siehe Kalender.", ("calendar", MEETING)
            ),
            "attached.eml": attached.as_bytes(),
            "alone.eml": alone.as_bytes(),
        },
        "invitation.eml",
    )
    assert "Location: Besprechungsraum Zugspitze" in papers.text("invitation.eml")
    assert body_of(papers.text("outlook.eml")) == (
        "Siehe Kalender.\n\nQuartalsrunde\nLocation: Raum Zugspitze\nBegins: 2024-04-12 10:00 UTC\n"
        "Organizer: Ana Ruíz <ana@a.example>\nBudget der Turbinenhalle"
    )
    assert set(papers.found("Zugspitze Turbinenhalle")) == {
        "alone.eml", "attached.eml!/invite.ics", "invitation.eml", "outlook.eml",
    }  # fmt: skip


def related(page: bytes, subtype: str = "html", **headers: str) -> bytes:
    mail = EmailMessage()
    mail["From"] = "<Saved by Blink>"
    mail["Subject"] = "A page"
    for name, value in headers.items():
        mail[name] = value
    mail.set_content(page, "text", subtype, cte="quoted-printable")
    mail.add_related(b"\x89PNG\r\n\x1a\n" * 50, "image", "png", cid="<1>")
    return mail.as_bytes()


def test_saved_pages_are_read(papers: Papers) -> None:
    word = (
        b'MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="b"\r\n\r\nThis is '
        b"a Single File Web Page.\r\n\r\n--b\r\nContent-Location: file:///C:/1/page.htm\r\n"
        b'Content-Transfer-Encoding: quoted-printable\r\nContent-Type: text/html; charset="windows-'
        b'1252"\r\n\r\n<html><title>Lease</title><p>Die K=FCndigung</p></html>\r\n--b--\r\n'
    )
    frames = related(b"<title>Frames</title><frameset><frame src=cid:2></frameset>")
    frames = frames.replace(
        b"Content-Type: image/png", b"Content-Type: text/html; charset=utf-8", 1
    ).replace(base64.encodebytes(b"\x89PNG\r\n\x1a\n" * 50), base64.encodebytes(b"<p>Inside</p>"))
    papers.read(
        {"ie.mht": word, "report.doc": word, "sheet.xls": word, "frames.mhtml": frames},
        "mietminderung.mhtml",
    )
    for name in ("ie.mht", "report.doc", "sheet.xls"):
        assert papers.text(name) == "Die Kündigung"
    assert papers.text("frames.mhtml") == "Inside"
    assert papers.found("Kläranlagenverordnung Übergabeprotokoll") == ["mietminderung.mhtml"]
    assert "AAECAwQF" not in papers.text("mietminderung.mhtml")
    assert {"Lease", "Mietminderung bei Schimmel", "Frames"} <= papers.titles()


def test_messages_of_apple_mail_are_read(papers: Papers) -> None:
    mail = "Subject: x\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nGrüße aus Köln".encode()
    plist = (
        b'<?xml version="1.0" encoding="UTF-8"?>\n<plist><dict><key>flags</key></dict></plist>\n'
    )
    papers.read(
        {
            "1.emlx": f"{len(mail)}\n".encode() + mail + plist,
            "2.partial.emlx": f"{len(mail)}      \n".encode() + mail + plist,
            "3.emlx": mail,
        },
        "12345.emlx",
    )
    for name in ("1.emlx", "2.partial.emlx", "3.emlx"):
        assert papers.text(name) == "Subject: x\n\nGrüße aus Köln"
    assert papers.found("Kostenvoranschlag Kellertür Schlosser") == ["12345.emlx"]
    assert "plist" not in papers.text("12345.emlx")


def test_what_other_programs_save_under_names_of_office_is_read(papers: Papers) -> None:
    row = "<tr><td>10023</td><td>M&uuml;ller</td></tr>"
    tabs = "Nr\tKunde\n10023\tMüller\n10024\tGrödel\n"
    rows = "Nr | Kunde\nNr: 10023 | Kunde: Müller\nNr: 10024 | Kunde: Grödel\n"
    table = f"<table><tr><th>Nr</th><th>Kunde</th></tr>{row}</table>"
    files: dict[str, tuple[bytes | str, str]] = {
        "table.xls": (table, "Nr | Kunde\n10023 | Müller"),
        "meta.xls": (f"<meta charset=utf-8><style>td{{}}</style><table>{row}", "10023 | Müller"),
        "letter.doc": ("<p class=MsoNormal>Wir k&uuml;ndigen</p>", "Wir kündigen"),
        "tabs.xls": (tabs.encode("utf-16"), rows),
        "commas.xlsx": (tabs.replace("\t", ";").encode("cp1252"), rows),
        "note.doc": ("Wir kündigen; bald.\n", "Wir kündigen; bald.\n"),
    }
    papers.read({name: data for name, (data, _) in files.items()}, "umsatz-div.xls")
    for name, (_, text) in files.items():
        assert papers.text(name) == text
    assert "10024 | Straßenbau Grödel | 980,00" in papers.text("umsatz-div.xls")


@pytest.fixture(scope="module")
def signer() -> tuple[x509.Certificate, rsa.RSAPrivateKey]:
    key = rsa.generate_private_key(65537, 2048)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256()),
        key,
    )


def test_what_is_signed_is_read(
    papers: Papers, signer: tuple[x509.Certificate, rsa.RSAPrivateKey]
) -> None:
    certificate, key = signer

    def signed(data: bytes) -> pkcs7.PKCS7SignatureBuilder:
        builder = pkcs7.PKCS7SignatureBuilder().set_data(data)
        return builder.add_signer(certificate, key, hashes.SHA256())

    part = b"Content-Type: text/plain; charset=utf-8\r\n\r\nDie Rohre kommen am Dienstag."
    opaque = signed(part).sign(Encoding.DER, [pkcs7.PKCS7Options.Binary])
    encrypted = (
        pkcs7.PKCS7EnvelopeBuilder()
        .set_data(part)
        .add_recipient(certificate)
        .encrypt(Encoding.DER, [])
    )

    def mail(data: bytes) -> bytes:
        return (
            b"Subject: Lieferung\nContent-Type: application/pkcs7-mime; name=smime.p7m\n"
            b"Content-Transfer-Encoding: base64\n\n" + base64.encodebytes(data)
        )

    attached = EmailMessage()
    attached["Subject"] = "Rechnung"
    attached.set_content("Siehe Anhang.")
    for name, data in (("invoice.html.p7m", b"<html><p>Invoice 17"), ("locked.txt.p7m", b"")):
        packed = signed(data).sign(Encoding.DER, [pkcs7.PKCS7Options.Binary]) if data else encrypted
        attached.add_attachment(packed, "application", "pkcs7-mime", filename=name)
    clear = signed(part).sign(Encoding.SMIME, [pkcs7.PKCS7Options.DetachedSignature])
    invoice = signed(b"<html><p>Invoice 17").sign(Encoding.DER, [pkcs7.PKCS7Options.Binary])
    papers.read(
        {
            "opaque.eml": mail(opaque),
            "clear.eml": b"Subject: Lieferung\n" + clear,
            "twice.eml": mail(signed(mail(opaque)).sign(Encoding.DER, [pkcs7.PKCS7Options.Binary])),
            "smime.p7m": opaque,
            "pem.p7m": base64.encodebytes(opaque),
            "invoice.html.p7m": invoice,
            "locked.eml": mail(encrypted),
            "locked.p7m": encrypted,
            "broken.eml": mail(opaque[:300]),
            "attached.eml": attached.as_bytes(),
        },
        "opaque-signed.eml",
        code=1,
    )
    assert body_of(papers.text("opaque-signed.eml")) == (
        "Die Lieferung der Rohrschellen erfolgt am Montag."
    )
    for name in ("opaque.eml", "clear.eml", "twice.eml"):
        assert papers.text(name) == "Subject: Lieferung\n\nDie Rohre kommen am Dienstag."
    assert "Die Rohre kommen am Dienstag." in papers.text("smime.p7m")
    assert "Die Rohre kommen am Dienstag." in papers.text("pem.p7m")
    assert papers.text("invoice.html.p7m") == "Invoice 17"
    assert papers.text("attached.eml!/invoice.html.p7m") == "Invoice 17"
    assert papers.text("locked.eml") == "Subject: Lieferung"
    reasons = papers.reasons()
    assert "is encrypted" in reasons["locked.eml"]
    assert "is encrypted" in reasons["locked.p7m"]
    assert "is encrypted" in reasons["attached.eml!/locked.txt.p7m"]
    assert not {"opaque.eml", "clear.eml", "locked.eml!/smime.p7m"} & reasons.keys()


def test_entries_broken_within_a_letter_are_whole(papers: Papers) -> None:
    title = "SUMMARY:Übergabe der Wohnung in Köln, Größe"
    folded = b"".join(byte.to_bytes() + b"\r\n " for byte in title.encode())
    event = b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n" + folded + b"\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    wide = event.replace(folded, title.encode()).decode().replace("der", "d\r\n er")
    cards = b"BEGIN:VCARD\r\nVERSION:4.0\r\nFN:J\xc3\r\n \xbcrgen\r\nEND:VCARD\r\n"
    papers.read({"a.ics": event, "b.ics": wide.encode("utf-16"), "c.vcf": cards}, "uebergabe.ics")
    assert papers.text("a.ics") == title.removeprefix("SUMMARY:")
    assert papers.text("b.ics") == title.removeprefix("SUMMARY:")
    assert papers.text("c.vcf") == "Jürgen"
    assert papers.found("Übergabeprotokoll Zählerstände") == ["uebergabe.ics"]


def test_cards_have_the_names_of_people(papers: Papers) -> None:
    quoted = "ENCODING=QUOTED-PRINTABLE"
    cards = {
        "Jürgen Müller": f"2.1\nN;CHARSET=ISO-8859-1;{quoted}:M=FCller;J=\n=FCrgen",
        "太郎 山田": f"2.1\nN;CHARSET=SHIFT_JIS;{quoted}:=8ER=93c;=91=BE=98Y;;;",
        "Dr. Ana María Ruíz, y Gil MBA": "3.0\nFN:\nN:Ruíz\\, y Gil;Ana;María;Dr.;MBA",
        "Ayşe Öztürk": "4.0\nitem1.N:Öztürk;Ayşe;;;",
        "Johnny Doe": "3.0\nN:Doe;John;;;\nFN:Johnny Doe",
    }
    files = {
        f"{name}.vcf": f"BEGIN:VCARD\nVERSION:{card}\nTEL:123\nEND:VCARD\n".replace("\n", "\r\n")
        for name, card in cards.items()
    }
    papers.read(files, "kontakte.vcf")
    for name in cards:
        assert papers.text(f"{name}.vcf") == f"{name}\nTelephone: 123"
    assert papers.text("kontakte.vcf").splitlines()[::2] == [
        "Testina Contacts",
        "",
        "Telephone: +49 170 5550123",
    ]
    assert {"Jürgen Müller", "Ayşe Öztürk"} <= papers.titles()


def test_files_written_in_a_text_are_attachments(papers: Papers) -> None:
    data = b"The well is deep, and the rent is due.\n" * 5

    def lines(strip: bool = False) -> bytes:
        pieces = [binascii.b2a_uu(data[at : at + 45]) for at in range(0, len(data), 45)]
        return b"".join(piece.rstrip() + b"\n" if strip else piece for piece in pieces)

    before = b"Subject: x\n\nHere it is.\nbegin 644 well.txt\n"
    papers.read(
        {
            "a.eml": before + lines() + b"`\nend\nBye\n",
            "b.eml": before + lines(strip=True) + b"\nend\n",
            "c.eml": (before + lines() + b"`\nend\n").replace(b"\n", b"\r\n") * 1,
            "d.eml": b"Subject: x\nContent-Transfer-Encoding: x-uuencode\n\n"
            b"begin 644 t\n" + lines() + b"`\nend\n",
            "cut.eml": before + lines(),
            "e.eml": b"Subject: x\n\nWe begin 644 things\nand end here\n",
        }
    )
    assert body_of(papers.text("a.eml")) == "Here it is.\nBye\n\nAttachments: well.txt"
    assert body_of(papers.text("e.eml")) == "We begin 644 things\nand end here"
    for name in ("cut.eml!/well.txt", "a.eml!/well.txt", "b.eml!/well.txt", "c.eml!/well.txt"):
        assert papers.text(name) == data.decode()
    assert papers.text("d.eml").count("The well is deep") == 5
