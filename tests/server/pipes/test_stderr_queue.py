"""Messages to stderr that nobody reads: nothing waits for them, whatever happens meanwhile."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.systems import reads_proc

QUEUED = """
import gc, sys
from server.pipes.stderr_queue import queue_stderr
queue_stderr()
"""

LOGS_WHILE_IT_LOGS = """
class Noisy:
    def __init__(self):
        self.itself = self
    def __del__(self):
        print("collected", file=sys.stderr)
gc.set_threshold(1)
for number in range(3_000):
    Noisy()
    print(f"line {number} " + "x" * 100, file=sys.stderr)
"""
"""Garbage is collected anywhere, and what is collected may log."""

IS_LOUD = """
for number in range(1_000):
    print("x" * 1_000_000, file=sys.stderr)
size = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(size[0].split()[1])
"""

FAILS = """
for number in range(3_000):
    print("x" * 100, file=sys.stderr)
raise RuntimeError("unforeseen")
"""


@reads_proc
@pytest.mark.parametrize(("script", "code"), [(LOGS_WHILE_IT_LOGS, 0), (IS_LOUD, 0), (FAILS, 1)])
def test_a_process_whose_stderr_nobody_reads_ends(script: str, code: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", QUEUED + script], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with process:
        try:
            assert process.wait(timeout=30) == code
        finally:
            process.kill()
        if script is IS_LOUD:
            assert process.stdout is not None
            assert int(process.stdout.read()) < 100_000


def test_the_traceback_of_the_end_is_written() -> None:
    done = subprocess.run(
        [sys.executable, "-c", QUEUED + FAILS.replace("3_000", "30")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.endswith("RuntimeError: unforeseen\n")


BREAKS = """
import sys
from server.pipes.flow_control import FlowControl

async def fail(*_):
    raise RuntimeError("broken")

FlowControl.watch = fail
from server.__main__ import main
main()
"""


def test_a_session_that_breaks_ends_the_process_with_an_error(empty_index: Path) -> None:
    reading, writing = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", BREAKS, empty_index], stdin=reading, stderr=subprocess.PIPE
    ) as process:
        try:
            # The client keeps stdin open.
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
            os.close(reading)
            os.close(writing)
    assert process.returncode == 1
    assert b"RuntimeError: broken" in err
