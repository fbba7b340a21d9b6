"""Surroundings in which the tests themselves are started."""

import signal
import subprocess
import sys
from pathlib import Path

from tests.systems import sends_signals

INTERRUPTION = (
    "tests/idx/test_index_errors.py::test_an_interrupted_writer_leaves_the_index_as_it_was[2-130]"
)


@sends_signals
def test_interruptions_are_tested_where_the_parent_ignores_them() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", INTERRUPTION],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        check=False,
    )
    assert "1 passed" in done.stdout, done.stdout
