"""Office files whose parts are mixed up are read, or refused as damaged."""

import re
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from idx.errors import SourceFileError
from idx.extraction.formats import extract_from
from idx.extraction.types import Extracted, ExtractionOptions
from idx.office.date_format import date_text, duration_text, locale_of
from idx.office.number_format import format_of, number_text
from tests.fuzz.running import MARKS, check_document, fuzz

pytestmark = MARKS

Parts = Mapping[str, str]
Change = Callable[[str], str]

_RELATIONSHIPS: Final = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}'
    "</Relationships>"
)
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def _related(**targets: str) -> str:
    """A list of what a part refers to: a kind and a part each."""
    return _RELATIONSHIPS.format(
        "".join(
            f'<Relationship Id="r{number}" Type="{_OFFICE}/{kind}" Target="{part}"/>'
            for number, (kind, part) in enumerate(targets.items(), start=1)
        )
    )


def _types(main: str) -> str:
    return (
        '<Types><Override PartName="/main.xml" ContentType="application/vnd.openxmlformats-'
        f'officedocument.{main}.main+xml"/></Types>'
    )


_CORE: Final = (
    '<cp:coreProperties xmlns:cp="urn:cp" xmlns:dc="urn:dc"><dc:title>T</dc:title>'
    "<dc:creator>Ana</dc:creator><cp:keywords>a, b</cp:keywords>"
    "<dc:created>2025-03-01T10:00:00Z</dc:created></cp:coreProperties>"
)

_MANIFEST: Final = "<manifest/>"

_META: Final = (
    '<office:document-meta xmlns:office="urn:o" xmlns:dc="urn:dc" xmlns:meta="urn:m">'
    "<dc:title>T</dc:title><meta:keyword>a</meta:keyword><dc:date>2025-03-01</dc:date>"
    "</office:document-meta>"
)

_OPEN: Final = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
)

SEEDS: Final[Mapping[str, Parts]] = {
    "a.docx": {
        "[Content_Types].xml": _types("wordprocessingml.document"),
        "_rels/.rels": _related(officeDocument="main.xml", **{"core-properties": "core.xml"}),
        "core.xml": _CORE,
        "_rels/main.xml.rels": _related(footnotes="notes.xml", header="head.xml", chart="c.xml"),
        "main.xml": (
            '<w:document xmlns:w="urn:w"><w:body><w:p><w:r><w:t>one</w:t><w:tab/></w:r></w:p>'
            "<w:tbl><w:tr><w:tc><w:p><w:t>a</w:t></w:p></w:tc><w:tc><w:tbl><w:tr><w:tc/></w:tr>"
            "</w:tbl></w:tc></w:tr></w:tbl><w:moveFrom><w:t>gone</w:t></w:moveFrom></w:body>"
            "</w:document>"
        ),
        "notes.xml": '<w:footnotes xmlns:w="urn:w"><w:p><w:t>note</w:t></w:p></w:footnotes>',
        "head.xml": '<w:hdr xmlns:w="urn:w"><w:p><w:t>head</w:t></w:p></w:hdr>',
        "c.xml": '<c:chart xmlns:c="urn:c"><c:pt><c:v>series</c:v></c:pt><c:numCache/></c:chart>',
    },
    "a.pptx": {
        "[Content_Types].xml": _types("presentationml.presentation"),
        "_rels/.rels": _related(officeDocument="main.xml"),
        "_rels/main.xml.rels": _related(slide="s.xml"),
        "main.xml": (
            f'<p:presentation xmlns:p="urn:p" xmlns:r="{_OFFICE}"><p:sldIdLst>'
            '<p:sldId r:id="r1"/><p:sldId r:id="r1"/><p:sldId r:id="r9"/></p:sldIdLst>'
            "</p:presentation>"
        ),
        "_rels/s.xml.rels": _related(notesSlide="n.xml", slide="s.xml"),
        "s.xml": '<p:sld xmlns:p="urn:p"><p:sp><p:p><p:t>slide</p:t></p:p></p:sp></p:sld>',
        "n.xml": '<p:notes xmlns:p="urn:p"><p:p><p:t>note</p:t><p:fld/></p:p></p:notes>',
    },
    "a.xlsx": {
        "[Content_Types].xml": _types("spreadsheetml.sheet"),
        "_rels/.rels": _related(officeDocument="main.xml"),
        "_rels/main.xml.rels": _related(
            worksheet="sheet.xml", sharedStrings="texts.xml", styles="styles.xml"
        ),
        "main.xml": (
            f'<workbook xmlns:r="{_OFFICE}"><workbookPr date1904="0"/><sheets>'
            '<sheet name="One" r:id="r1"/><sheet name="Two" r:id="r7"/></sheets></workbook>'
        ),
        "texts.xml": (
            "<sst><si><t>shared</t></si><si><r><t>ri</t></r><rPh><t>x</t></rPh></si></sst>"
        ),
        "styles.xml": (
            '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy-mm-dd"/>'
            '<numFmt numFmtId="165" formatCode="[h]:mm"/></numFmts><cellXfs><xf numFmtId="0"/>'
            '<xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="9"/></cellXfs></styleSheet>'
        ),
        "sheet.xml": (
            '<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" s="1">'
            '<v>45000.5</v></c><c s="2"><v>1.5625</v></c><c s="3"><v>0.07</v></c></row>'
            '<row><c t="b"><v>1</v></c><c t="inlineStr"><is><t>in</t></is></c></row></sheetData>'
            "</worksheet>"
        ),
    },
    "a.odt": {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "META-INF/manifest.xml": _MANIFEST,
        "meta.xml": _META,
        "styles.xml": f"<office:styles {_OPEN}><text:p>head</text:p></office:styles>",
        "content.xml": (
            f"<office:body {_OPEN}><text:p>one<text:s text:c='3'/></text:p><text:note>"
            "<text:note-citation>1</text:note-citation><text:p>n</text:p></text:note>"
            "<table:table><table:table-row><table:table-cell table:number-columns-repeated='3'>"
            "<text:p>c</text:p></table:table-cell></table:table-row></table:table></office:body>"
        ),
    },
    "a.ods": {
        "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
        "meta.xml": _META,
        "content.xml": (
            f"<office:body {_OPEN}><table:table table:name='One'><table:table-row "
            "table:number-rows-repeated='9'><table:table-cell table:number-columns-repeated='99'>"
            "<text:p>7</text:p></table:table-cell></table:table-row></table:table></office:body>"
        ),
    },
    "a.odp": {
        "mimetype": "application/vnd.oasis.opendocument.presentation",
        "content.xml": (
            f"<office:body {_OPEN}><draw:page draw:name='p'><draw:frame><text:p>one</text:p>"
            "</draw:frame></draw:page><draw:page/></office:body>"
        ),
    },
}
"""Small files of each kind, by part."""

PART_NAMES: Final = sorted({name for parts in SEEDS.values() for name in parts})

NUMBERS: Final = (
    *("0", "1", "-1", "99", "9" * 30, "1e400", "1e308", "-1e-7", "NaN", "inf", "", " ", "x"),
    *("0.30000000000000004", "2958466", "-657435", "59.9999999", "60", "1_000", "\u0663", "\u00b2"),
)

VALUES: Final = (
    *(*NUMBERS, "A1", "ZZZ9999999", "a1", "r1", "r2", "s", "b", "e", "str", "External", "true"),
    *("main.xml", "../../main.xml", "/main.xml", "//", "..", "\u202e", "a&amp;b", "[h]:mm", "0%"),
    *('yyyy"', "\\", "[", "_", "*", "[Red]0;[h]", f"{_OFFICE}/officeDocument", "x" * 2_000),
)

SNIPPETS: Final = (
    *("<c><v>7</v></c>", "<row>", "</row>", "<p>", "</p>", "<t>x</t>", "<si/>", "<sheet/>"),
    *("<w:tc>", "</w:tc>", "<w:tr>", "</w:tr>", "<w:tbl>", "</w:tbl>", "<text:p>x", "</text:p>"),
    *("<table:table-cell>", "</table:table-cell>", "<table:table>", "<draw:page/>", "<text:note>"),
    *("<!-- - -->", "<?pi x?>", "<![CDATA[<x>]]>", "&#0;", "&#x10ffff;", "&amp;", "&lol;", "<xf/>"),
    *("&#xd800;", "<!DOCTYPE a [<!ENTITY b 'c'>]>", "<a:b xmlns:a='urn:c'>", "</a:b>"),
    *("\0", "\ufffe", "<", ">"),
)


def _changed_text(text: str, at: int, snippet: str) -> str:
    places = [match.start() for match in re.finditer("<|$", text)]
    place = places[at % len(places)]
    return text[:place] + snippet + text[place:]


def _changed_value(text: str, at: int, value: str) -> str:
    found = [*re.finditer(r"""(?<==["'])[^"'<>]*|(?<=>)[^<>]+(?=<)""", text)]
    if not found:
        return text
    match = found[at % len(found)]
    return text[: match.start()] + value + text[match.end() :]


def _changed_element(text: str, at: int, times: int) -> str:
    """A text with an element left out, or there several times."""
    found = [*re.finditer(r"<[^<>]*>[^<>]*", text)]
    if not found:
        return text
    match = found[at % len(found)]
    return text[: match.start()] + match[0] * times + text[match.end() :]


def _with(change: Callable[..., str], values: SearchStrategy[object]) -> SearchStrategy[Change]:
    return st.builds(
        lambda at, value: lambda text: change(text, at, value), st.integers(0, 40), values
    )


changes = st.one_of(
    _with(_changed_text, st.sampled_from(SNIPPETS)),
    _with(_changed_value, st.sampled_from(VALUES)),
    _with(_changed_element, st.sampled_from([0, 2, 300])),
)


@st.composite
def packages(draw: st.DrawFn) -> tuple[str, bytes]:
    """The name and the bytes of a file of which some parts are not what they were."""
    name = draw(st.sampled_from(sorted(SEEDS)))
    parts: dict[str, str] = dict(SEEDS[name])
    for part in draw(st.lists(st.sampled_from(sorted(parts)), max_size=4)):
        for change in draw(st.lists(changes, min_size=1, max_size=4)):
            parts[part] = change(parts[part])
    if draw(st.integers(0, 4)) == 0:
        target, other = draw(st.sampled_from(PART_NAMES)), draw(st.sampled_from(PART_NAMES))
        parts[target] = parts.pop(other, draw(st.sampled_from(SNIPPETS)))
    packed = BytesIO()
    with ZipFile(packed, "w", draw(st.sampled_from([ZIP_STORED, ZIP_DEFLATED]))) as archive:
        for part, content in parts.items():
            encoding = draw(st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-16"]))
            # With a time of its own, so that the bytes are the same in each run.
            entry = ZipInfo(part)
            archive.writestr(entry, content.encode(encoding, "replace"), archive.compression)
    return draw(st.sampled_from([name, name, name, "a.docx", "a.odt"])), packed.getvalue()


def _damaged(package: tuple[str, bytes], at: int, spoilt: bytes, cut: int) -> tuple[str, bytes]:
    name, data = package
    at %= len(data)
    data = data[:at] + spoilt + data[at + len(spoilt) :]
    return name, data[: len(data) - cut % len(data)]


damaged_packages = st.builds(
    _damaged,
    packages(),
    st.integers(0, 10_000),
    st.binary(max_size=4) | st.sampled_from([b"PK\1\2", b"PK\3\4", b"\xff\xff\xff\xff", b"\1\0"]),
    st.just(0) | st.just(0) | st.integers(0, 3_000),
)

OWN_MISTAKE: Final = re.compile(
    "object has no attribute|NoneType|out of range|pop from|argument|to unpack|subscriptable|"
    "invalid literal for"
)
"""How Python speaks of what the code of a reader gets wrong."""


def read(name: str, data: bytes) -> Extracted | None:
    """What a file says; None if it is refused, by what is wrong with it."""
    try:
        extracted = extract_from(BytesIO(data), Path(name), ExtractionOptions())
    except SourceFileError as error:
        if OWN_MISTAKE.search(error.reason):
            raise
        return None
    check_document(extracted.text, extracted.title, extracted.metadata)
    starts = [page.start for page in extracted.pages]
    assert starts == sorted(starts)
    assert not starts or 0 <= starts[0] <= starts[-1] <= len(extracted.text)
    return extracted


def test_the_files_that_are_changed_are_good_ones() -> None:
    for name in SEEDS:
        with BytesIO() as packed:
            with ZipFile(packed, "w") as archive:
                for part, content in SEEDS[name].items():
                    archive.writestr(part, content)
            extracted = read(name, packed.getvalue())
        assert extracted
        assert extracted.text.strip()


def test_changed_parts_are_read_or_refused() -> None:
    def is_read_or_refused(package: tuple[str, bytes]) -> None:
        read(*package)

    fuzz(is_read_or_refused, package=packages())


def test_changed_bytes_are_read_or_refused() -> None:
    def is_read_or_refused(package: tuple[str, bytes]) -> None:
        read(*package)

    fuzz(is_read_or_refused, package=damaged_packages)


def test_any_number_and_any_format_of_numbers_give_a_text() -> None:
    def is_text(value: str, pattern: str | None, format_id: int) -> None:
        for text in (number_text(value), duration_text(value)):
            assert isinstance(text, str)
        for from_1904 in (True, False):
            assert isinstance(date_text(value, from_1904=from_1904), str)
            locale = locale_of([pattern or ""], None, from_1904=from_1904)
            shown = format_of(format_id, pattern, locale)(value)
            assert isinstance(shown, str)
            assert len(shown) < 1_000 + len(value)

    letters = st.sampled_from(
        [
            *'dmyhseDMY0#?%;"\\_*[]@/., 8-+E',
            *("[h]", "[Red]", '"x"', "General", "\u5e74", "E+", "[$-407]", "[<=9]", "AM/PM", "0.0"),
        ]
    )
    fuzz(
        is_text,
        value=st.sampled_from(NUMBERS) | st.floats().map(str) | st.text(max_size=5),
        pattern=st.none() | st.lists(letters, max_size=40).map("".join),
        format_id=st.integers(-1, 200),
    )
