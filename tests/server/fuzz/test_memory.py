"""Ten thousand hostile calls leave the server as large as two thousand do."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from tests.server.fuzz.strategies import arguments
from tests.server.fuzz.tools import EXAMPLES, Tools
from tests.server.raw_client import RawClient
from tests.tools.resources import OPENED_TO_QUESTIONS, Resources, taken_by

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1_800)]

CALLS = 10_000

WHOLE_HEAP = "-Xms256m -Xmx256m -XX:+AlwaysPreTouch"
"""Java's heap is all there from the start: how much garbage it has had makes no difference."""


@pytest.fixture(scope="module", autouse=True)
def java_options() -> Iterator[None]:
    """What the server has to be started with, to be measured."""
    with pytest.MonkeyPatch.context() as patch:
        for name, options in OPENED_TO_QUESTIONS.items():
            patch.setenv(name, f"{options} {WHOLE_HEAP}")
        yield


def test_memory_is_flat(client: RawClient, index: Path) -> None:
    tools, taken = Tools(client), list[Resources]()
    calls = 0

    @settings(EXAMPLES, max_examples=CALLS, derandomize=False)
    @given(data=st.data())
    def call(data: st.DataObject) -> None:
        nonlocal calls
        tool = data.draw(st.sampled_from(sorted(tools.inputs)))
        tools.check(tool, data.draw(arguments(tools.inputs[tool])))
        calls += 1
        if calls % (CALLS // 5) == 0:
            taken.append(taken_by(client.process.pid, index))

    call()
    early, late = taken[0], taken[-1]
    assert calls >= CALLS
    assert late.resident < 1.1 * early.resident
    # A kilobyte for each call would be more than this.
    assert late.java_heap < early.java_heap + 8_000
    assert late.descriptors == early.descriptors
    # Java compiles with one thread more, or one less, as there is much to compile.
    assert late.threads <= early.threads + 2
