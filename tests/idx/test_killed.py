"""Every command that writes, killed at random moments: nothing is torn, nothing is lost."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

import pytest

from shared import Document, Index
from shared.backup import backup
from shared.check import check
from shared.index import create
from shared.writer_lock import holder
from tests.idx.files import events
from tests.idx.raw_index import files_of_lucene, stored
from tests.idx.segments import fill

SEED: Final = int(os.environ.get("KILLS_SEED", "11"))

COMMITS_OFTEN: Final = """
import idx.ingestion
from idx.__main__ import main
idx.ingestion.SECONDS_BETWEEN_COMMITS = 0.1
main()
"""
"""`idx` with a sync that commits after each few files."""

Texts = dict[str, list[str]]
"""The texts of the chunks of each document."""


@dataclass(frozen=True)
class Command:
    """A command that writes.

    Attributes:
        arguments: its command line.
        done: what it prints when its work is durable.
        by_document: whether an index in between is right, in which some documents are as before
            and some as afterwards.
    """

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


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an index, a backup of an older state of it, and what the commands read."""
    folder = tmp_path_factory.mktemp("prepared")
    words = random.Random(SEED)  # noqa: S311 - words that do not compress
    create(folder / "index")
    with Index(folder / "index") as index:
        index.add(Document("older", "Older", "text"))
    fill(folder / "index")
    backup(folder / "index", folder / "copy")
    # Another source, so that the copy of a copy of the index counts as its backup.
    with Index(folder / "index") as index:
        index.delete("older")
        index.add(Document("newer", "Newer", "text"))
    write_papers(folder / "papers", range(150), 1)
    assert start(COMMANDS["sync"], folder).wait() == 0
    write_papers(folder / "papers", range(40, 190), 2)
    for number in range(20):
        (folder / "papers" / f"{number}.txt").unlink()
    (folder / "new.txt").write_text(new_text(words, 20_000))
    with (folder / "new.jsonl").open("w") as stream:
        for number in range(80):
            entry = {"Id": f"d{number:02}", "Title": "T", "Content": new_text(words, 1_000)}
            stream.write(json.dumps(entry) + "\n")
    return folder


def new_text(words: random.Random, count: int) -> str:
    return " ".join(f"{words.getrandbits(40):x}" for _ in range(count))


def write_papers(folder: Path, numbers: Iterable[int], version: int) -> None:
    folder.mkdir(exist_ok=True)
    for number in numbers:
        (folder / f"{number}.txt").write_text(
            f"paper {number} version {version} " * (number * 3 + 1)
        )


def command(chosen: Command, folder: Path) -> list[str]:
    return [sys.executable, "-c", COMMITS_OFTEN, *chosen.arguments, "-i", str(folder / "index")]


def start(chosen: Command, folder: Path) -> subprocess.Popen[str]:
    with (folder / "printed").open("w") as printed:
        return subprocess.Popen(
            command(chosen, folder),
            cwd=folder,
            stdout=printed,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
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


def writes(run: subprocess.Popen[str], index: Path) -> bool:
    """Wait until a run has the lock of the index; False if it ends before that is seen."""
    deadline = time.monotonic() + 120
    while str(run.pid) not in holder(index):
        if run.poll() is not None:
            return False
        assert time.monotonic() < deadline
        time.sleep(0.001)
    return True


def measured(chosen: Command, folder: Path) -> tuple[float, float]:
    """The seconds of a whole run: before it has the lock, and from then on."""
    began = time.monotonic()
    run = start(chosen, folder)
    assert writes(run, folder / "index")
    locked = time.monotonic()
    assert run.wait() == 0
    return locked - began, time.monotonic() - locked


def committed(printed: str) -> set[str]:
    """The documents that a sync told to be durable before its end."""
    told, waiting = set(), set()
    for event in events(printed[: printed.rfind("\n") + 1]):
        if event["event"] in {"indexed", "deleted"}:
            waiting.add(event["source_document"])
        elif event["event"] == "committed":
            told |= waiting
            waiting = set()
    return told


def assert_old_or_new(chosen: Command, found: Texts, old: Texts, new: Texts, printed: str) -> None:
    if chosen.done in printed:
        assert found == new
    elif not chosen.by_document:
        assert found in (old, new)
    else:
        for name in {*found, *old, *new}:
            assert found.get(name) in (old.get(name), new.get(name)), name
        for name in committed(printed):
            assert found.get(name) == new.get(name), name


def assert_next_writer_cleans_up(index: Path) -> None:
    # Without waiting: the lock of a process that was killed keeps nobody out.
    with Index(index, wait=0) as writer:
        writer.add(Document("next", "Next", "text"))
    files = {file.name for file in index.iterdir()} - {"failures.json"}
    assert files == {*files_of_lucene(index), "write.lock"}


SOAK: Final = (pytest.mark.soak, pytest.mark.timeout(3_000))


@pytest.mark.parametrize(
    ("name", "kills"), [("delete", 2), *(pytest.param(name, 30, marks=SOAK) for name in COMMANDS)]
)
def test_a_command_killed_at_any_moment_costs_nothing(
    prepared: Path, tmp_path: Path, name: str, kills: int
) -> None:
    chosen = COMMANDS[name]
    folder = shutil.copytree(prepared, tmp_path / "work")
    index = folder / "index"
    old = texts(index)
    starting, writing = measured(chosen, folder)
    new = texts(index)
    moments = random.Random(f"{SEED} {name}")  # noqa: S311 - the same moments every time
    print(f"KILLS_SEED={SEED}: {starting:.2f} s before the lock, {writing:.2f} s with it")
    killed = held = changed = 0
    while killed < kills:
        again(prepared, folder)
        run = start(chosen, folder)
        # Most of them while it writes, the others in the whole of its time.
        if (killed + 1) % 4 and writes(run, index):
            began = time.monotonic()
            with suppress(subprocess.TimeoutExpired):
                run.wait(moments.uniform(0, writing))
                # On a machine that is less busy now, it takes less time than it did.
                writing = time.monotonic() - began
            held += run.poll() is None
        else:
            time.sleep(moments.uniform(0, starting + writing))
        with suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
        killed += run.wait() == -signal.SIGKILL
        assert check(index, wait=0).problems == []
        found = texts(index)
        changed += found != old
        assert_old_or_new(chosen, found, old, new, (folder / "printed").read_text())
        assert_next_writer_cleans_up(index)
    print(f"{killed} killed, {held} of them with the lock; {changed} runs had committed")
    assert held >= kills / 2
