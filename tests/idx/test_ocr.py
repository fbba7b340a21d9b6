"""Scanned pages and pictures, read by Tesseract or a program in its place."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fpdf import FPDF
from PIL import Image, ImageDraw, ImageFont

from tests.conftest import Idx
from tests.fork_server import PROGRAMS
from tests.idx.files import ids, result, text_of
from tests.idx.test_add_files import pdf_of

needs_tesseract = pytest.mark.skipif(
    shutil.which("tesseract") is None, reason="Tesseract is not installed"
)
TABLE = "\t".join(
    (
        *("level", "page_num", "block_num", "par_num", "line_num", "word_num"),
        *("left", "top", "width", "height", "conf", "text"),
    )
)
NOISE = "\t".join(("5", *"1111", "1", *"0099", "12", "noise"))
WORD = "\t".join(("5", *"1111", "1", *"0099", "95", "marina"))


def picture(file: Path, text: str) -> Path:
    image = Image.new("L", (1400, 200), 255)
    ImageDraw.Draw(image).text((40, 60), text, fill=0, font=ImageFont.load_default(64))
    image.save(file)
    return file


def scan(file: Path, *texts: str) -> None:
    pdf = FPDF()
    for number, text in enumerate(texts):
        pdf.add_page()
        pdf.image(picture(file.with_suffix(f".{number}.png"), text), w=180)
        file.with_suffix(f".{number}.png").unlink()
    pdf.output(str(file))


def tesseract_in_place(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Make a program named tesseract the first in the search path."""
    folder.mkdir()
    program = folder / "tesseract"
    program.write_text(
        f"#!{sys.executable}\nimport sys, time\n"
        "if '--list-langs' in sys.argv:\n    print('List:\\neng'); sys.exit()\n"
        f"data = sys.stdin.buffer.read()\n{script}\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    papers = tmp_path / "papers"
    papers.mkdir()
    return papers


@needs_tesseract
def test_scans_are_read_after_other_files(idx: Idx, empty_index: Path, papers: Path) -> None:
    scan(papers / "scan.pdf", "The rent is due on the third", "")
    (papers / "notes.txt").write_text("Notes")
    picture(papers / "photo.png", "A sign at the well")
    done = idx("sync", "papers", "--json", "--ocr-languages", "eng")
    assert result(done.stdout) == {"added": 2, "chunks": 2, "unsupported": 1}
    order = [json.loads(line).get("source_document") for line in done.stdout.splitlines()]
    assert order.index("scan.pdf") > order.index("notes.txt")
    assert text_of(empty_index, "scan.pdf") == "The rent is due on the third"
    (hit,) = json.loads(idx("search", "rent", "--json").stdout)["results"]
    assert (hit["source_document"], hit["page_start"]) == ("scan.pdf", 1)
    told = idx("sync", "papers", "--json", "--ocr", "force", "--retry").stdout
    assert result(told) == {"added": 1, "chunks": 1, "skipped": 2}
    assert text_of(empty_index, "photo.png") == "A sign at the well"


def test_without_ocr_scans_are_named(idx: Idx, empty_index: Path, papers: Path) -> None:
    scan(papers / "scan.pdf", "text")
    told = idx("sync", "papers", "--ocr", "off", code=1).stderr
    assert "has no text on its 1 page; OCR needs Tesseract, which is not installed, or" in told


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a script of Unix")
@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("sys.stderr.write('no such language'); sys.exit(1)", "failed: no such language"),
        pytest.param("time.sleep(60)", "Tesseract took too long", marks=pytest.mark.soak),
        ("sys.stdout.write('x' * 20_000_000)", "OCR failed: field larger"),
        (f"print({TABLE!r}); print({NOISE!r})", "OCR found none"),
    ],
)
def test_a_tesseract_that_fails_or_hangs_costs_only_its_pages(
    idx: Idx, empty_index: Path, papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    script: str, reason: str,
) -> None:  # fmt: skip
    tesseract_in_place(tmp_path / "bin", monkeypatch, script)
    scan(papers / "scan.pdf", "text")
    (papers / "notes.txt").write_text("Notes")
    told = idx("sync", "papers", "--timeout", "3", code=1).stderr
    assert reason in told
    assert ids(empty_index) == ["notes.txt"]


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a script of Unix")
def test_nothing_in_the_current_folder_is_run(
    idx: Idx, empty_index: Path, papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tesseract_in_place(tmp_path / "bin", monkeypatch, "open('/tmp/run', 'w')")
    monkeypatch.setenv("PATH", f".{os.pathsep}bin{os.pathsep}{Path(sys.executable).parent}")
    shutil.copy(tmp_path / "bin" / "tesseract", tmp_path / "tesseract")
    scan(papers / "scan.pdf", "text")
    assert "needs Tesseract" in idx("sync", "papers", code=1).stderr


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a script of Unix")
def test_what_an_interrupted_sync_left_to_ocr_is_read_by_the_next_one(
    idx: Idx, empty_index: Path, papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = tmp_path / "begun"
    script = (
        f"from pathlib import Path\nbegun = Path({str(begun)!r})\n"
        "if not begun.exists():\n    begun.touch(); time.sleep(60)\n"
        f"print({TABLE!r}); print({WORD!r})"
    )
    tesseract_in_place(tmp_path / "bin", monkeypatch, script)
    (papers / "part.pdf").write_bytes(pdf_of(["text", ""]))
    run = subprocess.Popen(
        [PROGRAMS / "idx", "sync", papers], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 60
    while not begun.exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    _, stderr = run.communicate(timeout=60)
    assert run.returncode == 130, stderr
    assert "marina" not in text_of(empty_index, "part.pdf")
    assert result(idx("sync", "papers", "--json").stdout) == {"updated": 1, "chunks": 1}
    assert "marina" in text_of(empty_index, "part.pdf")
    assert result(idx("sync", "papers", "--json").stdout) == {"skipped": 1}
