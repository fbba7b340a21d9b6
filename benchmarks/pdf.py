"""How many pages of PDFs are read in a second, by each engine.

``make bench`` runs this; the machine should be idle. Everything is measured side by side in one
run: the rounds take turns, and each figure is a median. It writes the table of
docs/measured/extraction.md.
"""

import statistics
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

from fpdf import FPDF

from benchmarks.page import machine, write_figures
from idx.extraction.types import ExtractionOptions
from idx.pdf.reader import extract_pdf

ROUNDS = 3
ENGINES = ("pdfium", "pdfplumber", "auto")
ROOT = Path(__file__).parents[1]
MANUAL = ROOT / "test-index" / "documents" / "otterline-wl4-manual.pdf"

LINE = "The level of the river rose by {} mm in the night, which nobody had expected of it."
LINES = 40
ROWS = [
    [f"WL-4-{row:02d}", f"{row} to {row + 4} m", f"±{row} mm", "green or blue"] for row in range(20)
]


def main() -> None:
    """Measure, print the table, and write it into the page."""
    with tempfile.TemporaryDirectory() as folder:
        documents = {
            "the sample manual, whose tables have no upright rules": (MANUAL, 6),
            "plain text": written(Path(folder) / "plain.pdf", 200, table_every=0),
            "a ruled table on every page": written(Path(folder) / "tables.pdf", 50, table_every=1),
            "a ruled table on every tenth page": written(
                Path(folder) / "mixed.pdf", 100, table_every=10
            ),
        }
        rates = {name: measure(file, pages) for name, (file, pages) in documents.items()}
    lines = [
        f"| pages a second, by `--pdf-engine` | pages | {' | '.join(ENGINES)} |",
        f"|---|---:|{'---:|' * len(ENGINES)}",
        *(
            f"| {name} | {documents[name][1]} | "
            + " | ".join(f"{rate:.0f}" for rate in by_engine.values())
            + " |"
            for name, by_engine in rates.items()
        ),
        "",
        (
            f"Medians of {ROUNDS} rounds in one process, on one of {machine()}, "
            f"pypdfium2 {version('pypdfium2')}, pdfplumber {version('pdfplumber')}."
        ),
    ]
    print("\n".join(lines))
    write_figures("extraction.md", lines)


def measure(file: Path, pages: int) -> dict[str, float]:
    """Pages a second by each engine: medians."""
    times: dict[str, list[float]] = {engine: [] for engine in ENGINES}
    for _ in range(ROUNDS):
        for engine, seconds in times.items():
            begin = time.perf_counter()
            extract_pdf(file, file.read_bytes(), ExtractionOptions(pdf_engine=engine))
            seconds.append(time.perf_counter() - begin)
    return {engine: pages / statistics.median(seconds) for engine, seconds in times.items()}


def written(file: Path, pages: int, table_every: int) -> tuple[Path, int]:
    """A PDF with so many pages of text, and a ruled table on some of them."""
    pdf = FPDF()
    pdf.set_font("Helvetica", size=10)
    for number in range(pages):
        pdf.add_page()
        has_table = table_every > 0 and number % table_every == 0
        for line in range(LINES // 2 if has_table else LINES):
            pdf.cell(text=LINE.format(number * line), h=6, new_x="LMARGIN", new_y="NEXT")
        if has_table:
            with pdf.table(ROWS, line_height=6):
                pass
    pdf.output(str(file))
    return file, pdf.pages_count


if __name__ == "__main__":
    main()
