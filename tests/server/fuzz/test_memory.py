"""Ten thousand hostile calls leave the server as large as two thousand do."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.server.fuzz.strategies import arguments
from tests.server.fuzz.test_calls import EXAMPLES, Tools
from tests.server.raw_client import RawClient

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1_800)]

CALLS = 10_000


def resident(process_id: int) -> int:
    """The memory of a process that is not on disk, in kilobytes."""
    status = Path(f"/proc/{process_id}/status").read_text()
    [size] = re.findall(r"^VmRSS:\s+(\d+) kB$", status, re.MULTILINE)
    return int(size)


def test_memory_is_flat(client: RawClient) -> None:
    tools, sizes = Tools(client), []

    @settings(EXAMPLES, max_examples=CALLS, derandomize=False)
    @given(data=st.data())
    def call(data: st.DataObject) -> None:
        tool = data.draw(st.sampled_from(sorted(tools.inputs)))
        tools.check(tool, data.draw(arguments(tools.inputs[tool])))
        sizes.append(resident(client.process.pid))

    call()
    assert len(sizes) >= CALLS
    assert sizes[-1] < 1.25 * sizes[CALLS // 5]
