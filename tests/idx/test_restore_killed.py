"""`idx restore`, killed at any moment."""

import random
import signal
import time
from pathlib import Path

import pytest

from shared import Document
from shared.maintenance.backup import backup
from shared.maintenance.check import check
from shared.storage.lock import holder
from tests.conftest import Idx, add_documents
from tests.idx.contents import contents
from tests.idx.raw_index import files_of_lucene
from tests.idx.segments import fill
from tests.programs import PROGRAMS, Started
from tests.waiting import wait_for

pytestmark = pytest.mark.usefixtures("own_temporary_folder")


@pytest.fixture
def filled(empty_index: Path) -> Path:
    fill(empty_index)
    backup(empty_index, empty_index.parent / "copy")
    add_documents(empty_index, Document("later", "Later", "text"))
    return empty_index


def start(path: Path) -> Started:
    """A run that writes, or is about to, when this returns."""
    process = Started(PROGRAMS / "idx", "restore", path.parent / "copy", "-i", path, "--yes")
    wait_for(lambda: str(process.pid) in holder(path) or process.poll() is not None, every=0.002)
    return process


@pytest.mark.parametrize("times", [3, pytest.param(40, marks=pytest.mark.soak)])
def test_the_index_is_the_old_one_or_the_new_one(
    idx: Idx, filled: Path, tmp_path: Path, times: int
) -> None:
    old, new = contents(filled), contents(tmp_path / "copy")
    chosen = random.Random(7)  # noqa: S311 - moments
    killed = 0
    for _ in range(times):
        with start(filled) as process:
            time.sleep(chosen.uniform(0, 0.15))
            process.kill()
            killed += process.wait() == -signal.SIGKILL
        assert contents(filled) in (old, new)
    assert killed > times / 4
    idx("restore", "copy", "--yes")
    assert contents(filled) == new
    assert {file.name for file in filled.iterdir()} == {*files_of_lucene(filled), "write.lock"}
    assert check(filled).sound


def test_ctrl_c_leaves_the_index_as_it_was(filled: Path) -> None:
    before = {file.name: file.read_bytes() for file in filled.iterdir()}
    with start(filled) as process:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert {file.name: file.read_bytes() for file in filled.iterdir()} == before
