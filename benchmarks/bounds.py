"""Whether a server and a writer that run for long take more and more of the machine.

A real server answers questions of all kinds by stdio while another process commits to the same
small index: one commit for every ten questions. After 1, 10, 50 and 100 % of them both are
measured. It writes the tables of docs/measured/bounds.md, and with --json the figures on stdout.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Final

from benchmarks.page import machine, write_figures
from shared import Document, Index, create
from shared.model.document import Metadata
from tests.tools.busy_server import AT_ONCE, busy_server, questions
from tests.tools.busy_writer import EVERY_BY_IDX, busy_writer
from tests.tools.made_up_texts import chunks
from tests.tools.resources import OPENED_TO_QUESTIONS, Resources, taken_by

SHARES: Final = (0.01, 0.1, 0.5, 1.0)  # of all searches and commits: those after which is measured
LASTING: Final = 100  # documents that nobody changes, of four chunks each

_TEXTS_OF_A_DOCUMENT: Final = 3
_AHEAD: Final = 5  # commits by which the writer may be behind the questions

_SECONDS_TO_SETTLE: Final = 2.0
"""Time for what the last questions and commits began, such as merges, to end."""


@dataclass(frozen=True)
class Reading:
    """What was measured at one point."""

    searches: int
    commits: int
    seconds: float
    server: Resources
    writer: Resources
    files: int


def main() -> None:
    """Measure, print the tables, and write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--searches", type=int, default=100_000)
    parser.add_argument("--commits", type=int, default=10_000)
    parser.add_argument("--json", action="store_true", help="print JSON; leave the page as it is")
    arguments = parser.parse_args()
    readings = []
    with tempfile.TemporaryDirectory() as folder:
        for reading in course(Path(folder) / "index", arguments.searches, arguments.commits):
            print(reading, file=sys.stderr)
            readings.append(reading)
    if arguments.json:
        print(json.dumps([asdict(reading) for reading in readings], indent=2))
        return
    lines = list(tables(readings))
    print("\n".join(lines))
    write_figures("bounds.md", lines)


def course(index: Path, searches: int, commits: int) -> Iterator[Reading]:
    """Have a server answer and a writer commit, and measure them after each of `SHARES`."""
    texts = _fill(index)
    # The writer starts with the environment of this process.
    os.environ.update(OPENED_TO_QUESTIONS)
    with (
        busy_writer(index, texts) as writer,
        busy_server(index, **OPENED_TO_QUESTIONS) as (server, ask),
    ):
        for name in OPENED_TO_QUESTIONS:
            del os.environ[name]
        source, asked, began = questions(texts, LASTING), 0, time.monotonic()
        for share in SHARES:
            while asked < share * searches:
                ask(list(islice(source, AT_ONCE)))
                asked += AT_ONCE
                due = round(min(asked / searches, share) * commits)
                writer.up_to(due)
                while writer.done() < due - _AHEAD:
                    time.sleep(0.002)
            while writer.done() < due:
                time.sleep(0.002)
            # Nothing is left of what readers had open before the last commit.
            ask(list(islice(source, AT_ONCE)))
            time.sleep(_SECONDS_TO_SETTLE)
            yield Reading(
                asked,
                writer.done(),
                time.monotonic() - began,
                taken_by(server, index),
                taken_by(writer.process_id, index),
                len(list(index.iterdir())),
            )


def _fill(index: Path) -> list[str]:
    """Write the documents that last, and return texts."""
    create(index)
    texts = [text.content for text in chunks(_TEXTS_OF_A_DOCUMENT * LASTING)]
    with Index(index) as writer:
        for number in range(LASTING):
            text = " ".join(texts[number::LASTING])
            metadata: Metadata = {"kind": "lasting", "year": 1990 + number % 40}
            writer.add(Document(f"lasting-{number}", f"Lasting {number}", text, metadata))
    return texts


def tables(readings: Sequence[Reading]) -> Iterator[str]:
    """The lines of both tables, and what they were measured on."""
    yield from _table(
        "searches", [(reading.searches, reading.server, None) for reading in readings]
    )
    yield ""
    yield from _table(
        "commits", [(reading.commits, reading.writer, reading.files) for reading in readings]
    )
    yield ""
    yield (
        f"{LASTING} documents of 4 chunks that stay, up to 200 of one that come and go; every "
        f"{EVERY_BY_IDX}th commit by a run of `idx`, {AT_ONCE} questions at once; "
        f"{readings[-1].seconds:,.0f} s on {machine()}, "
        f"PyLucene {version('pylucene')}, MCP SDK {version('mcp')}."
    )


def _table(counted: str, rows: Sequence[tuple[int, Resources, int | None]]) -> Iterator[str]:
    files = "| files of the index |" if rows[0][2] is not None else "|"
    yield (
        f"| {counted} | open files | threads | mapped files | memory MB | Java heap MB | "
        f"Java's other memory MB {files}"
    )
    yield "|---:" * (7 + (rows[0][2] is not None)) + "|"
    for count, taken, number in rows:
        sizes = (taken.resident, taken.java_heap, taken.java_native)
        memory = " | ".join(f"{size / 1024:.1f}" for size in sizes)
        last = "" if number is None else f" {number} |"
        yield (
            f"| {count:,} | {taken.descriptors} | {taken.threads} | {taken.mapped_files} | "
            f"{memory} |{last}"
        )


if __name__ == "__main__":
    main()
