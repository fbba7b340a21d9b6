"""Every command that writes, killed at random moments: nothing is torn, nothing is lost."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import pytest
from org.apache.lucene.index import MultiBits

from shared import Document, Index, Searcher
from shared.java import vm
from shared.maintenance.check import check
from shared.maintenance.embedding import embed, embedding_state, switch_on
from shared.model import schema
from shared.storage.commits import open_last_commit
from shared.storage.integrity import open_directory
from shared.storage.lock import holder
from shared.storage.stored_chunks import stored_fields
from shared.storage.vectors import stored_values
from tests.idx.files import events
from tests.idx.raw_index import files_of_lucene
from tests.idx.writing_commands import COMMANDS, Command, Texts, again, texts
from tests.programs import PROGRAMS, Started
from tests.systems import sends_signals

pytestmark = pytest.mark.usefixtures("own_temporary_folder")

SEED: Final = int(os.environ.get("KILLS_SEED", "11"))

KILLED_OFTEN: Final = [pytest.param(name, 30, marks=pytest.mark.soak) for name in COMMANDS]

COMMITS_OFTEN: Final = """
import idx.sync.ingestion
from idx.__main__ import main
idx.sync.ingestion.SECONDS_BETWEEN_COMMITS = 0.1
main()
"""
"""`idx` with a sync that commits after each few files."""


def command(chosen: Command, folder: Path) -> list[str]:
    return [sys.executable, "-c", COMMITS_OFTEN, *chosen.arguments, "-i", str(folder / "index")]


def start(chosen: Command, folder: Path) -> Started:
    with (folder / "printed").open("w") as printed:
        return Started(
            *command(chosen, folder),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            # Where it tells how far it is.
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def writes(run: Started, index: Path) -> bool:
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


@pytest.mark.timeout(3_000)
@sends_signals
@pytest.mark.parametrize(("name", "kills"), [("restore", 3), *KILLED_OFTEN])
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


STORES_OFTEN: Final = """
import shared.maintenance.embedding as embedding
from idx.__main__ import main
embedding._MIN_STORED = 8
main()
"""
"""`idx` that stores the vectors of a few chunks at once."""

CHUNKS: Final = 200
QUERIES: Final = ("when did it rain", "weather on a cold day", "day 17")


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    path = tmp_path / "plain"
    with Index(path, create=True) as index:
        for number in range(CHUNKS):
            index.add(Document(f"d{number}", f"Note {number}", f"On day {number} it rained."))
    return path


def values(path: Path) -> dict[str, bytes]:
    """The value of each chunk that has one, by the chunk's id."""
    with (
        vm.attached(),
        closing(open_directory(path)) as directory,
        closing(open_last_commit(directory, path)) as reader,
    ):
        live = MultiBits.getLiveDocs(reader)
        stored = reader.storedFields()
        return {
            stored.document(number, stored_fields(schema.ID)).get(schema.ID): value
            for number, value in stored_values(reader, range(reader.maxDoc())).items()
            if live is None or live.get(number)
        }


def results(path: Path) -> list[list[tuple[str, float]]]:
    with Searcher(path, program="batch") as searcher:
        found = [searcher.search(query, limit=50).results for query in QUERIES]
    return [[(hit.id, hit.score) for hit in hits] for hits in found]


def killed(path: Path, moments: random.Random, *, storing: bool) -> bool:
    """Kill an embedding at a random moment, unless it has ended."""
    run = subprocess.Popen(
        [sys.executable, "-c", STORES_OFTEN, "semantic", "update", "-i", str(path)],
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    while storing and str(run.pid) not in holder(path) and run.poll() is None:
        time.sleep(0.001)
    with suppress(subprocess.TimeoutExpired):
        run.wait(moments.uniform(0, 0.5 if storing else 3))
    with suppress(ProcessLookupError):
        os.killpg(run.pid, signal.SIGKILL)
    return run.wait() == -signal.SIGKILL


def workers_of(run: Started) -> Iterator[int]:
    """Yield the ids of the worker processes of a run."""
    for children in Path(f"/proc/{run.pid}/task").glob("*/children"):
        # A thread, or a process, may end meanwhile.
        with suppress(OSError):
            for child in children.read_text().split():
                if "--multiprocessing-fork" in Path(f"/proc/{child}/cmdline").read_text():
                    yield int(child)


@pytest.mark.soak
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="only Linux has /proc")
def test_without_its_workers_it_ends_with_an_error_and_the_next_one_completes_it(
    plain: Path,
) -> None:
    switch_on(plain, "e5")
    with Started(PROGRAMS / "idx", "semantic", "update", "-i", plain) as run:
        while run.poll() is None:
            for worker in workers_of(run):
                with suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
            time.sleep(0.05)
        said = run.stderr.read()
    assert run.returncode == 1
    assert "a worker process ended while it embedded texts" in said
    assert "Traceback" not in said
    embed(plain)
    assert len(values(plain)) == CHUNKS


@pytest.mark.timeout(900)
@pytest.mark.soak
@pytest.mark.parametrize("kills", [30])
def test_a_killed_embedding_is_completed(plain: Path, tmp_path: Path, kills: int) -> None:
    whole = shutil.copytree(plain, tmp_path / "whole")
    switch_on(whole, "e5")
    embed(whole)
    expected, found = values(whole), results(whole)
    assert len(expected) == CHUNKS
    moments = random.Random(SEED)  # noqa: S311 - the same moments every time
    path = tmp_path / "index"
    was_killed = stored = 0
    while was_killed < kills:
        if not path.exists() or not embedding_state(path).pending:
            shutil.rmtree(path, ignore_errors=True)
            shutil.copytree(plain, path)
            switch_on(path, "e5")
        before = values(path)
        was_killed += killed(path, moments, storing=was_killed % 3 > 0)
        assert check(path, wait=0).problems == []
        there = values(path)
        assert before.items() <= there.items() <= expected.items()
        stored += len(there) > len(before)
    print(f"KILLS_SEED={SEED}: {stored} of {kills} runs had stored vectors")
    embed(path)
    assert embedding_state(path).pending == 0
    assert values(path) == expected
    assert results(path) == found
    assert kills < 30 or stored > 3
