"""How long pictures of pages take: the first one, and further ones.

The pages of the manual among the samples in `test-index` are rendered with two words marked, in
the processes and with the cache that the server uses. The first picture includes the start of the
worker processes. PDFium and Pillow alone, in turns with the others, show the least that a picture
can take on the machine at that moment. The table is written into docs/measured/extraction.md.
"""

import asyncio
import io
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pypdfium2 import PdfDocument

from benchmarks.page import machine, write_figures
from server.lucene_pool import LucenePool
from server.pictures.page import page_picture
from server.settings import ServerSettings
from server.state import ServerState
from tests.tools.longest_answers import IDX

ROOT: Final = Path(__file__).parents[1]

MANUAL: Final = "otterline-wl4-manual.pdf"

PAGES: Final = 6

ROUNDS: Final = 30
"""Pictures of each page."""

QUERY: Final = "battery logger"

SCALE: Final = 2.0
"""Pixels per point at which a page of A4 has two million pixels."""


def main() -> None:
    """Measure, print the table, and write it into the page."""
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        documents = ROOT / "test-index" / "documents"
        subprocess.run([IDX, "sync", documents, "-i", index], check=True, capture_output=True)
        times = asyncio.run(measure(ServerSettings(index), documents / MANUAL))
    lines = [
        "| a page of A4 as a picture | ms, median | slowest of 20 |",
        "|---|---:|---:|",
        f"| the first one, with the start of the processes | {times.first:,.0f} |  |",
        _row("PDFium and Pillow alone", times.alone),
        _row("another page", times.new),
        "",
        f"{machine()}, load {os.getloadavg()[0]:.1f}.",
    ]
    print("\n".join(lines))
    write_figures("extraction.md", lines, writer="benchmarks.page_pictures")


@dataclass
class Times:
    """Milliseconds of the first picture, of PDFium and Pillow alone, and of other pictures."""

    first: float
    alone: list[float] = field(default_factory=list)
    new: list[float] = field(default_factory=list)


async def measure(settings: ServerSettings, file: Path) -> Times:
    """Measure each kind in turns."""
    state = ServerState(settings, LucenePool(settings.index_path))

    async def picture(page: int, word: str) -> float:
        began = time.perf_counter()
        await page_picture(state, MANUAL, page, f"{QUERY} {word}")
        return (time.perf_counter() - began) * 1_000

    with state.pool, state.renderer, PdfDocument(file) as document:
        # Java starts before the first picture.
        await state.pool.run(lambda searcher: searcher.search(QUERY), within=None)
        times = Times(await picture(1, "first"))
        for turn in range(ROUNDS):
            for page in range(1, PAGES + 1):
                times.alone.append(alone(document, page))
                times.new.append(await picture(page, f"word{turn}"))
    return times


def alone(document: PdfDocument, page: int) -> float:
    """Milliseconds of PDFium and Pillow for a picture of the same size."""
    began = time.perf_counter()
    drawn = document[page - 1].render(scale=SCALE).to_pil()
    drawn.save(io.BytesIO(), "PNG", compress_level=3)
    return (time.perf_counter() - began) * 1_000


def _row(name: str, times: Sequence[float]) -> str:
    slow = statistics.quantiles(times, n=20)[-1]
    return f"| {name} | {statistics.median(times):,.1f} | {slow:,.1f} |"


if __name__ == "__main__":
    main()
