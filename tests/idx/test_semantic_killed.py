"""Embedding that is killed at random moments: index and vectors agree afterwards."""

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
from tests.programs import PROGRAMS, Started

pytestmark = pytest.mark.usefixtures("own_temporary_folder")

SEED: Final = int(os.environ.get("KILLS_SEED", "11"))

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
