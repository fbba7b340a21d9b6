"""A disk that fills up: one clear error, and nothing is lost that was there."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared import Searcher
from shared.writing.index import create
from tests.conftest import Idx
from tests.idx.files import make
from tests.idx.volumes import enlarge, mount, unmount

pytestmark = pytest.mark.soak


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = mount(tmp_path / "disk", "1m")
    yield disk
    unmount(disk)


def test_an_index_that_does_not_fit_is_none_yet(idx: Idx, small_disk: Path, tmp_path: Path) -> None:
    index = make(small_disk / "index")
    filler = small_disk / "filler"
    filler.write_bytes(bytes(shutil.disk_usage(small_disk).free))
    (message,) = idx("init", "-i", str(index), code=1).stderr.splitlines()
    assert message.startswith(f"Error: writing to the index at {index} failed: ")
    assert "No space left on device; there is no index yet; free some space" in message
    filler.unlink()
    idx("init", "-i", str(index))
    with Searcher(index) as searcher:
        assert searcher.documents().total_documents == 0


def test_failures_that_do_not_fit_on_the_disk_leave_those_of_before(
    idx: Idx, small_disk: Path, tmp_path: Path
) -> None:
    papers = make(tmp_path / "papers", "a.txt", f"{'deep' * 60}/{'folder' * 40}/")
    (papers / "bad.txt").write_text("%PDF-1.7 nothing")
    create(small_disk / "index")
    idx("sync", "papers", "-i", "disk/index", code=1)
    deep = papers / ("deep" * 60) / ("folder" * 40)
    for number in range(900):
        (deep / f"{number}.txt").write_bytes(b"\0\1\2\3")
    failed = idx("sync", "papers", "-i", "disk/index", code=1)
    *_, message = failed.stderr.splitlines()
    assert message.startswith(f"Error: writing to the index at {small_disk / 'index'} failed: ")
    assert "failures.json: No space left on device" in message
    with Searcher(small_disk / "index") as searcher:
        assert [failure.source_document for failure in searcher.failures().failures] == ["bad.txt"]
        assert searcher.documents().total_documents == 1
    enlarge(small_disk, "64m")
    idx("sync", "papers", "-i", "disk/index", code=1)
    with Searcher(small_disk / "index") as searcher:
        assert searcher.failures().total == 901
