"""OpenDocument files, and old documents that LibreOffice converts."""

import re
import shutil
import stat
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from idx.errors import SourceFileError
from idx.extraction.programs import find_libreoffice
from idx.extraction.types import ExtractionOptions
from tests.idx.conftest import FILES, Read, extract
from tests.idx.extraction.test_office import parts_of, rewritten

NAMESPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "table", "text", "meta")
)
NOTE = (
    "<office:annotation><dc:creator>Ana Ruiz</dc:creator><dc:date>2025-03-01T10:00:00</dc:date>"
    "<meta:creator-initials>AR</meta:creator-initials><text:p>Check this</text:p>"
    "</office:annotation>"
)


def with_content(name: str, kind: str, content: str) -> bytes:
    """A file of the tests with other content; other parts with texts are left out."""
    return rewritten(
        (FILES / name).read_bytes(),
        **{
            "styles.xml": None,
            "content.xml": f"<office:document-content {NAMESPACES} "
            'xmlns:dc="http://purl.org/dc/elements/1.1/"><office:body>'
            f"<office:{kind}>{content}</office:{kind}></office:body></office:document-content>",
        },
    )


def test_notes_and_annotations_follow_the_text(read: Read) -> None:
    footnote = (
        "<text:note><text:note-citation>1</text:note-citation><text:note-body>"
        "<text:p>Without heating.</text:p></text:note-body></text:note>"
    )
    data = with_content(
        "garden.odt",
        "text",
        f"<text:p>The rent{footnote} is due{NOTE} on <text:date>1 May</text:date>.</text:p>"
        "<text:p>Signed by <text:creator>Bo</text:creator></text:p>",
    )
    assert read("a.odt", data).text == (
        "The rent is due on 1 May.\n\nSigned by Bo\n\nWithout heating.\n\nCheck this"
    )


def test_an_annotation_is_no_part_of_its_cell(read: Read) -> None:
    sheet = (
        '<table:table table:name="{name}"><table:table-row><table:table-cell>{note}<text:p>42'
        "</text:p></table:table-cell><table:table-cell><text:p>{name}</text:p></table:table-cell>"
        "</table:table-row></table:table>"
    )
    sheets = sheet.format(name="S", note=NOTE) + sheet.format(name="T", note="")
    extracted = read("a.ods", with_content("book.ods", "spreadsheet", sheets))
    assert parts_of(extracted) == {"S": "S\n\n42 | S\n\nCheck this", "T": "T\n\n42 | T"}


def test_how_words_are_read_and_patterns_of_lists_are_no_text(read: Read) -> None:
    ruby = (
        "<text:ruby><text:ruby-base>{}</text:ruby-base>"
        "<text:ruby-text>{}</text:ruby-text></text:ruby>"
    )
    contents = (
        "<text:table-of-content><text:table-of-content-source><text:index-title-template>Contents"
        "</text:index-title-template></text:table-of-content-source><text:index-body>"
        "<text:index-title><text:p>Contents</text:p></text:index-title></text:index-body>"
        "</text:table-of-content>"
    )
    words = ruby.format("東", "とう") + ruby.format("京", "きょう")
    data = with_content("garden.odt", "text", f"{contents}<text:p>{words}</text:p>")
    assert read("a.odt", data).text == "Contents\n\n東京"


def test_repeated_cells_and_rows_of_a_sheet_stay_few(read: Read) -> None:
    sheet = (
        '<table:table table:name="S"><table:table-row table:number-rows-repeated="1048576">'
        '<table:table-cell table:number-columns-repeated="3"><text:p>x</text:p></table:table-cell>'
        '<table:table-cell table:number-columns-repeated="16000"/>'
        "<table:table-cell><text:p>y</text:p></table:table-cell></table:table-row></table:table>"
    )
    text = read("a.ods", with_content("book.ods", "spreadsheet", sheet)).text
    assert text == "S\n\nx | x | x | " + "| " * 20 + "y"


def test_cells_that_repeat_a_long_text_end_in_an_error(read: Read) -> None:
    row = (
        '<table:table-row><table:table-cell table:number-columns-repeated="20"><text:p>'
        f"{'x' * 600_000}</text:p></table:table-cell></table:table-row>"
    )
    data = with_content(
        "book.ods", "spreadsheet", f'<table:table table:name="S">{row * 9}</table:table>'
    )
    with pytest.raises(SourceFileError, match=re.escape("its cells repeat too much text")):
        read("a.ods", data)


DOC = FILES / "garden.doc"
OPTIONS = ExtractionOptions()


def with_program(folder: Path, script: str) -> ExtractionOptions:
    """Options with a script in place of LibreOffice."""
    program = folder / "soffice"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return replace(OPTIONS, libreoffice=str(program))


@pytest.mark.skipif(find_libreoffice() is None, reason="LibreOffice is not installed")
def test_an_old_document_is_read() -> None:
    extracted = extract(DOC, replace(OPTIONS, libreoffice=find_libreoffice()))
    assert extracted.media_type == "application/msword"
    assert "Granada | 1238" in extracted.text


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a script of Unix")
@pytest.mark.parametrize(
    ("script", "message"),
    [("exit 0", "LibreOffice cannot read it"), ("sleep 60 & wait", "LibreOffice took too long")],
)
def test_a_libreoffice_that_fails_or_hangs_costs_only_the_file(
    tmp_path: Path, script: str, message: str
) -> None:
    options = replace(with_program(tmp_path, script), member_seconds=1)
    started = time.monotonic()
    with pytest.raises(SourceFileError, match=message):
        extract(DOC, options)
    assert time.monotonic() - started < 20


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a script of Unix")
def test_what_libreoffice_writes_is_bounded(tmp_path: Path) -> None:
    script = (
        "mkdir out; head -c 200000000 /dev/zero > out/file.odt\n"
        f"wc -c < out/file.odt > '{tmp_path}/size'"
    )
    with pytest.raises(SourceFileError, match="is a damaged DOC"):
        extract(DOC, with_program(tmp_path, script))
    assert int((tmp_path / "size").read_text()) == 100_000_000


def test_nothing_in_the_current_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(sys.executable, tmp_path / "soffice")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ".")
    assert find_libreoffice() in {None, "/Applications/LibreOffice.app/Contents/MacOS/soffice"}
