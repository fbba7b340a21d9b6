"""Errors of the index that a watch waits for, and those that end it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from idx.sync import watch
from idx.sync.events import Event, Finished, Kept, Problem, Watching
from shared.errors import (
    ClusterAccessError,
    ClusterBusyError,
    ClusterUnreachableError,
    IndexFolderError,
    IndexLockedError,
    IndexWriteError,
)
from tests.idx.preparation import options_for

PATH = Path("/data/index")


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "_WRITE_RETRY_SECONDS", 0.0)
    monkeypatch.setattr(watch, "_FULL_SYNC_IDLE_SECONDS", 0.0)


def events(
    monkeypatch: pytest.MonkeyPatch, folder: Path, *outcomes: IndexFolderError | None
) -> Iterator[Event]:
    """Run a watch whose syncs end with these errors, or without any."""
    left = iter(outcomes)

    def synchronize(*_: object) -> Iterator[Event]:
        if error := next(left):
            raise error
        yield Finished()

    monkeypatch.setattr(watch, "synchronize", synchronize)
    return watch.keep_synchronized([folder], options_for(folder / "index"), Kept())


@pytest.mark.parametrize(
    "error",
    [
        ClusterBusyError(PATH, "the index is being rebuilt"),
        ClusterUnreachableError(PATH, "no answer"),
        IndexLockedError(PATH, "process 1"),
        IndexWriteError(PATH, "no space left on device"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_watch_goes_on_after_an_error_that_passes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: IndexFolderError
) -> None:
    run = events(monkeypatch, tmp_path, None, error, error, None)
    seen = [next(run) for _ in range(4)]
    assert [type(event) for event in seen] == [Finished, Watching, Problem, Finished]


@pytest.mark.parametrize(
    "outcomes",
    [
        (ClusterUnreachableError(PATH, "nothing listens"),),
        (None, ClusterAccessError(PATH, "the password is wrong")),
    ],
    ids=["a wrong address", "no access"],
)
def test_a_watch_ends_with_an_error_that_does_not_pass(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, outcomes: tuple[IndexFolderError | None, ...]
) -> None:
    with pytest.raises(IndexFolderError):
        [*events(monkeypatch, tmp_path, *outcomes)]
