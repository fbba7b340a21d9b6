"""Results cached per commit, who holds the write lock, and what Lucene throws."""

import gc
import os
import traceback
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Barrier
from typing import Any

import lucene  # noqa: F401 - the packages of Java can be imported after it only
import pytest
from java.nio.file import Paths
from org.apache.lucene.index import DirectoryReader
from org.apache.lucene.store import FSDirectory

from shared import Index, LuceneError, create
from shared.java import vm
from shared.storage import lock
from shared.storage.commits import cached_per_commit
from shared.storage.lock import writer
from tests.systems import names_lock_holders


class Result:
    """What can be referred to weakly."""


@pytest.fixture
def readers(tmp_path: Path) -> Iterator[list[Any]]:
    """A reader of each of three indexes."""
    with vm.attached(), ExitStack() as opened:
        found: list[Any] = []
        for name in ("first", "second", "third"):
            create(tmp_path / name)
            directory = opened.enter_context(
                closing(FSDirectory.open(Paths.get(str(tmp_path / name))))
            )
            found.append(opened.enter_context(closing(DirectoryReader.open(directory))))
        yield found


def test_results_of_a_closed_reader_are_dropped_once_there_is_another(readers: list[Any]) -> None:
    cached = cached_per_commit(lambda _reader: Result())
    old = weakref.ref(cached(readers[0]))
    assert cached(readers[0]) is old()
    readers[0].close()
    newer = cached(readers[1])
    gc.collect()
    assert old() is None
    cached(readers[2])
    assert cached(readers[1]) is newer


def test_threads_that_ask_at_once_share_one_result_and_keep_that_of_the_other_index(
    readers: list[Any],
) -> None:
    first, second, _ = readers
    together = Barrier(2)

    def work(reader: Any) -> Result:
        if reader.equals(second):
            together.wait(timeout=60)
        return Result()

    cached = cached_per_commit(work)
    known = cached(first)
    with ThreadPoolExecutor(2, initializer=vm.start) as threads:
        one, other = threads.map(cached, [second, second])
    assert one is other
    assert cached(first) is known


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


def test_a_wrong_call_is_told_without_java_objects(tmp_path: Path) -> None:
    create(tmp_path / "index")
    from org.apache.lucene.search import BoostQuery, MatchAllDocsQuery

    from shared.storage.lucene_errors import reading

    with (
        pytest.raises(LuceneError, match=r"called wrongly.*BoostQuery") as raised,
        reading(tmp_path),
    ):
        BoostQuery(MatchAllDocsQuery(), 1)
    assert "InvalidArgsError" not in "".join(traceback.format_exception(raised.value))
