"""Memory and processor time of a machine and of a process."""

import os
import subprocess
import sys

import pytest

from shared import system
from tests.systems import enforces_limits

_TAKES_MEMORY = """
import sys
from shared.system import limit_memory
limit_memory(400_000_000)
try:
    bytearray(600_000_000)
except MemoryError:
    sys.exit(7)
"""

_TAKES_TIME = """
from shared.system import limit_processor_time
limit_processor_time(2)
while True:
    pass
"""


def test_the_machine_has_memory_and_cores() -> None:
    assert system.memory_bytes() > 100_000_000
    assert 1 <= system.usable_cores() <= (os.cpu_count() or 1)
    assert system.max_open_files() > 100


@enforces_limits
@pytest.mark.skipif(not system.LIMITS_MEMORY, reason="the system limits no memory")
def test_a_process_gets_no_more_memory_than_it_may() -> None:
    done = subprocess.run([sys.executable, "-c", _TAKES_MEMORY], timeout=60, check=False)
    assert done.returncode == 7


@pytest.mark.soak
@enforces_limits
def test_a_process_ends_after_its_processor_time() -> None:
    done = subprocess.run([sys.executable, "-c", _TAKES_TIME], timeout=60, check=False)
    assert done.returncode == system.EXIT_CODE_AFTER_TIME
