"""Memory and processor time of a machine and of a process."""

import os
import subprocess
import sys

import pytest

from shared.system import limits
from tests.systems import enforces_limits

_TAKES_MEMORY = """
import sys
from shared.system.limits import limit_memory
limit_memory(400_000_000)
try:
    bytearray(600_000_000)
except MemoryError:
    sys.exit(7)
"""

_TAKES_TIME = """
from shared.system.limits import limit_processor_time
limit_processor_time(2)
while True:
    pass
"""


def test_the_machine_has_memory_and_cores() -> None:
    assert limits.memory_bytes() > 100_000_000
    assert 1 <= limits.usable_cores() <= (os.cpu_count() or 1)
    assert limits.max_open_files() > 100


@enforces_limits
@pytest.mark.skipif(not limits.LIMITS_MEMORY, reason="the system limits no memory")
def test_a_process_gets_no_more_memory_than_it_may() -> None:
    done = subprocess.run([sys.executable, "-c", _TAKES_MEMORY], timeout=60, check=False)
    assert done.returncode == 7


@enforces_limits
def test_a_process_ends_after_its_processor_time() -> None:
    done = subprocess.run([sys.executable, "-c", _TAKES_TIME], timeout=60, check=False)
    assert done.returncode == limits.EXIT_CODE_AFTER_TIME
