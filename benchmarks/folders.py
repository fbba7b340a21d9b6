"""How fast folders are indexed, where the time goes, and how much memory it takes.

``make bench`` runs this; the machine should be idle. Each folder is synchronized by the real
command into a new index. It writes the tables of docs/measured/speed.md.
"""

import json
import os
import platform
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fpdf import FPDF

from benchmarks.page import write_figures
from idx.extraction.formats import extract
from idx.extraction.types import ExtractionOptions
from idx.extraction.worker import hash_file, read_file
from idx.sync.plan import file_document, single_file
from shared.analysis.detection import detect_language
from shared.chunking import chunks
from shared.writing.index import Index, create

ROOT = Path(__file__).parents[1]
IDX = Path(sys.executable).parent / "idx"
VOCABULARY = 20_000
WORKERS = len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Run:
    """One run of `idx sync`."""

    seconds: float
    cores: float
    megabytes: float
    finished: dict[str, Any]


def main() -> None:
    """Measure, print the tables, and write them into the page."""
    lines = []
    with tempfile.TemporaryDirectory() as name:
        temporary = Path(name)
        lines += throughput(temporary)
        lines += unchanged(temporary)
        lines += shares(temporary)
    lines.append(
        f"{WORKERS} cores, {platform.machine()}, CPython {platform.python_version()}, "
        f"load {os.getloadavg()[0]:.1f}."
    )
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


def shares(temporary: Path) -> list[str]:
    """Where the processor time of a text goes: each stage alone, one after the other."""
    rows = [
        "| processor time of | hash | text | language | chunks | fields and Lucene |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    kinds = {
        "a text of 1.2 KB": sorted((temporary / "small").rglob("*.txt"))[:2_000],
        "a text of 1 MB": sorted((temporary / "large").rglob("*.txt"))[:20],
        "a PDF of 20 pages": sorted((temporary / "pdfs").rglob("*.pdf"))[:20],
    }
    for name, files in kinds.items():
        times = list(stages(files, temporary / "stages"))
        cells = " | ".join(f"{each / sum(times):.0%}" for each in times)
        rows.append(f"| {name}: {sum(times) / len(files) * 1e3:,.2f} ms | {cells} |")
    return [*rows, ""]


def stages(files: list[Path], index_path: Path) -> Iterator[float]:
    """Seconds of processor time of each stage, for all files together."""
    options = ExtractionOptions()
    yield spent(lambda: [hash_file(single_file(file).location) for file in files])
    yield spent(lambda: [extract(file, options) for file in files])
    texts_ = [extract(file, options).text for file in files]
    yield spent(lambda: [detect_language(text) for text in texts_])
    yield spent(lambda: [list(chunks("id", "title", text)) for text in texts_])
    changes = [single_file(file) for file in files]
    documents = [file_document(each, read_file(each.location, options), "keep") for each in changes]
    create(index_path)
    with Index(index_path) as index:
        # Java's compiler is warm in a long run.
        for document in documents:
            index.add(document)
        chunking = spent(lambda: [list(chunks("id", "title", text)) for text in texts_])
        yield spent(lambda: [index.add(document) for document in documents]) - chunking
    shutil.rmtree(index_path)


def spent(work: Callable[[], object]) -> float:
    """Seconds of processor time of this process."""
    started = time.process_time()
    work()
    return time.process_time() - started


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
