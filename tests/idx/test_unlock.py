"""`idx unlock`: a lock file that nobody holds goes, another one stays."""

import json
from pathlib import Path

import pytest

from shared import Index, IndexLockedError
from shared.maintenance.upkeep import unlock
from tests.conftest import Idx
from tests.idx.files import ids
from tests.idx.test_index_errors import is_locked
from tests.programs import PROGRAMS, Started
from tests.systems import has_modes
from tests.unprivileged import UNPRIVILEGED
from tests.waiting import wait_for


def test_a_lock_that_a_killed_writer_left_is_removed(idx: Idx, empty_index: Path) -> None:
    with Started(PROGRAMS / "idx", "bulk", "-i", empty_index, "-j", "-") as writer:
        wait_for(lambda: is_locked(empty_index))
        writer.kill()
    assert (empty_index / "write.lock").exists()
    assert idx("unlock").stdout == "Removed the lock file; no process held it.\n"
    assert not (empty_index / "write.lock").exists()
    assert idx("unlock").stdout == "The index is not locked; there was nothing to remove.\n"
    idx("add", "-d", "a", "-t", "A", "-c", "text")


def test_the_lock_of_a_process_that_lives_stays(idx: Idx, empty_index: Path) -> None:
    with Started(PROGRAMS / "idx", "bulk", "-i", empty_index, "-j", "-") as writer:
        wait_for(lambda: is_locked(empty_index))
        failed = idx("unlock", code=1)
        (message,) = failed.stderr.splitlines()
        assert f"is locked by another writer, process {writer.pid} (" in message
        assert message.endswith("the lock ends with that process: let it end, or end it")
        assert "--wait" not in message
        assert is_locked(empty_index)
        writer.communicate('{"Id": "a", "Title": "A", "Content": "text"}')
    assert writer.returncode == 0
    assert len(ids(empty_index)) == 1


def test_the_lock_of_the_same_process_stays(idx: Idx, empty_index: Path) -> None:
    # A program that scripts both: the lock of the system would let its own process through.
    with Index(empty_index), pytest.raises(IndexLockedError, match="this process"):
        unlock(empty_index)
    assert unlock(empty_index)
    with Index(empty_index, wait=0):
        pass


def test_the_answer_for_programs(idx: Idx, empty_index: Path) -> None:
    (empty_index / "write.lock").touch()
    assert json.loads(idx("unlock", "--json").stdout) == {"unlocked": True}
    assert json.loads(idx("unlock", "--json").stdout) == {"unlocked": False}


@has_modes
def test_a_folder_that_is_read_only_is_named(idx: Idx, empty_index: Path) -> None:
    empty_index.chmod(0o555)
    failed = idx("unlock", code=1, prefix=UNPRIVILEGED)
    assert f"{empty_index} cannot be used: Permission denied" in failed.stderr
    empty_index.chmod(0o755)


def test_the_lock_file_of_another_program_stays(idx: Idx, index_path: Path) -> None:
    index_path.mkdir()
    (index_path / "write.lock").write_text("of another program")
    failed = idx("unlock", code=1)
    assert failed.stderr.startswith(f"Error: there is no index at {index_path}; create one")
    assert (index_path / "write.lock").read_text() == "of another program"


def test_the_lock_of_an_index_that_lost_its_commit_is_removed(idx: Idx, empty_index: Path) -> None:
    idx("add", "-d", "a", "-t", "A", "-c", "text")
    for commit in empty_index.glob("segments_*"):
        commit.unlink()
    assert "Removed the lock file" in idx("unlock").stdout
