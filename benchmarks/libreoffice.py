"""How long LibreOffice takes for an old document: each in a process of its own, and all in one.

`idx` starts LibreOffice for each file, with a new profile. One process that converts ten shows what
is lost by that. The table is written into docs/measured/extraction.md.
"""

import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Final

from benchmarks.page import machine, write_figures
from idx.extraction.formats import extract
from idx.extraction.office.libreoffice import find_libreoffice
from idx.extraction.types import ExtractionOptions

LETTER: Final = Path(__file__).parents[1] / "test-index" / "more" / "letter-quay-1998.doc"
FILES: Final = 10


def main() -> None:
    """Measure, print the table, and write it into the page."""
    program = find_libreoffice()
    if program is None:
        raise SystemExit("LibreOffice is not installed")
    apart = statistics.median(read(program) for _ in range(FILES))
    together = converted_together(program) / FILES
    lines = [
        "| seconds for a document | |",
        "|---|---:|",
        f"| a process and a profile for each, as `idx` does | {apart:.2f} |",
        f"| {FILES} documents in one process | {together:.2f} |",
        "",
        f"{machine()}, load {os.getloadavg()[0]:.1f}.",
    ]
    print("\n".join(lines))
    write_figures("extraction.md", lines, writer="benchmarks.libreoffice")


def read(program: str) -> float:
    """Seconds for a document as `idx` reads it."""
    began = time.perf_counter()
    extract(LETTER, ExtractionOptions(libreoffice=program))
    return time.perf_counter() - began


def converted_together(program: str) -> float:
    """Seconds for documents that one process converts."""
    with tempfile.TemporaryDirectory() as name:
        files = [Path(name) / f"{number}.doc" for number in range(FILES)]
        for file in files:
            shutil.copy(LETTER, file)
        profile = (Path(name) / "profile").as_uri()
        began = time.perf_counter()
        subprocess.run(
            [
                *(program, "--headless", f"-env:UserInstallation={profile}", "--convert-to", "odt"),
                *("--outdir", f"{name}/out", *map(str, files)),
            ],
            check=True,
            capture_output=True,
        )
        return time.perf_counter() - began


if __name__ == "__main__":
    main()
