import zipfile
from pathlib import Path

import pytest

from idx.errors import SourceFileError, UnsupportedFileError
from idx.extraction import media_types
from idx.extraction.file_type import ole_type
from tests.idx.conftest import FILES, Read
from tests.idx.containers.compound_file import Tree, compound
from tests.idx.extraction.pdf_files import write_pages
from tests.idx.files import zipped

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1"
GARBAGE = bytes(range(256)) * 10
IWORK = b"PK\3\4 Index/Document.iwa"
DOC = (FILES / "garden.doc").read_bytes()


@pytest.mark.parametrize(
    ("name", "data", "media_type"),
    [
        ("a.txt", "text", "text/plain"),
        ("README", "text", "text/plain"),
        ("a.unheard-of", "text", "text/plain"),
        ("a.md", "# text", "text/markdown"),
        ("a.PY", "text", "text/x-source"),
        ("Makefile", "all:", "text/x-source"),
        ("a.csv", "a,b", "text/csv"),
        ("a.json", "{}", "application/json"),
        ("a.xml", "<a/>", "application/xml"),
        ("a.html", "text", "text/html"),
        ("a", "<!DOCTYPE html><p>x", "text/html"),
        ("a.doc", "\ufeff <HTML><p>x", "text/html"),
        ("a.msg", "Received: from a\nSubject: x\n\nx", "message/rfc822"),
        ("a.doc", '<?xml version="1.0"?><!-- x --><html xmlns="x"><p>x</p></html>', "text/html"),
        ("a.txt", "<html><p>x".encode("utf-16"), "text/html"),
        ("a.php", "<html><?php", "text/x-source"),
        ("a.md", "<html>", "text/markdown"),
        ("a.dat", '<?xml version="1.0"?><a/>', "application/xml"),
        ("a.doc", r"{\rtf1 x}", "application/rtf"),
        ("a.eml", "Subject: x\n\nx", "message/rfc822"),
        ("1234.host", "Return-Path: <a@b.example>\nSubject: x\n\nx", "message/rfc822"),
        ("notes.txt", "Received: a letter", "text/plain"),
        ("a.txt", "BM is short for bitmap, MZ for a program, GIF89a for GIF", "text/plain"),
        ("a.py", "header = b'%PDF-'", "text/x-source"),
        ("a.txt", "a PDF begins with %PDF-1.7", "text/plain"),
        ("a.docx", "not a document, but text", "text/plain"),
        ("build.xml", "<!-- ====== -->\n" * 100 + "<project/>", "application/xml"),
        ("a.txt", "<!-- ====== -->\n" * 100 + "a text", "text/plain"),
        ("a.txt", "<!-- a --><!DOCTYPE x>\n" * 100 + "a text", "text/plain"),
        ("a.txt", "<!-- no end " * 600, "text/plain"),
        ("a.txt", "<!-- ====== -->\n" * 100 + "<html><p>x", "text/html"),
    ],
)
def test_text_is_told_by_content_then_by_name(
    read: Read, name: str, data: bytes | str, media_type: str
) -> None:
    assert read(name, data).media_type == media_type


@pytest.mark.parametrize("name", ["garden.txt", "garden", "garden.png", "garden.docx"])
def test_a_document_is_read_whatever_its_name_is(read: Read, name: str) -> None:
    extracted = read(name, (FILES / "garden.odt").read_bytes())
    assert extracted.media_type == "application/vnd.oasis.opendocument.text"
    assert "Granada | 1238" in extracted.text


def test_a_pdf_is_read_whatever_its_name_is(read: Read, tmp_path: Path) -> None:
    pdf = write_pages(tmp_path / "whole.pdf", ["A page of a PDF"]).read_bytes()
    for name, before in (("a.txt", b""), ("a.pdf", b"mail says:\n"), ("b", b"\0\1 junk\n")):
        extracted = read(name, before + pdf)
        assert (extracted.text, extracted.media_type) == ("A page of a PDF", "application/pdf")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.png", PNG, r"is a picture \(image/png\), which has no text of its own; see --ocr"),
        ("a", PNG, "is a picture"),
        ("a.ts", PNG, "is a picture"),
        ("a.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
        ("a.gif", b"GIF89a\1\0\1\0\x80\0\0\xff", "image/gif"),
        ("a.webp", b"RIFF\x1a\0\0\0WEBPVP8L", "image/webp"),
        ("a.svg", "<svg xmlns='http://www.w3.org/2000/svg'></svg>", r"picture \(image/svg\+xml"),
        ("a.mp3", b"ID3\4\0\0\0\0\0\0", r"is a sound recording \(audio/mpeg\)"),
        ("a.mp4", b"\0\0\0\x20ftypisom\0\0\2\0", r"is a video \(video/mp4\)"),
        ("a.jar", zipped(x="x"), r"an archive \(application/zip\) of a kind or name"),
        ("empty.jar", b"PK\5\6" + bytes(18), "is an archive"),
        ("a.svgz", b"\x1f\x8b\x08\0\0\0\0\0\0\3abc", "application/gzip"),
        ("a.gem", b"name".ljust(257, b"\0") + b"ustar\x0000", "application/x-tar"),
        ("a.ttf", b"\0\1\0\0\0\x0d\0\x80", r"is a font \(font/ttf\)"),
        ("a.out", b"\x7fELF\2\1\1\0", "is a program"),
        ("a.exe", b"MZ\x90\0\3\0\0\0\4\0", "is a program"),
        ("a.db", b"SQLite format 3\0\x10\0", "is a database"),
        ("a.ps", "%!PS-Adobe-3.0\n", "is PostScript"),
        ("a.bin", GARBAGE, "is binary, of an unknown kind"),
        ("a.odg", zipped(mimetype="application/vnd.oasis.opendocument.graphics"), "OpenDocument"),
        ("a.vsdx", zipped(**{"[Content_Types].xml": "<Types/>"}), "is an archive"),
        ("garden.doc", DOC, r"Word 97 to 2003 .*; save it as \.docx, or install LibreOffice"),
        ("Thumbs.db", DOC[:512], "is binary, of an unknown kind"),
        ("book.fb2", '<?xml version="1.0"?>\n<FictionBook xmlns="x">', "save it as .epub"),
        ("scan.djvu", b"AT&TFORM\0\0\0\1DJVM", "is a DjVu file .*; save it as PDF"),
        ("a.pages", IWORK, "Keynote; export it as PDF"),
        ("a.numbers", IWORK, "Keynote; export it as PDF"),
        ("a.key", IWORK, "Keynote; export it as PDF"),
    ],
)  # fmt: skip
def test_what_has_no_text_is_named(read: Read, name: str, data: bytes | str, message: str) -> None:
    with pytest.raises(UnsupportedFileError, match=message):
        read(name, data)


def test_a_document_within_another_does_not_decide_what_it_is() -> None:
    within: Tree = {"MBD1": {"WordDocument": b"x"}}
    assert ole_type(compound({"Workbook": b"x", **within}), Path("a.xls")) == media_types.XLS
    assert ole_type(compound({"BOOK": b"x", **within}), Path("a.xls")) == media_types.XLS
    assert ole_type(compound({"Workbook": b"x"}), Path("a.doc")) == media_types.XLS
    with pytest.raises(SourceFileError, match="protected by a password"):
        ole_type(compound({"EncryptedPackage": b"x"}), Path("a"))


def test_a_sheet_of_google_is_read_without_a_type(read: Read) -> None:
    with zipfile.ZipFile(FILES / "book.ods") as book:
        content = book.read("content.xml").decode()
    assert read("a.ods", zipped(**{"content.xml": content})).media_type == media_types.ODS


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.pdf", PNG, r"is named \.pdf, but is a picture \(image/png\)"),
        ("a.docx", PNG, r"is named \.docx, but is a picture"),
        ("a.txt", GARBAGE, r"is named \.txt, but is binary"),
        ("a.pdf", bytes(5000), r"is named \.pdf, but is binary"),
        ("a.html", b"<p>a\0\0\0b</p>" + bytes(20), r"is named \.html, but is binary"),
        ("a.epub", zipped(x="x"), r"is named \.epub, but is an archive"),
        ("a.docx", DOC, r"but is a document of Word 97 to 2003"),
    ],
)
def test_a_name_that_promises_text_makes_it_an_error(
    read: Read, name: str, data: bytes, message: str
) -> None:
    with pytest.raises(SourceFileError, match=message) as raised:
        read(name, data)
    assert not isinstance(raised.value, UnsupportedFileError)


@pytest.mark.parametrize(
    "name",
    ["a", "a.txt", "a.md", "a.html", "a.docx", "a.xlsx", "a.odt", "a.epub", "a.eml", "a.rtf"],
)
@pytest.mark.parametrize("data", [b"", b" \n\t\n"], ids=["empty", "blank"])
def test_a_file_without_text_is_no_error(read: Read, name: str, data: bytes) -> None:
    assert not read(name, data).text.strip()


def test_a_named_encoding_is_text_whatever_it_looks_like(read: Read) -> None:
    data = "año".encode("utf-16-le")
    assert read("a.txt", data, encoding="utf-16-le").text == "año"
    assert read("a.txt", data[:1] + b"\xf1", encoding="cp1252").text == "añ"


def test_a_named_encoding_makes_no_text_of_pictures_and_films(read: Read) -> None:
    for name, data in {
        "a.gif": b"GIF89a\1\0\1\0\x80\0\0" + GARBAGE,
        "a.mp4": b"\0\0\0\x18ftypmp42\0\0\0\0" + GARBAGE,
    }.items():
        with pytest.raises(UnsupportedFileError):
            read(name, data, encoding="cp1252")
