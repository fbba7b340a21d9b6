"""Every command that writes, killed at random moments: nothing is torn, nothing is lost."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

from shared import Document, Index
from shared.maintenance.check import check
from shared.storage.lock import holder
from tests.idx.files import events
from tests.idx.raw_index import files_of_lucene
from tests.idx.writing_commands import COMMANDS, Command, Texts, again, texts
from tests.programs import Started
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
