"""DjVu files, read by djvutxt or a program in its place."""

import stat
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from idx.errors import SourceFileError, UnsupportedFileError
from idx.extraction.formats import extract
from idx.extraction.pdf.djvu import find_djvutxt
from idx.extraction.types import ExtractionOptions

SLUICE = Path(__file__).parents[3] / "data" / "sluice.djvu"
OPTIONS = ExtractionOptions()


@pytest.mark.skipif(find_djvutxt() is None, reason="djvutxt is not installed")
def test_the_text_behind_the_pictures_is_read_page_by_page(tmp_path: Path) -> None:
    options = replace(OPTIONS, djvutxt=find_djvutxt())
    extracted = extract(SLUICE, options)
    assert extracted.text == "The sluice is closed in winter.\n\nDie Schleuse öffnet im März."
    assert [page.start for page in extracted.pages] == [0, 33]
    (tmp_path / "bad.djvu").write_bytes(SLUICE.read_bytes()[:100])
    with pytest.raises(SourceFileError, match=r"is a damaged DjVu file|has no text"):
        extract(tmp_path / "bad.djvu", options)


def test_without_djvutxt_it_is_named() -> None:
    with pytest.raises(UnsupportedFileError, match="install djvutxt of DjVuLibre"):
        extract(SLUICE, OPTIONS)


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a script of Unix")
@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("exit 10", "cannot read it"),
        ("exec sleep 60", "took too long"),
        ("exec yes", "cannot read it|too much text"),
        (r"printf ' \f \f'", "has no text on its 2 pages"),
    ],
)
def test_a_djvutxt_that_fails_or_hangs_costs_only_the_file(
    tmp_path: Path, script: str, reason: str
) -> None:
    program = tmp_path / "djvutxt"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    started = time.monotonic()
    with pytest.raises(SourceFileError, match=reason):
        extract(SLUICE, replace(OPTIONS, djvutxt=str(program), member_seconds=2))
    assert time.monotonic() - started < 20


def test_nothing_in_the_current_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "djvutxt").write_text("#!/bin/sh\n")
    (tmp_path / "djvutxt").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "." if sys.platform == "win32" else ".::")
    assert find_djvutxt() is None
