"""Long runs say how long they will still take, also where nobody sees a terminal."""

import re
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from idx.output import printing, runs
from tests.conftest import Idx
from tests.programs import PROCESSES

LEFT = re.compile(r"about (\d+) (minute|hour)s? left")


@pytest.fixture
def slow_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes 20 s on whenever a report reads it."""
    # A process of its own would have its own clock.
    monkeypatch.delenv(PROCESSES, raising=False)
    seconds = iter(range(0, 10**6, 20))
    clock = SimpleNamespace(monotonic=lambda: next(seconds), time=time.time)
    monkeypatch.setattr(runs, "time", clock)
    monkeypatch.setattr(printing, "time", clock)


@pytest.mark.soak
@pytest.mark.usefixtures("slow_clock")
def test_words_and_vectors_each_say_it(
    idx: Idx, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(40):
        (tmp_path / f"{number}.txt").write_text(f"note {number} on the river " * 40)
    told = idx("sync", tmp_path).stderr.splitlines()
    files = [line for line in told if " of 40 files" in line]
    assert not LEFT.search(files[0]), files
    minutes = [int(found[1]) for line in files if (found := LEFT.search(line))]
    assert minutes[-1] < minutes[1]
    assert len(minutes) > 3
    monkeypatch.delenv("IDX_SEMANTIC")
    idx("semantic", "on", "--vectors", "later")
    told = idx("semantic", "update").stderr.splitlines()
    assert any(re.match(r"Embedding: \d+ of 40, less than a minute left", line) for line in told)


def test_the_first_half_minute_says_nothing() -> None:
    assert printing.time_left(29, 1, 100) == ""
    assert printing.time_left(60, 1, 5) == ", about 4 minutes left"
    assert printing.time_left(60, 1, 2) == ", about 1 minute left"
    assert printing.time_left(60, 2, 3) == ", less than a minute left"
    assert printing.time_left(3_600, 1, 4) == ", about 3 hours left"
    assert printing.time_left(60, 5, 5) == ""
