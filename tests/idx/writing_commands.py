"""The commands that write, on an index where each has much to do, and what is in it."""

import json
import random
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

from shared import Document, Index
from shared.maintenance.backup import backup
from tests.conftest import add_documents
from tests.idx.raw_index import stored
from tests.idx.segments import add_segments
from tests.programs import PROGRAMS, run

Texts = dict[str, list[str]]  # the texts of the chunks of each document


@dataclass(frozen=True)
class Command:
    """A command that writes."""

    arguments: tuple[str, ...]
    done: str
    by_document: bool = False


COMMANDS: Final = {
    "add": Command(
        ("add", "-d", "d01", "-t", "Title", "-f", "new.txt"), "Successfully added document 'd01'"
    ),
    "bulk": Command(("bulk", "-j", "new.jsonl"), "Successfully added 80 documents"),
    "delete": Command(("delete", *(f"d{n:02}" for n in range(5, 40))), "Deleted document 'd05'"),
    "sync": Command(("sync", "papers", "--workers", "1", "--json"), '"finished"', by_document=True),
    "rebuild": Command(("rebuild",), "Rebuilt "),
    "optimize": Command(("optimize",), "Merged "),
    "restore": Command(("restore", "copy", "--yes"), "Restored "),
    "purge": Command(("purge", "--yes"), "Removed "),
}


def prepare(folder: Path) -> None:
    """Make an index, a backup of an older state of it, and what the commands read."""
    words = random.Random(4)  # noqa: S311 - words that do not compress
    add_documents(folder / "index", Document("older", "Older", "text"))
    add_segments(folder / "index")
    backup(folder / "index", folder / "copy")
    with Index(folder / "index") as index:
        index.delete("older")
        index.add(Document("newer", "Newer", "text"))
    write_papers(folder / "papers", range(150), 1)
    run(PROGRAMS / "idx", *COMMANDS["sync"].arguments, "-i", "index", cwd=folder)
    write_papers(folder / "papers", range(40, 190), 2)
    for number in range(20):
        (folder / "papers" / f"{number}.txt").unlink()
    (folder / "new.txt").write_text(new_text(words, 20_000))
    with (folder / "new.jsonl").open("w") as stream:
        for number in range(80):
            entry = {"Id": f"d{number:02}", "Title": "T", "Content": new_text(words, 1_000)}
            stream.write(json.dumps(entry) + "\n")
    # Segments to merge, and deletions to leave out.
    for number in range(3):
        with Index(folder / "index") as index:
            index.add(Document(f"last{number}", "Last", f"text {number}"))
            index.delete(f"last{number - 1}")


def new_text(words: random.Random, count: int) -> str:
    return " ".join(f"{words.getrandbits(40):x}" for _ in range(count))


def write_papers(folder: Path, numbers: Iterable[int], version: int) -> None:
    folder.mkdir(exist_ok=True)
    for number in numbers:
        (folder / f"{number}.txt").write_text(
            f"paper {number} version {version} " * (number * 3 + 1)
        )


def texts(index: Path) -> Texts:
    """All that is in an index, by document; each must have its chunks from 1 to the last."""
    chunks = sorted(
        stored(index), key=lambda chunk: (chunk["source_document"], int(chunk["chunk_index"]))
    )
    found = {}
    for name, of_document in groupby(chunks, lambda chunk: str(chunk["source_document"])):
        listed = [*of_document]
        assert [int(chunk["chunk_index"]) for chunk in listed] == [*range(1, len(listed) + 1)]
        found[name] = [str(chunk["content"]) for chunk in listed]
    return found


def again(prepared: Path, folder: Path) -> None:
    """Have the index as it was before the command."""
    shutil.rmtree(folder / "index", ignore_errors=True)
    shutil.copytree(prepared / "index", folder / "index")
