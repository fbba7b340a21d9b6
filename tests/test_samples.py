"""The sample documents, and the demonstration that is made of them."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from idx.extraction.programs import find_libreoffice, find_tesseract
from tests.programs import run

SAMPLES = Path(__file__).parents[1] / "test-index"


def test_the_pdf_is_what_its_script_makes(tmp_path: Path) -> None:
    for name in ("make_pdf.py", "manual-source.md"):
        shutil.copy(SAMPLES / name, tmp_path)
    (tmp_path / "documents").mkdir()
    subprocess.run([sys.executable, tmp_path / "make_pdf.py"], capture_output=True, check=True)
    (made,) = (tmp_path / "documents").iterdir()
    assert made.read_bytes() == (SAMPLES / "documents" / made.name).read_bytes()


def test_the_table_lists_every_document() -> None:
    listed = re.findall(r"^\| `?\[?`?([\w.-]+)", (SAMPLES / "README.md").read_text(), re.MULTILINE)
    folders = (SAMPLES / "documents", SAMPLES / "more")
    documents = {file.name for folder in folders for file in folder.iterdir()}
    assert documents <= {Path(name).name for name in listed}


def test_the_demonstration_shows_scored_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("IDX_SEMANTIC")
    shutil.copytree(SAMPLES, tmp_path / "samples", ignore=shutil.ignore_patterns("index"))
    done = run(sys.executable, tmp_path / "samples" / "demo.py")
    assert "Added 13, updated 0, deleted 0, skipped 0, failed 0; 41 chunks" in done.stdout
    for question, best in {
        "error code meaning E17": "otterline-wl4-manual.pdf-chunk-010",
        "Kaution Werkstatt": "mietvertrag-werkstatt.txt-chunk-001",
        "DEC-0054 battery": "meeting-notes-2025-05-14.md-chunk-001",
    }.items():
        assert re.search(
            rf"Search\('{question}'\): \d+ chunks match\n +\d+\.\d+  {best}", done.stdout
        )
    within = {
        "litres per hour of the solar pump": "more/offer-pumps.eml!/prices.csv-chunk-001",
        "spare key of the boathouse": "more/handover.zip!/keys.txt-chunk-001",
        "shelf of the float switch": "more/stock.xls-chunk-001",
    }
    if find_tesseract():
        within["mooring fee of the sloop Marigold"] = "more/berth-27-scan.pdf-chunk-001"
    if find_libreoffice():
        within["loose stones of the quay wall"] = "more/letter-quay-1998.doc-chunk-001"
    for question, best in within.items():
        assert re.search(rf"Search\('{question}'\): .*\n +\d+\.\d+  {best}\n", done.stdout)
    by_words, by_both = done.stdout.split("By words only:")[1].split("By words and meaning:")
    assert "Search('Quand peut-on quitter le logement ?'): 0 chunks match" in by_words
    assert "lease-garden-flat.txt-chunk-003  by meaning" in by_both
    assert "The chunk after meeting-notes-2025-05-14.md-chunk-001: " in done.stdout
