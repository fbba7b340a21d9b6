"""Scanned pages and pictures, read by Tesseract or a program in its place."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from fpdf import FPDF
from PIL import Image, ImageDraw, ImageFont

from shared.ocr import Reading, ReadingCache, Word
from tests.conftest import Idx
from tests.idx.files import events, ids, make, result, text_of
from tests.idx.test_add_files import pdf_of
from tests.programs import PROGRAMS, Started
from tests.waiting import wait_for

needs_tesseract = pytest.mark.skipif(
    shutil.which("tesseract") is None, reason="Tesseract is not installed"
)
pytestmark = pytest.mark.usefixtures("empty_index")

TABLE = "\t".join(
    (
        *("level", "page_num", "block_num", "par_num", "line_num", "word_num"),
        *("left", "top", "width", "height", "conf", "text"),
    )
)
NOISE = "\t".join(("5", *"1111", "1", *"0099", "12", "noise"))
WORD = "\t".join(("5", *"1111", "1", *"0099", "95", "marina"))

COUNTING = "open(__file__ + '.runs', 'a').write(' '.join(sys.argv[1:]) + '\\n')\n"

InPlace = Callable[[str], None]
Runs = Callable[[], list[str]]


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


@pytest.fixture
def tesseract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InPlace:
    """Make a program that runs a script the first named tesseract in the search path."""
    if sys.platform == "win32":
        pytest.skip("the program is a script of Unix")
    program = make(tmp_path / "bin") / "tesseract"

    def in_place(script: str) -> None:
        program.write_text(
            # The path of Python may have blanks, which a first line does not allow.
            f"#!/bin/sh\n'''exec' \"{sys.executable}\" \"$0\" \"$@\"\n' '''\nimport sys, time\n"
            "if '--list-langs' in sys.argv:\n    print('List:\\ndeu\\neng\\nfra'); sys.exit()\n"
            "if '--version' in sys.argv:\n    print('tesseract 9.9'); sys.exit()\n"
            f"data = sys.stdin.buffer.read()\n{script}\n"
        )
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")

    return in_place


@pytest.fixture
def runs(tmp_path: Path, tesseract: InPlace) -> Runs:
    """The arguments of each run of a tesseract that reads the word marina on all pages."""
    tesseract(f"{COUNTING}print({TABLE!r}); print({WORD!r})")
    return lambda: (tmp_path / "bin" / "tesseract.runs").read_text().splitlines()


@needs_tesseract
def test_scans_are_read_after_other_files(idx: Idx, papers: Path) -> None:
    scan(papers / "scan.pdf", "The rent is due on the third", "")
    (papers / "notes.txt").write_text("Notes")
    picture(papers / "photo.png", "A sign at the well")
    done = idx("sync", "papers", "--json", "--ocr-languages", "eng")
    assert result(done.stdout) == {"added": 2, "chunks": 2, "unsupported": 1}
    order = [json.loads(line).get("source_document") for line in done.stdout.splitlines()]
    assert order.index("scan.pdf") > order.index("notes.txt")
    assert text_of(idx.index, "scan.pdf") == "The rent is due on the third"
    (hit,) = idx.json("search", "rent")["results"]
    assert (hit["source_document"], hit["page_start"]) == ("scan.pdf", 1)
    told = idx("sync", "papers", "--json", "--ocr", "force", "--retry").stdout
    assert result(told) == {"added": 1, "chunks": 1, "skipped": 2}
    assert text_of(idx.index, "photo.png") == "A sign at the well"


def test_without_ocr_scans_are_named(idx: Idx, papers: Path) -> None:
    scan(papers / "scan.pdf", "text")
    told = idx("sync", "papers", "--ocr", "off", code=1).stderr
    assert "has no text on its 1 page; OCR needs Tesseract, which is not installed, or" in told


def test_a_file_of_fonts_without_letters_is_a_failure_of_its_own_kind(
    idx: Idx, papers: Path
) -> None:
    glyphs = "\x01\x04\x05 \x06\x07\x08" * 10
    (papers / "glyphs.pdf").write_bytes(pdf_of([glyphs]))
    done = idx("sync", "papers", "--ocr", "off", "--json", code=1)
    assert result(done.stdout) == {"failed": 1}
    assert "install Tesseract, which reads the pages as pictures" in done.stderr
    (failure,) = idx.json("failures")["failures"]
    assert failure["kind"] == "garbled"
    assert "could not be read; see why: idx failures" in idx("doctor").stdout
    assert ids(idx.index) == []


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("sys.stderr.write('no such language'); sys.exit(1)", "failed: no such language"),
        pytest.param("time.sleep(60)", "Tesseract took too long", marks=pytest.mark.soak),
        ("sys.stdout.write('x' * 20_000_000)", "it found too much on one page"),
        (f"print({TABLE!r}); print({NOISE!r})", "OCR found none"),
    ],
)
def test_a_tesseract_that_fails_or_hangs_costs_only_its_pages(
    idx: Idx, papers: Path, tesseract: InPlace, script: str, reason: str
) -> None:
    tesseract(script)
    scan(papers / "scan.pdf", "text")
    (papers / "notes.txt").write_text("Notes")
    assert reason in idx("sync", "papers", "--timeout", "3", code=1).stderr
    assert ids(idx.index) == ["notes.txt"]


def test_nothing_in_the_current_folder_is_run(idx: Idx, papers: Path, tesseract: InPlace) -> None:
    tesseract("open('/tmp/run', 'w')")
    idx.setenv("PATH", f".{os.pathsep}bin{os.pathsep}{Path(sys.executable).parent}")
    shutil.copy(idx.folder / "bin" / "tesseract", idx.folder)
    scan(papers / "scan.pdf", "text")
    assert "needs Tesseract" in idx("sync", "papers", code=1).stderr


def test_what_an_interrupted_sync_left_to_ocr_is_read_by_the_next_one(
    idx: Idx, papers: Path, tesseract: InPlace
) -> None:
    begun = idx.folder / "begun"
    script = (
        f"from pathlib import Path\nbegun = Path({str(begun)!r})\n"
        "if not begun.exists():\n    begun.touch(); time.sleep(60)\n"
        f"print({TABLE!r}); print({WORD!r})"
    )
    tesseract(script)
    (papers / "part.pdf").write_bytes(pdf_of(["text", ""]))
    run = Started(PROGRAMS / "idx", "sync", papers, cwd=idx.folder)
    wait_for(begun.exists)
    run.send_signal(signal.SIGINT)
    _, stderr = run.communicate(timeout=60)
    assert run.returncode == 130, stderr
    assert "marina" not in text_of(idx.index, "part.pdf")
    assert result(idx("sync", "papers", "--json").stdout) == {"updated": 1, "chunks": 1}
    assert "marina" in text_of(idx.index, "part.pdf")
    assert result(idx("sync", "papers", "--json").stdout) == {"skipped": 1}


@pytest.mark.soak
def test_the_pages_of_a_long_scan_are_counted_before_its_end(
    papers: Path, tmp_path: Path, tesseract: InPlace
) -> None:
    """The second page is read only once the first one was told."""
    goes_on = tmp_path / "goes on"
    script = (
        f"from pathlib import Path\ngoes_on = Path({str(goes_on)!r})\n{COUNTING}"
        "runs = Path(__file__ + '.runs').read_text().count('\\n')\n"
        "until = time.monotonic() + 60\n"
        "while runs > 1 and not goes_on.exists() and time.monotonic() < until: time.sleep(0.05)\n"
        f"print({TABLE!r}); print({WORD!r})"
    )
    tesseract(script)
    scan(papers / "scan.pdf", "first", "second")
    command: list[str | Path] = [PROGRAMS / "idx", "sync", papers, "--workers", "1", "--json"]
    told = []
    with Started(*command, cwd=tmp_path, stderr=subprocess.DEVNULL) as run:
        for line in run.stdout:
            event = json.loads(line)
            told += [event["pages"]] if event["event"] == "recognized" else []
            if told[-1:] == [1]:
                goes_on.touch()
    assert run.returncode == 0
    assert goes_on.exists()
    assert (told[0], told[-1]) == (0, 2)


def test_a_strict_sync_ends_with_the_first_picture_that_cannot_be_read(
    idx: Idx, papers: Path, tesseract: InPlace
) -> None:
    tesseract("sys.exit(1)")
    for number in range(4):
        picture(papers / f"{number}.png", str(number))
    options = ("--ocr", "force", "--workers", "1", "--json")
    assert result(idx("sync", "papers", "--strict", *options, code=1).stdout) == {"failed": 1}
    assert ids(idx.index) == []
    assert result(idx("sync", "papers", *options, code=1).stdout)["failed"] == 3


@pytest.mark.soak
def test_scans_in_an_archive_have_as_much_time_as_others(
    idx: Idx, papers: Path, tesseract: InPlace
) -> None:
    tesseract(f"time.sleep(3); print({TABLE!r}); print({WORD!r})")
    with zipfile.ZipFile(papers / "a.zip", "w") as archive:
        for number in range(4):
            archive.write(picture(idx.folder / f"{number}.png", str(number)), f"{number}.png")
    idx("sync", "papers", "--ocr", "force", "--timeout", "8")
    assert ids(idx.index) == ["a.zip", *(f"a.zip!/{number}.png" for number in range(4))]


@pytest.mark.soak
def test_scans_can_be_found_while_others_are_read(
    idx: Idx, papers: Path, tesseract: InPlace
) -> None:
    tesseract(f"time.sleep(3); print({TABLE!r}); print({WORD!r})")
    for number in range(5):
        picture(papers / f"{number}.png", str(number))
    told = events(idx("sync", "papers", "--ocr", "force", "--workers", "1", "--json").stdout)
    kinds = [event["event"] for event in told if event["event"] in {"indexed", "committed"}]
    assert "committed" in kinds[kinds.index("indexed") : -1]


def test_no_page_is_read_twice(idx: Idx, papers: Path, runs: Runs) -> None:
    scan(papers / "one.pdf", "first", "second")
    told = idx("sync", "papers", "--json").stdout
    assert len(runs()) == 2
    progress = [each for each in events(told) if each["event"] == "recognized"]
    assert (progress[0], progress[-1]) == (
        {"event": "recognized", "pages": 0, "total": 2},
        {"event": "recognized", "pages": 2, "total": 2},
    )
    assert next((idx.index / "ocr").iterdir()).stat().st_mode & 0o77 == 0
    (papers / "one.pdf").rename(papers / "two.pdf")
    # Another document with a page more.
    scan(papers / "three.pdf", "first", "third")
    idx("rebuild")
    idx("sync", "papers")
    assert ids(idx.index) == ["three.pdf", "two.pdf"]
    assert len(runs()) == 3
    # Two processes may come to the page that both documents have at the same time.
    idx("add", "papers", "--ocr-languages", "deu", "--workers", "1")
    assert len(runs()) == 6
    assert "-l deu " in runs()[-1]
    idx("purge", "--yes")
    assert list(idx.index.joinpath("ocr").iterdir()) == []


def test_a_cache_that_others_wrote_is_not_trusted(idx: Idx, papers: Path, runs: Runs) -> None:
    scan(papers / "scan.pdf", "text")
    idx("sync", "papers")
    (cached,) = (idx.index / "ocr").iterdir()
    whole = cached.read_bytes()
    cache, page = ReadingCache(idx.index), cached.name.split("-")[0]
    assert cache.latest(page)
    word = ["marina", 95, 0, 0, 9, 9, 1, 1, 1]
    for planted in (
        b"",
        whole[:-5],
        os.urandom(2_000_000),
        zlib.compress(b" " * 40_000_000),
        zlib.compress(json.dumps([1, 9, 9, [["x" * 2_000, *word[1:]]]]).encode()),
        zlib.compress(json.dumps([1, 9, 9, [[*word[:-1], "one"]]]).encode()),
        zlib.compress(json.dumps([1, 0, 9, [word]]).encode()),
        zlib.compress(b"[" * 100_000),
    ):
        cached.write_bytes(planted)
        assert cache.latest(page) is None
    idx("add", "papers")
    assert (len(runs()), cached.read_bytes()) == (2, whole)
    secret = idx.folder / "secret"
    secret.write_bytes(whole)
    cached.unlink()
    cached.symlink_to(secret)
    assert cache.latest(page) is None
    cache.put(page, "tesseract 9.9 deu+eng+fra", Reading(9, 9, ()))
    assert secret.read_bytes() == whole
    assert not cached.is_symlink()
    shutil.rmtree(idx.index / "ocr")
    (idx.folder / "elsewhere").mkdir()
    (idx.index / "ocr").symlink_to(idx.folder / "elsewhere")
    idx("add", "papers")
    assert list((idx.folder / "elsewhere").iterdir()) == []


def test_scans_are_read_in_the_languages_that_are_installed(
    idx: Idx, papers: Path, runs: Runs
) -> None:
    scan(papers / "scan.pdf", "text")
    idx("sync", "papers")
    assert "-l deu+eng+fra " in runs()[-1]


def test_words_that_tesseract_is_not_sure_of_are_told(
    idx: Idx, papers: Path, tesseract: InPlace
) -> None:
    poor = WORD.replace("\t95\t", "\t55\t")
    tesseract(f"print({TABLE!r}); print({poor!r})")
    scan(papers / "scan.pdf", "text")
    assert "scan.pdf: OCR is only 55 % sure of its words" in idx("sync", "papers").stderr
    assert "55 % sure" in idx("failures").stdout
    (document,) = idx.json("list")["documents"]
    assert document["metadata"]["ocr_confidence"] == 55


def test_a_secret_on_a_scan_is_not_kept(idx: Idx, papers: Path, tesseract: InPlace) -> None:
    key = WORD.replace("marina", "AKIA" + "Q3EGRZXW2OJTV6NB")
    tesseract(f"print({TABLE!r}); print({key!r})")
    scan(papers / "scan.pdf", "text")
    assert "seems to contain an access key" in idx("sync", "papers").stderr
    assert not (idx.index / "ocr").exists()


def test_a_cache_stays_within_its_size(empty_index: Path) -> None:
    cache = ReadingCache(empty_index)
    reading = Reading(100, 100, (Word("word", 90, 1, 1, 9, 9, 1, 1, 1),))
    pages = [f"{number:064x}" for number in range(20)]
    for number, page in enumerate(pages):
        cache.put(page, "engine", reading)
        os.utime(next((empty_index / "ocr").glob(f"{page}-*")), (number, number))
    size = next((empty_index / "ocr").iterdir()).stat().st_size
    assert cache.get(pages[0], "engine") == reading
    cache.trim(10 * size)
    kept = [page for page in pages if cache.latest(page)]
    assert kept == [pages[0], *pages[-8:]]
    assert cache.get(pages[0], "another engine") is None
