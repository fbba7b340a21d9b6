"""Results cached per commit, and how long they are kept."""

import gc
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

from shared import create
from shared.java import vm
from shared.storage.commits import cached_per_commit


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
