"""Surroundings in which the tests are started, and runs of `idx` in the process of a test."""

import gc
import os
import signal
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Idx
from tests.programs import PROCESSES, run
from tests.systems import sends_signals

INTERRUPTION = (
    "tests/idx/test_index_errors.py::test_an_interrupted_writer_leaves_the_index_as_it_was[2-130]"
)


@pytest.mark.soak
@sends_signals
def test_interruptions_are_tested_where_the_parent_ignores_them() -> None:
    done = run(
        *(sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", INTERRUPTION),
        cwd=Path(__file__).parents[1],
        # As a shell without job control does with what it starts in the background.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        check=False,
    )
    assert "1 passed" in done.stdout, done.stdout


def state() -> list[Any]:
    """What a run may change in its process, and must leave as it was."""
    return [
        {number: signal.getsignal(number) for number in signal.valid_signals()},
        (sys.stdin, sys.stdout, sys.stderr, sys.argv, [*sys.path]),
        [os.fstat(number) for number in range(3)],
        (dict(os.environ), Path.cwd(), tempfile.gettempdir(), gc.get_threshold()),
        [thread.name for thread in threading.enumerate() if not thread.daemon],
    ]


@pytest.mark.parametrize(
    ("arguments", "code"), [(["add", "papers"], 0), (["list", "--limit", "x"], 2), (["show"], 2)]
)
def test_a_run_in_this_process_leaves_it_as_it_was(
    idx: Idx, tmp_path: Path, arguments: list[str], code: int
) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "a.txt").write_text("some text")
    before = state()
    idx(*arguments, code=code)
    for was, is_now in zip(before, state(), strict=True):
        assert is_now == was


def test_the_same_run_can_be_a_process(idx: Idx) -> None:
    idx("add", "-d", "a", "-t", "Title", "-c", "some text")
    here = idx("list", "--json")
    assert '"Title"' in here.stdout
    idx.setenv(PROCESSES, "1")
    process = idx("list", "--json")
    assert (process.stdout, process.stderr) == (here.stdout, here.stderr)
