"""A table of documents that mean harm: each is read or refused, and reaches nothing beyond it."""

import socket
import zlib
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.conftest import Idx
from tests.idx.extraction.pdf_files import pdf
from tests.idx.extraction.test_damage import BOMB
from tests.idx.files import events, ids, make, zipped
from tests.idx.markup.test_html import CONTAINER
from tests.idx.office.packages import TRANSITIONAL, package, paragraph, relationships

pytestmark = pytest.mark.soak

HIDDEN: Final = "marmalade"  # said by a file beside the folder, which no document may show

OFFICE: Final = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
TEXT: Final = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"


class Beyond(NamedTuple):
    """What documents try to reach."""

    file: Path
    url: str


def docx(
    body: str, *, before: str = "", target: str = "word/document.xml", **more: str | bytes
) -> bytes:
    parts: dict[str, str | bytes] = {
        "word/document.xml": f"{before}<w:document NS><w:body>{body}</w:body></w:document>",
        "_rels/.rels": relationships(TRANSITIONAL, officeDocument=target),
    }
    return package("word/document.xml", parts | more)


def odt(body: str, *, before: str = "", **more: str) -> bytes:
    content = (
        f'{before}<office:document-content xmlns:office="{OFFICE}" xmlns:text="{TEXT}" '
        'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:xi="http://www.w3.org/2001/XInclude">'
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    parts = {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content}
    return zipped(**(parts | more))


def epub(*, href: str = "one.xhtml", container: str = CONTAINER, **more: str) -> bytes:
    book = (
        '<package xmlns="http://www.idpf.org/2007/opf"><manifest>'
        f'<item id="a" href="{href}" media-type="application/xhtml+xml"/>'
        '<item id="b" href="two.xhtml" media-type="application/xhtml+xml"/>'
        '</manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>'
    )
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": container,
        "OEBPS/book.opf": book,
        "OEBPS/two.xhtml": "<p>needle</p>",
    }
    return zipped(**(parts | more))


def stream(content: bytes, more: bytes = b"") -> bytes:
    packed = zlib.compress(content, 9)
    return b"<</Filter/FlateDecode/Length %d%b>>stream\n%b\nendstream" % (len(packed), more, packed)


PAGE: Final = (
    b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R"
    b"/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>"
)
PAGES: Final = b"<</Type/Pages/Kids[3 0 R]/Count 1>>"
SHOWN: Final = b"BT /F1 12 Tf 20 100 Td (needle) Tj ET"


def one_page(
    *contents: bytes, catalogue: bytes = b"", pages: bytes = PAGES, page: bytes = PAGE
) -> bytes:
    """A PDF of a page with contents, which may refer to further objects."""
    shown = contents or (stream(SHOWN),)
    return pdf(b"<</Pages 2 0 R%b>>" % catalogue, pages, page, *shown)


def entity(beyond: Beyond, at: str) -> str:
    return f'<!DOCTYPE x [<!ENTITY e SYSTEM "{at or beyond.file.as_uri()}">]>'


class Attack(NamedTuple):
    """A file, and what becomes of it."""

    name: str
    content: str | bytes
    reason: str | None = None


def attacks(beyond: Beyond) -> tuple[Attack, ...]:
    return (
        # What unpacks to very much.
        Attack("bomb.docx", docx(paragraph(" " * 150_000_000)), "unpacks to more than 100 MB"),
        Attack("bomb.odt", odt(" " * 150_000_000), "unpacks to more than 100 MB"),
        Attack("bomb.epub", epub(**{"OEBPS/one.xhtml": "<p>" * 100_000_000}), "unpacks to"),
        Attack(
            "bomb in bomb.odt",
            zipped(
                mimetype=b"application/vnd.oasis.opendocument.text",
                **{"content.xml": b"<x>needle</x>", "a.zip": zipped(b="0" * 10**8)},
            ),
        ),
        Attack("bomb.pdf", one_page(stream(SHOWN + b" " * 150_000_000))),
        Attack("bomb of text.pdf", one_page(stream(SHOWN * 2_000_000)), "memory"),
        Attack(
            "many entries.docx", docx(paragraph("needle"), **{f"{n}": "" for n in range(60_000)})
        ),
        # Entities, and documents that include others.
        Attack(
            "laughs.docx",
            docx(paragraph("&e9;"), before=BOMB.partition("<x>")[0]),
            "entity amplification",
        ),
        Attack(
            "laughs.odt",
            zipped(mimetype="application/vnd.oasis.opendocument.text", **{"content.xml": BOMB}),
            "entity amplification",
        ),
        Attack("laughs.html", BOMB + "needle"),
        Attack("entity.docx", docx(paragraph("a&e;b needle"), before=entity(beyond, ""))),
        Attack("entity.odt", odt("<text:p>a&e;b needle</text:p>", before=entity(beyond, ""))),
        Attack("entity.epub", epub(**{"OEBPS/one.xhtml": entity(beyond, "") + "<p>a&e;b"})),
        Attack("entity.html", entity(beyond, "") + "<p>a&e;b needle"),
        Attack(
            "entity of the network.docx",
            docx(paragraph("a&e;b needle"), before=entity(beyond, beyond.url)),
        ),
        Attack(
            "types of the network.odt",
            odt("<text:p>needle</text:p>", before=f'<!DOCTYPE x SYSTEM "{beyond.url}">'),
        ),
        Attack(
            "parameters.docx",
            docx(
                paragraph("needle"),
                before=f'<!DOCTYPE x [<!ENTITY % e SYSTEM "{beyond.url}"> %e;]>',
            ),
        ),
        Attack(
            "include.odt",
            odt(f'<text:p>needle<xi:include href="{beyond.file}" parse="text"/></text:p>'),
        ),
        Attack(
            "section.odt",
            odt(
                f'<text:section><text:section-source xlink:href="{beyond.file.as_uri()}"/>'
                "<text:p>needle</text:p></text:section>"
            ),
        ),
        Attack(
            "field.docx",
            docx(
                f'<w:p><w:r><w:instrText>INCLUDETEXT "{beyond.file}"</w:instrText></w:r></w:p>'
                + paragraph("needle")
            ),
        ),
        Attack(
            "field.rtf",
            r"{\rtf1 needle{\field{\*\fldinst INCLUDETEXT "
            f'"{beyond.file}"'
            r"}{\fldrslt }}}",
        ),
        Attack(
            "frames.html",
            f'needle<iframe src="{beyond.file.as_uri()}"></iframe><object data="{beyond.url}">'
            f'</object><link rel=stylesheet href="{beyond.url}"><img src="{beyond.url}">'
            f'<script src="{beyond.url}"></script>',
        ),
        Attack(
            "base.html",
            f'<base href="{beyond.url}">'
            f'<meta http-equiv=refresh content="0; url={beyond.url}">needle',
        ),
        # Archives whose parts are elsewhere.
        Attack(
            "target up.docx",
            docx(paragraph("needle"), target=f"../../../../..{beyond.file}"),
            "it has no main part",
        ),
        Attack(
            "target file.docx",
            docx(paragraph("needle"), target=beyond.file.as_uri()),
            "it has no main part",
        ),
        Attack(
            "target of the network.docx",
            docx(paragraph("needle"), target=beyond.url),
            "it has no main part",
        ),
        Attack(
            "link.docx",
            docx("", **{"word/document.xml.link": f"{beyond.file}"}),
            "is a damaged DOCX",
        ),
        Attack("chapter up.epub", epub(href=f"../../../../../..{beyond.file}")),
        Attack("chapter of a file.epub", epub(href=beyond.file.as_uri())),
        Attack("chapter of the network.epub", epub(href=beyond.url)),
        Attack("link.epub", epub(**{"OEBPS/one.xhtml.link": f"{beyond.file}"})),
        Attack(
            "book up.epub",
            epub(container=CONTAINER.replace("OEBPS/book.opf", f"../..{beyond.file}")),
            "it has no list of chapters",
        ),
        Attack(
            "slip.docx",
            docx(paragraph("needle"), **{"../../../slipped.txt": "x", "/slipped.txt": "x"}),
        ),
        # Great depth, and lines without end.
        Attack("deep.docx", docx("<w:p>" * 200_000), "is a damaged DOCX"),
        Attack("deep.odt", odt("<text:p>" * 200_000 + "</text:p>" * 200_000), "has no text"),
        Attack("deep.html", "<div>" * 300_000 + "needle"),
        Attack("deep tables.html", "<table><tr><td>" * 30_000 + "needle"),
        Attack("deep.rtf", r"{\rtf1 " + "{" * 1_000_000 + "needle"),
        Attack("deep quotes.md", ">" * 200_000 + " needle"),
        Attack("deep brackets.md", "[" * 200_000 + " needle"),
        Attack("deep lists.md", "".join(f"{' ' * n}- needle\n" for n in range(2_000))),
        Attack("deep matter.md", "---\na: " + "[" * 9_000 + "\n---\nneedle"),
        Attack("deep.json", "[" * 1_000_000 + "needle"),
        Attack(
            "deep.eml",
            "".join(
                f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(3_000)
            )
            + "\nneedle",
            "nested too deeply",
        ),
        Attack("one line.txt", "needle " * 5_000_000),
        Attack("one line.md", "*needle_`" * 500_000),
        Attack("one header.eml", "Subject: needle" + "=?utf-8?q?" * 200_000 + "\n\nneedle"),
        # What would be run.
        Attack(
            "python.md", "---\na: !!python/object/apply:os.system ['touch it-ran']\n---\nneedle"
        ),
        Attack(
            "anchors.md",
            "---\na: &a [x,x,x,x,x,x,x,x,x]\n"
            + "".join(
                f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n"
                for n in range(9)
            )
            + "---\nneedle",
        ),
        Attack(
            "macro.rtf",
            r"{\rtf1 needle{\object\objemb{\*\objdata 0105000002}}"
            r"{\field{\*\fldinst DDEAUTO c:\\cmd.exe '/c calc'}}}",
        ),
        Attack("script.html", "needle<script>fetch('x')</script><style>@import 'x'</style>"),
        Attack(
            "script.pdf",
            one_page(
                catalogue=b"/OpenAction<</S/JavaScript/JS(app.launchURL\\('x'\\))>>"
                b"/AA<</WC<</S/Launch/F(/bin/touch)>>>>"
            ),
        ),
        Attack(
            "address.pdf", one_page(catalogue=f"/OpenAction<</S/URI/URI({beyond.url})>>".encode())
        ),
        Attack(
            "stream of a file.pdf",
            one_page(f"<</Length 0/F({beyond.file})>>stream\n\nendstream".encode()),
            "has no text",
        ),
        # What leads round in a circle, or lies.
        Attack(
            "pages in pages.pdf",
            pdf(b"<</Pages 2 0 R>>", b"<</Type/Pages/Kids[2 0 R]/Count 1>>"),
            "is a damaged PDF",
        ),
        Attack(
            "a billion pages.pdf", one_page(pages=PAGES.replace(b"Count 1", b"Count 999999999"))
        ),
        Attack(
            "length of itself.pdf", one_page(b"<</Length 4 0 R>>stream\n" + SHOWN + b"\nendstream")
        ),
        Attack(
            "form in itself.pdf",
            one_page(
                stream(SHOWN + b" /X Do"),
                stream(
                    b"/X Do",
                    b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 5 0 R>>>>",
                ),
                page=PAGE.replace(b"/Font", b"/XObject<</X 5 0 R>>/Font"),
            ),
        ),
        Attack(
            "a page of a mile.pdf",
            one_page(page=PAGE.replace(b"200 200", b"9999999999 9999999999")),
        ),
        # What is not what its name says.
        Attack("zip.txt", zipped(a="needle"), "is named .txt, but is an archive"),
        Attack("program.md", b"\x7fELF\2\1\1" + bytes(500), "is named .md, but is a program"),
        Attack("picture.html", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(99), "but is a picture"),
        Attack("text.docx", "needle"),
        Attack("zeros.txt", bytes(1_000_000), "binary"),
        Attack("noise.pdf", b"%PDF-1.7\n" + bytes(range(256)) * 400, "is a damaged PDF"),
        Attack("noise.docx", b"PK\3\4" + bytes(range(256)) * 400, "is a damaged"),
        Attack("noise.rtf", b"{\\rtf1 needle " + bytes(range(1, 256)) * 400),
        Attack("colours.txt", "needle \x1b[31m\x1b]0;title\x07 \x9b31m \u202eelif"),
    )


@pytest.mark.timeout(900)
def test_a_document_is_read_or_refused_and_reaches_nothing(
    idx: Idx, index_path: Path, tmp_path: Path
) -> None:
    papers = make(tmp_path / "papers")
    outside = tmp_path / "outside.txt"
    outside.write_text(HIDDEN)
    with socket.create_server(("127.0.0.1", 0)) as asked:
        beyond = Beyond(outside, f"http://127.0.0.1:{asked.getsockname()[1]}/x")
        made = attacks(beyond)
        for attack in made:
            raw = attack.content if isinstance(attack.content, bytes) else attack.content.encode()
            (papers / attack.name).write_bytes(raw)
        (papers / "good.txt").write_text("a good needle")
        before = {entry.name for entry in tmp_path.iterdir()}
        done = idx("sync", "papers", "--timeout", "20", "--max-memory", "800", "--json", code=1)
        asked.setblocking(False)
        with pytest.raises(BlockingIOError):
            asked.accept()
    reasons = {
        event["source_document"]: event["reason"]
        for event in events(done.stdout)
        if event["event"] == "notindexed"
    }
    assert reasons.keys() == {attack.name for attack in made if attack.reason}
    for attack in made:
        assert (attack.reason or "") in reasons.get(attack.name, ""), attack.name
    assert set(ids(index_path)) == {
        "good.txt",
        *(attack.name for attack in made if attack.reason is None),
    }
    assert {entry.name for entry in tmp_path.iterdir()} == before | {index_path.name}
    assert idx.json("search", HIDDEN)["totalHits"] == 0
    shown = idx("show", "colours.txt").stdout
    # Marks of writing direction stay in a pipe.
    assert not {"\x1b", "\x9b"} & set(shown)
