"""Two writers and eight readers for ten minutes, on a real disk: nothing is lost, torn or stale."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path

import pytest

from shared import Searcher
from tests.conftest import Idx
from tests.idx.versions_read import Reader, readers
from tests.idx.versions_written import Writer, writers
from tests.tools.versions import documents

SECONDS = float(os.environ.get("SECONDS_OF_WRITERS_AND_READERS", "600"))
"""How long they work; the variable shortens it for whoever works on this test."""

pytestmark = [pytest.mark.soak, pytest.mark.timeout(SECONDS + 600)]


def read_until(stop: threading.Event, reader: Reader, of: list[Writer]) -> None:
    for writer in cycle(of):
        if stop.is_set():
            return
        reader.read(writer)


def test_whatever_happens_each_reader_sees_whole_versions_in_order(
    idx: Idx, empty_index: Path
) -> None:
    stop = threading.Event()
    two = list(writers(empty_index))
    for writer in two:
        writer.write()
    with readers(empty_index) as eight, ThreadPoolExecutor(len(two) + len(eight)) as threads:
        running = [
            *(threads.submit(writer.run, stop) for writer in two),
            *(threads.submit(read_until, stop, reader, two) for reader in eight),
        ]
        stop.wait(SECONDS)
        stop.set()
        for work in running:
            work.result()
        for reader in eight:
            for writer in two:
                reader.read(writer)
        assert [mistake for reader in eight for mistake in reader.mistakes] == []
        assert min(reader.checked for reader in eight) > SECONDS / 60
    for writer in two:
        writer.close()
        assert writer.committed > SECONDS / 60
        assert writer.killed > SECONDS / 300
    with Searcher(empty_index) as searcher:
        names = {found.source_document for found in searcher.documents().documents}
    assert names == {
        f"{writer.prefix}{name}"
        for writer in two
        for name, _, text in documents(writer.committed)
        if text
    }
    assert "sound" in idx("check").stdout
