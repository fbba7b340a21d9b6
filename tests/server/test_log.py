"""A log on a stderr that nobody reads: nothing waits for it, whatever happens meanwhile."""

import sys

import pytest

from tests.programs import Started, run

LOGS = """
import gc, logging
from server.log import log_over_stdio
log_over_stdio()
log = logging.getLogger("some.library")
"""

LOGS_WHILE_IT_LOGS = """
class Noisy:
    def __init__(self):
        self.itself = self
    def __del__(self):
        log.warning("collected")
gc.set_threshold(1)
for number in range(3_000):
    Noisy()
    log.warning(f"line {number} " + "x" * 100)
"""
"""Garbage is collected anywhere, and what is collected may log."""

IS_LOUD = """
for number in range(200):
    log.warning("x" * 1_000_000)
size = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(size[0].split()[1], flush=True)
"""

ENDS = """
import os
from server.log import drain_stderr
drain_stderr()
os._exit(0)
"""
"""The end of the server, which waits for no thread."""


@pytest.mark.parametrize("script", [LOGS_WHILE_IT_LOGS, IS_LOUD])
def test_a_process_whose_log_nobody_reads_ends(script: str) -> None:
    with Started(sys.executable, "-c", LOGS + script + ENDS) as process:
        try:
            assert process.wait(timeout=30) == 0
        finally:
            process.kill()
        if script is IS_LOUD:
            assert int(process.stdout.read()) < 100_000


def test_what_was_logged_is_written_before_the_end() -> None:
    script = "log.warning('a \\x1b[2J bell')\nimport warnings; warnings.warn('old', stacklevel=1)"
    done = run(sys.executable, "-c", LOGS + script)
    first, second = done.stderr.splitlines()
    assert first == r"WARNING a \x1b[2J bell"
    assert second.startswith("WARNING <string>:")
    assert second.endswith("UserWarning: old")
