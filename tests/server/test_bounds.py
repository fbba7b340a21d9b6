"""A server and a writer that run for long keep nothing: what `make bench` measures at length."""

from pathlib import Path

import pytest

from benchmarks.bounds import course
from tests.tools.busy_server import busy_server
from tests.tools.resources import OPENED_TO_QUESTIONS, Resources, taken_by

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1_800)]

SEARCHES = 5_000
COMMITS = 500


def assert_flat(early: Resources, late: Resources) -> None:
    assert late.descriptors == early.descriptors
    assert late.threads == early.threads
    # Java compiles what runs often, and keeps more of the heap when it has been busy once.
    assert late.resident < 1.3 * early.resident
    assert own_memory(late) < 1.1 * own_memory(early)
    # Half a kilobyte for each search, or five for each commit, would be more than this.
    assert late.java_heap < early.java_heap + 2_000


def own_memory(taken: Resources) -> int:
    return taken.java_native - taken.java_compiled


def test_nothing_grows(tmp_path: Path) -> None:
    first, tenth, half, whole = course(tmp_path / "index", SEARCHES, COMMITS)
    assert (whole.searches, whole.commits) == (SEARCHES, COMMITS)
    for early, late in ((tenth, half), (tenth, whole)):
        assert_flat(early.server, late.server)
        assert_flat(early.writer, late.writer)
    assert max(reading.server.mapped_files for reading in (half, whole)) <= whole.files + 1
    assert first.seconds < whole.seconds
    assert whole.files < 100


def test_errors_leave_nothing_behind(empty_index: Path) -> None:
    with busy_server(empty_index, **OPENED_TO_QUESTIONS) as (server, ask):
        sizes = []
        for _ in range(3):
            for _ in range(100):
                # Half of a bracket, in which Java throws an exception.
                ask([("Search", {"query": "(otter"})] * 8)
            sizes.append(taken_by(server, empty_index).java_heap)
        # What is left of an exception would be 3 kB.
        assert sizes[2] < sizes[1] + 800
