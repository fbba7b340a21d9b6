"""Files that are damaged or lie: named, or read as far as they can be, and never worse."""

import io
import struct
import zipfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from random import Random

import docx
import pptx
import pytest
import xlsxwriter  # type: ignore[import-untyped]

from idx.errors import SourceFileError
from tests.idx.conftest import FILES, Read
from tests.idx.containers.compound_file import compound
from tests.idx.extraction.pdf_files import (
    DATA,
    ENGINES,
    HELLO,
    by_hand,
    extract,
    pages_by_hand,
    stream,
    write_pages,
    write_table,
)
from tests.idx.extraction.test_office import rewritten
from tests.idx.files import zipped
from tests.idx.office.packages import package as open_xml, paragraph

BODY = {
    "a.docx": "word/document.xml",
    "a.pptx": "ppt/presentation.xml",
    "a.xlsx": "xl/worksheets/sheet1.xml",
    "a.odt": "content.xml",
    "a.odp": "content.xml",
    "a.ods": "content.xml",
    "a.epub": "META-INF/container.xml",
}
"""An entry without which a file cannot be read, by the file's name."""

ENTITIES = "".join(f'<!ENTITY e{level} "{f"&e{level - 1};" * 10}">' for level in range(1, 10))
BOMB = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e0 "ten letters">{ENTITIES}]><x>&e9;</x>'


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A small file of each format that is an archive."""
    folder = tmp_path_factory.mktemp("packages")
    docx.Document().save(str(folder / "a.docx"))
    pptx.Presentation().save(str(folder / "a.pptx"))
    with xlsxwriter.Workbook(folder / "a.xlsx") as book:
        book.add_worksheet().write(0, 0, "x")
    written = {name: (folder / name).read_bytes() for name in ("a.docx", "a.pptx", "a.xlsx")}
    others = {
        "a.odt": "garden.odt",
        "a.odp": "deck.odp",
        "a.ods": "book.ods",
        "a.epub": "garden.epub",
    }
    return written | {name: (FILES / file).read_bytes() for name, file in others.items()}


@pytest.mark.parametrize("name", BODY)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_truncated_file_is_damaged(
    read: Read, packages: dict[str, bytes], name: str, share: float
) -> None:
    data = packages[name]
    kind = name.removeprefix("a.").upper()
    with pytest.raises(SourceFileError, match=f"a damaged {kind}: File is not a zip file"):
        read(name, data[: int(len(data) * share)])


@pytest.mark.parametrize("name", BODY)
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "is a damaged "),
        ("<a><b></a>", "is a damaged .*tag"),
        ("", "is a damaged "),
        ("\0" * 100, "is a damaged "),
        (BOMB, "is a damaged .*amplification"),
        ("<a>" * 100_000, "is a damaged "),
    ],
    ids=["absent", "unbalanced", "empty", "zeros", "entity bomb", "deep"],
)
def test_wrong_inner_xml_is_damage(
    read: Read, packages: dict[str, bytes], name: str, content: str | None, message: str
) -> None:
    data = rewritten(packages[name], **{BODY[name]: content})
    if name == "a.xlsx" and content is None:
        assert "x" not in read(name, data).text
        return
    with pytest.raises(SourceFileError, match=message):
        read(name, data)


def zeroed(package: bytes, name: str) -> bytes:
    """A package of which one entry has zeros in place of what is packed."""
    data = bytearray(package)
    with zipfile.ZipFile(io.BytesIO(package)) as whole:
        entry = whole.getinfo(name)
    start = entry.header_offset + 30 + len(entry.filename) + 4
    data[start : start + entry.compress_size - 8] = bytes(entry.compress_size - 8)
    return bytes(data)


PROPERTIES = {
    "a.docx": "docProps/core.xml",
    "a.pptx": "docProps/app.xml",
    "a.xlsx": "docProps/core.xml",
    "a.odt": "meta.xml",
    "a.odp": "meta.xml",
    "a.ods": "meta.xml",
}
"""An entry with properties, by the file's name."""


@pytest.mark.parametrize("name", PROPERTIES)
@pytest.mark.parametrize(
    "content",
    ["", "no XML", "\0" * 100, BOMB, "<a>" * 100_000, b"\xff<a>\xfe</b>"],
    ids=["empty", "no XML", "zeros", "entity bomb", "deep", "bytes"],
)
def test_damaged_properties_cost_only_themselves(
    read: Read, packages: dict[str, bytes], name: str, content: str | bytes
) -> None:
    text = read(name, packages[name]).text
    assert read(name, rewritten(packages[name], **{PROPERTIES[name]: content})).text == text
    assert read(name, zeroed(packages[name], PROPERTIES[name])).text == text


def test_a_sign_that_xml_does_not_allow_costs_no_title_and_no_chapter(
    read: Read, packages: dict[str, bytes]
) -> None:
    meta = '<m xmlns:d="d"><d:title>Wells & pumps</d:title><d:subject>water</d:subject></m>'
    document = read("a.odt", rewritten(packages["a.odt"], **{"meta.xml": meta}))
    assert (document.title, document.metadata["subject"]) == ("Wells pumps", "water")
    book = packages["a.epub"]
    with zipfile.ZipFile(io.BytesIO(book)) as package:
        (name,) = (each for each in package.namelist() if each.endswith(".opf"))
        listed = package.read(name).replace(b"</dc:title>", b" & wells</dc:title>")
    extracted = read("a.epub", rewritten(book, **{name: listed}))
    assert extracted.text == read("a.epub", book).text
    assert extracted.title
    assert extracted.warnings == ("the list of its chapters is damaged, and some may be missing",)


@pytest.mark.parametrize("name", BODY)
def test_zeros_within_a_file_are_damage_or_harmless(
    read: Read, packages: dict[str, bytes], name: str
) -> None:
    with pytest.raises(SourceFileError, match="is a damaged "):
        read(name, zeroed(packages[name], BODY[name]))


@pytest.mark.parametrize("name", BODY)
def test_a_zip_bomb_is_not_unpacked(read: Read, packages: dict[str, bytes], name: str) -> None:
    bomb = b"<x>" + (b" " * 9_996 + b"<y/>") * 12_000
    data = rewritten(packages[name], **{BODY[name]: bomb})
    assert len(data) < 1_000_000
    with pytest.raises(SourceFileError, match="unpacks to more than 100 MB"):
        read(name, data)


def test_an_external_entity_is_not_read(read: Read, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret")
    document = (
        f'<!DOCTYPE x [<!ENTITY e SYSTEM "{secret.as_uri()}">]><w:document NS>'
        f"<w:body>{paragraph('a&e;b')}</w:body></w:document>"
    )
    data = open_xml("word/document.xml", {"word/document.xml": document})
    assert read("a.docx", data).text == "ab"
    page = f'<!DOCTYPE html [<!ENTITY e SYSTEM "{secret.as_uri()}">]><p>a&e;b'
    assert "secret" not in read("a.html", page).text.replace(secret.as_uri(), "")


def test_an_encrypted_entry_says_that_the_file_is_protected(
    read: Read, packages: dict[str, bytes]
) -> None:
    data = bytearray(packages["a.docx"])
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        entry = package.getinfo("_rels/.rels")
    data[entry.header_offset + 6] |= 1
    at = data.index(b"PK\1\2")
    while data[at + 46 : at + 46 + len("_rels/.rels")] != b"_rels/.rels":
        at = data.index(b"PK\1\2", at + 1)
    data[at + 8] |= 1
    with pytest.raises(SourceFileError, match=": protected by a password"):
        read("a.docx", bytes(data))


def test_a_cell_that_repeats_a_long_text_ends_in_an_error(read: Read, tmp_path: Path) -> None:
    with xlsxwriter.Workbook(tmp_path / "b.xlsx") as book:
        sheet = book.add_worksheet()
        for row in range(4000):
            sheet.write(row, 0, "x" * 30_000)
    with pytest.raises(SourceFileError, match="its cells repeat too much text"):
        read("a.xlsx", (tmp_path / "b.xlsx").read_bytes())


def test_comments_in_lists_of_parts_are_passed_over(read: Read, packages: dict[str, bytes]) -> None:
    for name in ("a.docx", "a.pptx", "a.xlsx"):
        with zipfile.ZipFile(io.BytesIO(packages[name])) as package:
            lists = {
                part: package.read(part).replace(b"<Relationship ", b"<!-- x --><Relationship ")
                for part in package.namelist()
                if part.endswith(".rels")
            }
        data = rewritten(packages[name], **lists)
        assert read(name, data).text == read(name, packages[name]).text


def test_wrong_bytes_are_damage_whatever_packed_them(
    read: Read, packages: dict[str, bytes]
) -> None:
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(packages["a.docx"])) as old,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_LZMA) as new,
    ):
        for part in old.namelist():
            new.writestr(part, old.read(part))
        entry = new.getinfo("word/document.xml")
    data = bytearray(packed.getvalue())
    assert read("a.docx", bytes(data)).text == ""
    # The properties of LZMA stand before the packed bytes, behind two of version and two of size.
    start = entry.header_offset + 30 + len(entry.filename) + 4
    data[start] = 0xFF
    with pytest.raises(SourceFileError, match="is a damaged DOCX"):
        read("a.docx", bytes(data))


def record(kind: int, data: bytes = b"") -> bytes:
    """A record of a binary workbook ([MS-XLSB])."""
    number = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
    return number + bytes([len(data)]) + data


def string(value: str) -> bytes:
    return struct.pack("<I", len(value)) + value.encode("utf-16-le")


def binary_workbook(names: Iterable[str], parts: dict[str, bytes | str]) -> bytes:
    """A binary workbook with sheets, which relationships rId1 and so on lead to."""
    sheets = [
        record(156, struct.pack("<II", 0, number) + string(f"rId{number}") + string(name))
        for number, name in enumerate(names, start=1)
    ]
    main = "application/vnd.ms-excel.sheet.binary.macroEnabled.main"
    written: dict[str, bytes | str] = {
        "[Content_Types].xml": f'<Types><Override ContentType="{main}"/></Types>',
        "xl/workbook.bin": record(143) + b"".join(sheets) + record(144) + record(132),
    }
    return zipped(**(written | parts))


def test_a_workbook_that_its_library_fails_at_is_damaged(read: Read) -> None:
    data = binary_workbook(
        ["A sheet that no relationship leads to"],
        {"xl/_rels/workbook.bin.rels": "<Relationships/>"},
    )
    with pytest.raises(SourceFileError, match="a damaged XLSB: the library that reads it fails"):
        read("a.xlsb", data)


def test_a_sheet_with_a_chart_costs_no_other_sheet(read: Read) -> None:
    cells = record(0, bytes(17)) + record(6, bytes(8) + string("pears"))
    sheet = record(129) + record(148, bytes(16)) + record(145) + cells + record(146) + record(130)
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    links = (
        f'<Relationship Id="rId1" Type="{kind}/chartsheet" Target="chartsheets/sheet1.bin"/>'
        f'<Relationship Id="rId2" Type="{kind}/worksheet" Target="worksheets/sheet1.bin"/>'
    )
    data = binary_workbook(
        ["Chart", "Rain"],
        {
            "xl/_rels/workbook.bin.rels": f"<Relationships>{links}</Relationships>",
            "xl/chartsheets/sheet1.bin": record(129) + record(130),
            "xl/worksheets/sheet1.bin": sheet,
        },
    )
    assert read("a.xlsb", data).text == "Rain\n\npears"


@pytest.mark.parametrize("beginning", [b"", bytes.fromhex("86000000")])
def test_an_encrypted_workbook_of_1997_says_so(read: Read, beginning: bytes) -> None:
    begins = bytes.fromhex("0908100000060500") + bytes(12)
    book = begins + beginning + bytes.fromhex("2f0006000100000000000a000000")
    with pytest.raises(SourceFileError, match=": protected by a password"):
        read("a.xls", compound({"Workbook": book}))


@pytest.mark.parametrize("engine", ENGINES)
def test_an_unreadable_page_does_not_cost_the_others(tmp_path: Path, engine: str) -> None:
    objects = pages_by_hand([5, 6, 7], HELLO)
    del objects[6]
    read = extract(by_hand(tmp_path / "a.pdf", objects), engine)
    assert read.text == "Hello river\n\nHello river"
    assert [page.label for page in read.pages] == [1, 3]
    assert read.warnings[0] == "1 page cannot be read (2)"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("damage", ["without a type", "missing", "there twice"])
def test_no_page_takes_the_place_of_another(tmp_path: Path, damage: str, engine: str) -> None:
    kids = [5, 6, 5, 8] if damage == "there twice" else [5, 6, 7, 8]
    objects = pages_by_hand(kids, HELLO)
    for number in set(kids):
        objects[number] = f"<</Type/Page/Parent 2 0 R/Contents {number + 10} 0 R>>"
        objects[number + 10] = stream(HELLO.replace("river", f"page {number}"))
    if damage == "without a type":
        objects[6] = str(objects[6]).replace("/Type/Page", "")
    if damage == "missing":
        del objects[6]
    read = extract(by_hand(tmp_path / "a.pdf", objects), engine)
    starts = [page.start for page in read.pages]
    ends = [*starts[1:], len(read.text)]
    found = {
        page.label: read.text[page.start : end].strip()
        for page, end in zip(read.pages, ends, strict=True)
    }
    expected = {label: f"Hello page {number}" for label, number in enumerate(kids, start=1)}
    if damage == "missing":
        del expected[2]
    assert found == expected


def test_a_false_count_of_pages_is_survived(tmp_path: Path) -> None:
    objects = pages_by_hand([5], HELLO, count=100_000)
    read = extract(by_hand(tmp_path / "a.pdf", objects))
    assert read.text == "Hello river"
    assert read.warnings == ("99,999 pages cannot be read (2\u2013100000)",)


def test_pages_that_pdfplumber_cannot_read_are_read_by_pdfium(
    capfd: pytest.CaptureFixture[str],
) -> None:
    file = DATA / "damaged-media-box.pdf"
    assert extract(file).warnings == ()
    read = extract(file, "pdfplumber")
    assert read.text == extract(file).text
    assert "Hello page 1 some words here" in read.text
    (warning,) = read.warnings
    assert warning.startswith(
        "2 pages read without regard to tables (1\u20132): pdfplumber failed with Malformed"
    )
    assert capfd.readouterr() == ("", "")


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _data: b"",
    "not a PDF": lambda _data: b"Some text.",
    "a header only": lambda data: data[:9],
    "cut": lambda data: data[:700],
    "without pages": lambda data: data.replace(b"/Page", b"/Pope"),
    "without an end": lambda data: data[:-100],
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused_without_a_word_of_its_reader(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], damage: str, engine: str
) -> None:
    file = write_pages(tmp_path / "a.pdf", ["page"] * 20)
    file.write_bytes(DAMAGES[damage](file.read_bytes()))
    with pytest.raises(SourceFileError, match=r"a\.pdf: is a damaged PDF: "):
        extract(file, engine)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("engine", ["auto", "pdfplumber"])
def test_random_damage_never_ends_in_another_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], engine: str
) -> None:
    random = Random(engine)  # noqa: S311 - nobody is to be kept from guessing it
    whole = write_table(tmp_path / "a.pdf").read_bytes()
    read = 0
    for _ in range(60):
        damaged = bytearray(whole)
        for _ in range(random.randint(1, 12)):
            damaged[random.randrange(len(damaged))] = random.randrange(256)
        (tmp_path / "b.pdf").write_bytes(damaged)
        with suppress(SourceFileError):
            read += bool(extract(tmp_path / "b.pdf", engine).text)
    # Neither all of them, or they would not be damaged, nor none.
    assert 0 < read < 60
    assert capfd.readouterr() == ("", "")
