"""Pools of worker processes that give up, and workers that end themselves."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Future
from pathlib import Path
from typing import Final

import pytest
from pebble import ProcessPool

from shared.semantic.models import prepare_worker
from shared.workers import end_pool, new_pool, result_of, schedule


@pytest.fixture
def given_up() -> Iterator[ProcessPool]:
    """A pool whose idle worker was killed."""
    pool = new_pool(1, 2_000_000_000)
    try:
        os.kill(result_of(pool, schedule(pool, os.getpid, 60)), signal.SIGTERM)
        until = time.monotonic() + 60
        while pool.active and time.monotonic() < until:
            time.sleep(0.01)
        yield pool
    finally:
        end_pool(pool)


def test_it_takes_no_task(given_up: ProcessPool) -> None:
    with pytest.raises(BrokenExecutor):
        schedule(given_up, os.getpid, 60)


def test_a_task_that_it_took_while_it_gave_up_is_not_waited_for(given_up: ProcessPool) -> None:
    with pytest.raises(BrokenExecutor):
        result_of(given_up, Future())


_TAKES_MEMORY: Final = """
import threading, time
from shared.workers import watch
taken = []
threading.Thread(target=watch, args=(300_000_000,), daemon=True).start()
while True:
    taken.append(b"x" * 20_000_000)
    time.sleep(0.1)
"""

_LEAVES_A_WORKER: Final = """
import multiprocessing, os
from shared.workers import watch
if __name__ == "__main__":
    worker = multiprocessing.get_context("spawn").Process(target=watch, args=(10**12,))
    worker.start()
    print(worker.pid, flush=True)
    os._exit(0)
"""


def test_a_worker_that_takes_too_much_memory_ends_itself() -> None:
    # On all systems, though the watch is needed only where the system does not limit memory.
    done = subprocess.run([sys.executable, "-c", _TAKES_MEMORY], timeout=60, check=False)
    assert done.returncode == 137


def test_a_worker_ends_after_its_parent(tmp_path: Path) -> None:
    script = tmp_path / "leaves.py"
    script.write_text(_LEAVES_A_WORKER)
    # The pipe is closed once the worker, which inherits it, has ended, too.
    done = subprocess.run([sys.executable, script], capture_output=True, timeout=60, check=True)
    assert int(done.stdout)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other priorities")
def test_workers_that_embed_leave_the_machine_to_others() -> None:
    pool = new_pool(1, 4_000_000_000, prepare_worker)
    try:
        # The lowest priority is 19.
        assert result_of(pool, schedule(pool, os.nice, 60, 0)) >= min(19, os.nice(0) + 10)
    finally:
        end_pool(pool)
