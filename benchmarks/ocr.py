"""How many scanned pages are read in a minute, and how many of those that the index knows.

Pages of the manual among the samples in `test-index`, drawn with 200 dots per inch and some noise,
are written as pictures into PDFs: one, and as many as there are cores. Each is indexed by `idx`,
then again by `idx add`, which finds all pages in the cache. The table is written into
docs/measured/extraction.md.
"""

import io
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fpdf import FPDF
from PIL import Image, ImageChops
from pypdfium2 import PdfDocument

from benchmarks.page import machine, write_figures
from idx.extraction.programs import find_tesseract, tesseract_version
from tests.programs import PROGRAMS

ROOT: Final = Path(__file__).parents[1]
MANUAL: Final = ROOT / "test-index" / "documents" / "otterline-wl4-manual.pdf"
PAGES: Final = 24
SCALE: Final = 200 / 72
NOISE: Final = 40


def main() -> None:
    """Measure, print the table, and write it into the page."""
    program = find_tesseract()
    if program is None:
        raise SystemExit("Tesseract is not installed")
    cores = os.cpu_count() or 1
    rows = []
    with tempfile.TemporaryDirectory() as name:
        pages = [*scans()]
        for files in (1, cores):
            folder = Path(name) / str(files)
            write(folder, pages, files)
            first, again = (measure(folder, command) for command in ("sync", "add"))
            what = "one PDF" if files == 1 else f"{files} PDFs"
            rows.append(f"| {PAGES} pages in {what} | {first:.0f} | {again:.0f} |")
    lines = [
        "| pages a minute | read by OCR | known to the index |",
        "|---|---:|---:|",
        *rows,
        "",
        f"{machine()}, {tesseract_version(program)}, load {os.getloadavg()[0]:.1f}.",
    ]
    print("\n".join(lines))
    write_figures("extraction.md", lines, writer="benchmarks.ocr")


def scans() -> Iterator[bytes]:
    """Yield the pages as pictures in JPEG, all of them different."""
    with PdfDocument(MANUAL) as document:
        for number in range(PAGES):
            page = document[number % len(document)].render(scale=SCALE, grayscale=True).to_pil()
            noise = Image.effect_noise(page.size, NOISE)
            stream = io.BytesIO()
            ImageChops.add(page, noise, scale=1, offset=-128).save(stream, "JPEG")
            yield stream.getvalue()


def write(folder: Path, pages: list[bytes], files: int) -> None:
    """Write the pages into so many PDFs."""
    folder.mkdir()
    for number in range(files):
        pdf = FPDF()
        for page in pages[number::files]:
            pdf.add_page()
            pdf.image(io.BytesIO(page), x=0, y=0, w=210)
        pdf.output(str(folder / f"{number}.pdf"))


def measure(folder: Path, command: str) -> float:
    """Pages that are indexed in a minute, with the start of the program."""
    began = time.perf_counter()
    index = folder.with_suffix(".index")
    subprocess.run(
        [PROGRAMS / "idx", command, folder, "-i", index, "--ocr-languages", "eng"],
        check=True,
        capture_output=True,
    )
    return PAGES * 60 / (time.perf_counter() - began)


if __name__ == "__main__":
    main()
