"""A file system without locks: nothing is written there, all is read."""

from pathlib import Path

import pytest

from shared import Document
from tests.conftest import Idx, add_documents
from tests.preloaded import library

pytestmark = pytest.mark.soak

COMMANDS = (
    ("add", "-d", "b", "-t", "B", "-c", "text"),
    ("bulk", "-j", "-"),
    ("delete", "a"),
    ("sync", "."),
    ("rebuild",),
    ("optimize",),
    ("restore", "copy", "--yes"),
    ("repair",),
    ("purge", "--yes"),
    ("check",),
    ("unlock",),
)


@pytest.fixture
def without_locks(tmp_path: Path) -> tuple[str, ...]:
    """What to put before a command."""
    return ("env", f"LD_PRELOAD={library('no_locks', tmp_path)}")


def test_each_command_that_needs_the_lock_tells_of_the_file_system(
    idx: Idx, empty_index: Path, without_locks: tuple[str, ...]
) -> None:
    add_documents(empty_index, Document("a", "A", "text"))
    idx("backup", "copy")
    before = {file.name: file.read_bytes() for file in empty_index.iterdir()}
    for command in COMMANDS:
        failed = idx(*command, code=1, stdin="[]", prefix=without_locks)
        *_, message = failed.stderr.splitlines()
        assert message == (
            f"Error: the index folder {empty_index} cannot be used: its file system does not "
            "support locks (No locks available), so two writers could destroy the index: move it "
            "to a local disk; choose another folder with --index-path, or fix its permissions"
        ), command
    assert {file.name: file.read_bytes() for file in empty_index.iterdir()} == before
    assert idx.json("search", "text", prefix=without_locks)["totalHits"]
    idx("show", "a", prefix=without_locks)
    idx("backup", "another", prefix=without_locks)


def test_an_index_is_not_created_either(
    idx: Idx, index_path: Path, without_locks: tuple[str, ...]
) -> None:
    failed = idx("init", code=1, prefix=without_locks)
    assert "its file system does not support locks" in failed.stderr
    idx("init")
    idx("add", "-d", "a", "-t", "A", "-c", "text")
