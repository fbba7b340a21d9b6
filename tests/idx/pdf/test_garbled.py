"""Text of PDFs that is none, and what only looks so."""

from pathlib import Path

import pytest

from idx.errors import SourceFileError
from idx.pdf.details import is_garbled
from tests.idx.extraction.pdf_files import extract, write_pages

ROOT = Path(__file__).parents[3]
LEASE = (ROOT / "test-index" / "documents" / "lease-garden-flat.txt").read_text()[:1500]
LANGUAGES = ROOT / "tests" / "data" / "languages"


def shifted(text: str, places: int) -> str:
    return "".join(c if c == "\n" else chr(ord(c) + places) for c in text)


def test_glyphs_in_place_of_letters_are_recognized() -> None:
    assert is_garbled(shifted(LEASE, 0xE000))
    assert is_garbled("\ufffd" * 20 + " A few letters " + "\x04\x05" * 10)


def test_texts_in_any_language_code_and_tables_are_not(tmp_path: Path) -> None:
    texts = {
        *(file.read_text() for file in LANGUAGES.glob("*.txt")),
        *(file.read_text() for file in (ROOT / "idx" / "sync").glob("*.py")),
        (ROOT / "requirements.txt").read_text(),
        (ROOT / "docs" / "commands.md").read_text(),
        "\n".join(f"BX-{n:05} {n * 7919 % 977} QTY {n % 9} RAL {n}" for n in range(200)),
    }
    parts = [text[at : at + 2500] for text in texts for at in range(0, len(text), 2500)][:900]
    assert [part[:200] for part in parts if is_garbled(part)] == []


def test_such_pages_are_named_and_not_indexed(tmp_path: Path) -> None:
    bad = "\x01\x04\x05 \x06\x07\x08" * 10
    extracted = extract(write_pages(tmp_path / "a.pdf", ["A good page", bad]))
    assert extracted.text == "A good page"
    assert extracted.warnings == (
        "1 page not indexed (2): the fonts do not say which letters they show",
    )
    with pytest.raises(SourceFileError, match="has 1 page whose fonts do not say"):
        extract(write_pages(tmp_path / "b.pdf", [bad]))
