"""Documents of Pages, Numbers and Keynote."""

import io
import zipfile
from pathlib import Path

import pytest

from idx.errors import SourceFileError, UnsupportedFileError
from idx.extraction.formats import extract
from idx.extraction.types import ExtractionOptions
from tests.idx.test_add_files import pdf_of

OPTIONS = ExtractionOptions()


def package(files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


@pytest.mark.parametrize("name", ["a.pages", "a.numbers", "a.key"])
def test_the_preview_of_an_older_document_is_read(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    preview = pdf_of(["The first page", "The second page"])
    file.write_bytes(package({"index.xml": b"<x/>", "QuickLook/Preview.pdf": preview}))
    extracted = extract(file, OPTIONS)
    assert extracted.text == "The first page\n\nThe second page"
    assert extracted.media_type.startswith("application/vnd.apple.")
    assert [page.start for page in extracted.pages] == [0, 16]
    file.write_bytes(package({"QuickLook/Preview.pdf": b"%PDF-1.4 damaged"}))
    with pytest.raises(SourceFileError, match="is a damaged PDF"):
        extract(file, OPTIONS)


@pytest.mark.parametrize("name", ["a.pages", "a.numbers", "a.key"])
def test_a_newer_document_is_named(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(package({"Index/Document.iwa": b"\0", "preview.jpg": b"\xff\xd8\xff"}))
    with pytest.raises(UnsupportedFileError, match="without a preview of its pages; export it"):
        extract(file, OPTIONS)
    file.write_text("Any text may have this name")
    assert extract(file, OPTIONS).text == "Any text may have this name"


def test_help_of_windows_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.chm").write_bytes(b"ITSF\3\0\0\0" + bytes(200))
    with pytest.raises(UnsupportedFileError, match=r"help of Windows .* save its pages as \.html"):
        extract(tmp_path / "a.chm", OPTIONS)
