"""Pools of worker processes that give up."""

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Future

import pytest
from pebble import ProcessPool

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
