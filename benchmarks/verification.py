"""What it costs to compare the files of an index with their checksums before answering.

``make bench`` runs this. Each figure is the least processor time of several processes that take
turns, with the comparison and without it. It writes the table of docs/measured/faults.md.
"""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.page import machine, write_figures
from shared import Document, Index, create

ROUNDS = 3
WAYS = ("with", "without")
DOCUMENTS = 800

MEASURED = """
import json, sys, time
from shared import Searcher
from shared.java import vm
from shared.reading import open_index
if sys.argv[2] == "without":
    open_index.verify = lambda path, names: []
vm.start("server")
with Searcher(sys.argv[1], program="server") as searcher:
    seconds = []
    for _ in range(100):
        began = time.process_time()
        searcher.search("common", limit=10)
        seconds.append(time.process_time() - began)
print(json.dumps([seconds[0], min(seconds)]))
"""


def main() -> None:
    """Measure, print the table, and write it into the page."""
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        size = write(index)
        first: dict[str, list[float]] = {way: [] for way in WAYS}
        later: dict[str, list[float]] = {way: [] for way in WAYS}
        for _ in range(ROUNDS):
            for way in WAYS:
                one, another = measured(index, way)
                first[way].append(one)
                later[way].append(another)
    lines = ["| processor time of | with the comparison | without it |", "|---|---:|---:|"]
    for name, times in (("the first search of a process", first), ("a later one", later)):
        with_it, without = min(times["with"]), min(times["without"])
        lines.append(f"| {name} | {1000 * with_it:.1f} ms | {1000 * without:.1f} ms |")
    lines += [
        "",
        (f"An index of {size / 1e6:.0f} MB; minima of {ROUNDS} processes each, on {machine()}."),
    ]
    print("\n".join(lines))
    write_figures("faults.md", lines)


def write(index: Path) -> int:
    """Write an index of words that do not compress; returns its bytes."""
    words = random.Random(1)  # noqa: S311 - the same index every time
    create(index)
    with Index(index) as writer:
        for number in range(DOCUMENTS):
            text = " ".join(f"{words.getrandbits(40):x}" for _ in range(1_200))
            writer.add(Document(str(number), "Title", f"common {text}"))
    return sum(file.stat().st_size for file in index.iterdir())


def measured(index: Path, way: str) -> tuple[float, float]:
    """Seconds of processor time of the first search of a process, and of the quickest later one."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, index, way], stdout=subprocess.PIPE, check=True
    )
    first, later = json.loads(done.stdout)
    return first, later


if __name__ == "__main__":
    main()
