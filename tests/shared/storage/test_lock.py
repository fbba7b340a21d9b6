"""Who holds the write lock, by the kernel's table of locks."""

import os
from pathlib import Path

import pytest

from shared import Index
from shared.storage import lock
from shared.storage.lock import writer
from tests.systems import names_lock_holders


@names_lock_holders
def test_the_process_that_writes_is_named(empty_index: Path) -> None:
    with Index(empty_index):
        assert writer(empty_index) == f"this process, {os.getpid()}"
    assert writer(empty_index) is None


@names_lock_holders
@pytest.mark.parametrize(
    ("of_the_lock", "of_the_mount", "is_held"), [(0, 0, True), (1, 0, False), (1, 1, True)]
)
def test_a_file_of_another_device_with_the_same_inode_is_another_file(
    empty_index: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    of_the_lock: int,
    of_the_mount: int,
    is_held: bool,
) -> None:
    """The devices are given by how far their minor number is from that of the lock file.

    Where no mount has the device of the file, as in a part of a volume, only the inode counts.
    """
    status = (empty_index / "write.lock").stat()
    major, minor = os.major(status.st_dev), os.minor(status.st_dev)
    locks, mounts = tmp_path / "locks", tmp_path / "mountinfo"
    file = f"{major:02x}:{minor + of_the_lock:02x}:{status.st_ino}"
    locks.write_text(f"1: POSIX  ADVISORY  WRITE {os.getpid()} {file} 0 EOF\n")
    mounts.write_text(f"22 1 {major}:{minor + of_the_mount} / / rw - ext4 /dev/x rw\n")
    monkeypatch.setattr(lock, "_LOCKS", locks)
    monkeypatch.setattr(lock, "_MOUNTS", mounts)
    assert (writer(empty_index) is not None) == is_held
