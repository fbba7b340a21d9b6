"""How fast folders are indexed, and how much memory it takes.

``make bench`` runs this; the machine should be idle. Each folder is synchronized by the real
command into a new index. It writes the tables of docs/measured/speed.md.
"""

import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fpdf import FPDF

from benchmarks.page import machine, write_figures

IDX = Path(sys.executable).parent / "idx"
VOCABULARY = 20_000


@dataclass(frozen=True)
class Run:
    """One run of `idx sync`."""

    seconds: float
    cores: float
    megabytes: float
    finished: dict[str, Any]


def main() -> None:
    """Measure, print the tables, and write them into the page."""
    with tempfile.TemporaryDirectory() as name:
        lines = [*throughput(Path(name)), *unchanged(Path(name))]
    lines.append(f"{machine()}, load {os.getloadavg()[0]:.1f}.")
    print("\n".join(lines))
    write_figures("speed.md", lines, writer="benchmarks.folders")


def throughput(temporary: Path) -> list[str]:
    """The first synchronization of folders of several kinds."""
    folders = {
        "20,000 texts of 1.2 KB": texts(temporary / "small", 20_000, 1_200),
        "200 texts of 1 MB": texts(temporary / "large", 200, 1_000_000),
        "300 PDFs of 20 pages": pdfs(temporary / "pdfs", 300, 20),
    }
    rows = [
        "| first sync | seconds | files/s | MB/s | pages/s | cores busy | memory | index / text |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, folder in folders.items():
        index = temporary / "index"
        run = synchronize(folder, index)
        files = run.finished["added"]
        megabytes = size(folder) / 1e6
        pages = f"{files * 20 / run.seconds:,.0f}" if "pages" in name else ""
        rows.append(
            f"| {name} | {run.seconds:.1f} | {files / run.seconds:,.0f} | "
            f"{megabytes / run.seconds:,.1f} | {pages} | {run.cores:.1f} | "
            f"{run.megabytes:,.0f} MB | {size(index) / size(folder):.2f} |"
        )
        shutil.rmtree(index)
    return [*rows, ""]


def unchanged(temporary: Path) -> list[str]:
    """A synchronization of 100,000 files in which nothing has changed."""
    folder = temporary / "many"
    for number in range(100_000):
        file = folder / str(number // 1_000) / f"{number}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"text of number {number}")
    index = temporary / "index"
    first = synchronize(folder, index)
    again = min((synchronize(folder, index) for _ in range(3)), key=lambda run: run.seconds)
    shutil.rmtree(index)
    return [
        "| 100,000 files | seconds | memory of the writer |",
        "|---|---:|---:|",
        f"| first sync | {first.seconds:.1f} | {first.megabytes:,.0f} MB |",
        f"| nothing changed | {again.seconds:.2f} | {again.megabytes:,.0f} MB |",
        "",
    ]


def synchronize(folder: Path, index: Path) -> Run:
    """Run `idx sync`, on a new index if there is none."""
    if not index.exists():
        subprocess.run([IDX, "init", "-i", index], check=True, capture_output=True)
    started = time.monotonic()
    with subprocess.Popen(
        [IDX, "sync", folder, "-i", index, "--json"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None  # noqa: S101 - it was asked for
        last = ""
        for last in process.stdout:  # noqa: B007 - the last line is wanted
            pass
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
    seconds = time.monotonic() - started
    cores = (usage.ru_utime + usage.ru_stime) / seconds
    return Run(seconds, cores, usage.ru_maxrss / 1e3, json.loads(last))


def texts(folder: Path, count: int, characters: int) -> Path:
    """Make texts of words that are as frequent as in a language (Zipf's law)."""
    choice = random.Random(1)  # noqa: S311 - the same texts in every run
    words = [
        "".join(choice.choices("etaoinshrdlu", k=choice.randint(2, 9))) for _ in range(VOCABULARY)
    ]
    weights = [1 / rank for rank in range(1, VOCABULARY + 1)]
    pool = choice.choices(words, weights, k=1_000_000)
    for number in range(count):
        file = folder / str(number // 200) / f"{number}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        start = choice.randrange(len(pool) - characters // 3)
        file.write_text(" ".join(pool[start : start + characters // 3])[:characters])
    return folder


def pdfs(folder: Path, count: int, pages: int) -> Path:
    """Make PDFs of plain pages."""
    folder.mkdir()
    for number in range(count):
        pdf = FPDF()
        pdf.set_font("Helvetica", size=10)
        for page in range(pages):
            pdf.add_page()
            line = f"Report {number}, page {page}: the river rose by {page * 7} mm in the night. "
            pdf.multi_cell(0, text=line * 40)
        pdf.output(str(folder / f"{number}.pdf"))
    return folder


def size(folder: Path) -> int:
    """Bytes of all files."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


if __name__ == "__main__":
    # Measuring ends a run that needs more than the machine has, not the machine.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
