"""Old documents, converted by LibreOffice or a program in its place."""

import shutil
import stat
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from idx.errors import SourceFileError, UnsupportedFileError
from idx.extraction.formats import extract
from idx.extraction.programs import find_libreoffice
from idx.extraction.types import ExtractionOptions
from tests.idx.conftest import FILES

DOC = FILES / "garden.doc"
OPTIONS = ExtractionOptions()


@pytest.mark.skipif(find_libreoffice() is None, reason="LibreOffice is not installed")
def test_an_old_document_is_read() -> None:
    extracted = extract(DOC, replace(OPTIONS, libreoffice=find_libreoffice()))
    assert extracted.media_type == "application/msword"
    assert "Granada | 1238" in extracted.text


def test_without_libreoffice_it_is_named() -> None:
    with pytest.raises(UnsupportedFileError, match=r"save it as \.docx, or install LibreOffice"):
        extract(DOC, OPTIONS)


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a script of Unix")
@pytest.mark.parametrize(
    ("script", "message"),
    [("exit 0", "LibreOffice cannot read it"), ("sleep 60 & wait", "LibreOffice took too long")],
)
def test_a_libreoffice_that_fails_or_hangs_costs_only_the_file(
    tmp_path: Path, script: str, message: str
) -> None:
    program = tmp_path / "soffice"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    options = replace(OPTIONS, libreoffice=str(program), member_seconds=1)
    started = time.monotonic()
    with pytest.raises(SourceFileError, match=message):
        extract(DOC, options)
    assert time.monotonic() - started < 20


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a script of Unix")
def test_what_libreoffice_writes_is_bounded(tmp_path: Path) -> None:
    program = tmp_path / "soffice"
    program.write_text(
        "#!/bin/sh\nmkdir out; head -c 200000000 /dev/zero > out/file.odt\n"
        f"wc -c < out/file.odt > '{tmp_path}/size'\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    with pytest.raises(SourceFileError, match="is a damaged DOC"):
        extract(DOC, replace(OPTIONS, libreoffice=str(program)))
    assert int((tmp_path / "size").read_text()) == 100_000_000


def test_nothing_in_the_current_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(sys.executable, tmp_path / "soffice")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ".")
    assert find_libreoffice() in {None, "/Applications/LibreOffice.app/Contents/MacOS/soffice"}
