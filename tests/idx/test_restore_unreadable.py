"""`idx restore` in the place of an index whose commit cannot be read."""

import os
import random
import shutil
import struct
import subprocess
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import lucene  # noqa: F401 - the packages of Java can be imported after it only
import pytest
from java.nio.file import Paths
from org.apache.lucene.index import IndexWriter, IndexWriterConfig
from org.apache.lucene.store import FSDirectory

from shared import Document, IndexDamagedError, IndexMissingError
from shared.java import vm
from shared.maintenance.backup import backup
from shared.maintenance.check import check
from shared.storage.lock import holder
from tests.conftest import Idx, add_documents
from tests.idx.contents import contents
from tests.idx.damage import change_version, cut_commit, remove_commit
from tests.idx.files import files_of_index, make
from tests.idx.raw_index import files_of_lucene
from tests.idx.segments import fill
from tests.programs import PROGRAMS, Started
from tests.systems import has_modes
from tests.unprivileged import UNPRIVILEGED

pytestmark = pytest.mark.usefixtures("own_temporary_folder")


@pytest.fixture
def filled(empty_index: Path) -> Path:
    """An index that was changed since the backup named `copy` was taken."""
    fill(empty_index, documents=12)
    backup(empty_index, empty_index.parent / "copy")
    add_documents(empty_index, Document("later", "Later", "common text"))
    return empty_index


def commit_of(path: Path) -> Path:
    (commit,) = path.glob("segments_*")
    return commit


def of_newer_lucene(path: Path) -> None:
    """Have the commit say that a format wrote it which is not known yet, with a right checksum."""
    data = bytearray(commit_of(path).read_bytes())
    # Magic number, length and name of the codec, version; at the end the checksum of the rest.
    struct.pack_into(">i", data, 13, 99)
    struct.pack_into(">Q", data, len(data) - 8, zlib.crc32(data[:-8]))
    commit_of(path).write_bytes(data)


def too_long(copy: Path) -> tuple[str, ...]:
    """What has a program write only files that are shorter than the longest of a backup."""
    longest = max(file.stat().st_size for file in copy.iterdir())
    return ("prlimit", f"--fsize={longest - 1}")


@pytest.mark.parametrize(
    "damage",
    [
        cut_commit,
        pytest.param(change_version, marks=pytest.mark.soak),
        pytest.param(remove_commit, marks=pytest.mark.soak),
    ],
)
def test_a_restore_that_fails_leaves_what_there_is(
    idx: Idx, filled: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    damage(filled)
    before = files_of_index(filled)
    limited = too_long(tmp_path / "copy")
    failed = idx("restore", tmp_path / "copy", "-i", filled, "--yes", code=1, prefix=limited)
    (message,) = failed.stderr.splitlines()
    assert message.startswith(f"Error: writing to the index at {filled} failed: File too large")
    assert files_of_index(filled) == before
    idx("restore", "copy", "--yes")
    assert contents(filled) == contents(tmp_path / "copy")
    assert {file.name for file in filled.iterdir()} == {*files_of_lucene(filled), "write.lock"}
    assert check(filled).sound


@pytest.mark.parametrize("damage", [None, cut_commit])
def test_failures_that_cannot_be_replaced_leave_what_there_is(
    idx: Idx, filled: Path, damage: Callable[[Path], None] | None
) -> None:
    if damage:
        damage(filled)
    (filled / "failures.json" / "mine").mkdir(parents=True)
    before = files_of_index(filled)
    assert "the index still has its last commit" in idx("restore", "copy", "--yes", code=1).stderr
    assert files_of_index(filled) == before


@has_modes
@pytest.mark.skipif(not UNPRIVILEGED, reason="only root can give files to somebody else")
def test_a_commit_that_cannot_be_moved_away_leaves_what_there_is(
    idx: Idx, filled: Path, tmp_path: Path
) -> None:
    cut_commit(filled)
    old = commit_of(filled)
    (filled / "write.lock").unlink()
    # Whoever may write to a folder with this mode may move only files of their own.
    filled.chmod(0o1777)
    for path in (filled, old):
        os.chown(path, 65534, 65534)
    old.chmod(0o644)
    before = files_of_index(filled)
    failed = idx("restore", tmp_path / "copy", "-i", filled, "--yes", code=1, prefix=UNPRIVILEGED)
    assert f"writing to the index at {filled} failed: Operation not permitted" in failed.stderr
    assert files_of_index(filled) == before


@has_modes
def test_a_commit_that_may_not_be_read_is_no_damage(idx: Idx, filled: Path, tmp_path: Path) -> None:
    before = files_of_index(filled)
    commit_of(filled).chmod(0)
    restore = ("restore", tmp_path / "copy", "-i", filled, "--yes")
    failed = idx(*restore, code=1, prefix=UNPRIVILEGED)
    assert "cannot be used: permission denied for" in failed.stderr
    commit_of(filled).chmod(0o600)
    assert files_of_index(filled) == before


def test_a_sound_index_of_another_lucene_is_left_alone(idx: Idx, filled: Path) -> None:
    of_newer_lucene(filled)
    before = files_of_index(filled)
    assert "cannot be read by Lucene" in idx("restore", "copy", "--yes", code=1).stderr
    assert files_of_index(filled) == before


def test_an_index_of_another_program_is_left_alone(idx: Idx, filled: Path, tmp_path: Path) -> None:
    with vm.attached():
        directory = FSDirectory.open(Paths.get(str(tmp_path / "other")))
        IndexWriter(directory, IndexWriterConfig()).close()
        directory.close()
    before = files_of_index(tmp_path / "other")
    failed = idx("restore", "copy", "-i", "other", "--yes", code=1)
    assert f"the index at {tmp_path / 'other'} was written by another program" in failed.stderr
    assert files_of_index(tmp_path / "other") == before


def test_a_damaged_commit_before_the_last_one_goes(idx: Idx, filled: Path, tmp_path: Path) -> None:
    # As a run leaves it that is killed after the new commit, and before the old one is deleted.
    (filled / "segments_1").write_bytes(b"damaged")
    idx("restore", "copy", "--yes")
    assert contents(filled) == contents(tmp_path / "copy")
    assert check(filled).sound


def started(path: Path) -> Started:
    """A run that has the lock of the index when this returns."""
    command = (PROGRAMS / "idx", "restore", path.parent / "copy", "-i", path, "--yes")
    run = Started(*command, stdout=subprocess.DEVNULL)
    while run.poll() is None and str(run.pid) not in holder(path):
        time.sleep(0.001)
    return run


@pytest.mark.parametrize("is_new", [False, True])
def test_what_a_killed_one_has_copied_keeps_out_no_other(
    idx: Idx, filled: Path, *, is_new: bool
) -> None:
    aside = make(filled / ".replaced-by-a-killed-one")
    for name in files_of_lucene(filled):
        (filled / name).rename(aside / name)
    if is_new:
        shutil.rmtree(aside)
    # Lucene writes the file that names those of a segment after them.
    for file in (filled.parent / "copy").glob("_*.cf[es]"):
        shutil.copy(file, filled / file.name)
    (filled / "_9.cfs").touch()
    assert "idx restore" in idx("init", code=1).stderr
    idx("restore", "copy", "--yes")
    assert contents(filled) == contents(filled.parent / "copy")
    assert {file.name for file in filled.iterdir()} == {*files_of_lucene(filled), "write.lock"}


def test_files_that_are_only_named_as_lucenes_are_left_alone(idx: Idx, filled: Path) -> None:
    other = make(filled.parent / "other")
    (other / "_notes.txt").write_text("mine")
    refused = idx("restore", "copy", "--yes", "-i", other, code=1)
    assert "it holds other files, such as '_notes.txt'" in refused.stderr
    assert (other / "_notes.txt").read_text() == "mine"


@pytest.mark.soak
def test_killed_at_any_moment_it_leaves_what_was_there_or_the_backup(
    idx: Idx, filled: Path, tmp_path: Path
) -> None:
    cut_commit(filled)
    saved = shutil.copytree(filled, tmp_path / "saved")
    damaged, new = files_of_index(saved), contents(tmp_path / "copy")
    with started(filled) as run:
        began = time.monotonic()
        run.wait()
        seconds = time.monotonic() - began
    chosen = random.Random(7)  # noqa: S311 - moments
    outcomes: list[str] = []
    for _ in range(16):
        if not outcomes or outcomes[-1] == "new":
            shutil.rmtree(filled)
            shutil.copytree(saved, filled)
        with started(filled) as run:
            time.sleep(chosen.uniform(0, 1.5 * seconds))
            run.kill()
        try:
            assert contents(filled) == new
            outcomes.append("new")
        except (IndexDamagedError, IndexMissingError):
            # Perhaps in the folder to which they are moved meanwhile.
            assert {*damaged.values()} <= {*files_of_index(filled).values()}
            outcomes.append("old")
    assert {*outcomes} == {"old", "new"}
    idx("restore", "copy", "--yes")
    assert contents(filled) == new
    assert {file.name for file in filled.iterdir()} == {*files_of_lucene(filled), "write.lock"}
    assert check(filled).sound
