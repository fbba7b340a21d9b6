"""Every command that writes, where there is no room: one clear error, and nothing is lost."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from shared.maintenance.check import check
from tests.conftest import Idx
from tests.idx.files import files_of_index
from tests.idx.volumes import mount, unmount
from tests.idx.writing_commands import COMMANDS, texts
from tests.systems import limits_processes

FEW_BYTES: Final = frozenset({"delete", "purge"})
"""Commands that write little: they fail only where nothing at all can be written."""

FREE: Final = {name: (0,) if name in FEW_BYTES else (0, 60_000) for name in COMMANDS}
"""Bytes that are free on the disk when a command begins."""

LIMITS: Final = {name: (100,) if name in FEW_BYTES else (100, 30_000) for name in COMMANDS}
"""How many bytes a file may have."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    volume = mount(tmp_path / "disk", "32m")
    yield volume
    unmount(volume)


@pytest.fixture
def work(prepared: Path, tmp_path: Path) -> Path:
    """What the commands read, in the folder where they run."""
    for path in prepared.iterdir():
        if path.is_dir():
            shutil.copytree(path, tmp_path / path.name)
        else:
            shutil.copy(path, tmp_path)
    return tmp_path


def fill_up(disk: Path, free: int) -> Path:
    """Leave only so many bytes free; the file to delete to have room again."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as stream:
        stream.write(bytes(shutil.disk_usage(disk).free - free))
    return filler


def assert_told(stderr: str, index: Path, reason: str) -> None:
    *_, message = stderr.splitlines()
    assert message.startswith(f"Error: writing to the index at {index} failed: "), stderr
    assert f"{reason}; the index still has its last commit; free some space" in message


@pytest.mark.soak
@pytest.mark.parametrize(
    ("name", "free"), [(name, free) for name, sizes in FREE.items() for free in sizes]
)
def test_a_full_disk(idx: Idx, work: Path, disk: Path, name: str, free: int) -> None:
    index = shutil.copytree(work / "index", disk / "index")
    arguments = (*COMMANDS[name].arguments, "-i", "disk/index")
    before, old = files_of_index(index), texts(index)
    filler = fill_up(disk, free)
    failed = idx(*arguments, code=1)
    assert_told(failed.stderr, index, "No space left on device")
    assert files_of_index(index) == before
    assert check(index, wait=0).problems == []
    filler.unlink()
    assert COMMANDS[name].done in idx(*arguments).stdout
    assert texts(index) != old or name in {"rebuild", "optimize"}
    assert check(index, wait=0).problems == []


@limits_processes
@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("rebuild", None),
        ("restore", None),
        pytest.param("optimize", None, marks=pytest.mark.soak),
        *(
            pytest.param(name, limit, marks=pytest.mark.soak)
            for name, sizes in LIMITS.items()
            for limit in sizes
        ),
    ],
)
def test_files_that_may_not_become_as_long(
    idx: Idx, work: Path, name: str, limit: int | None
) -> None:
    """Without a limit of its own, a file must be shorter than the longest of before."""
    index = work / "index"
    arguments = (*COMMANDS[name].arguments, "-i", "index")
    before = files_of_index(index)
    source = "copy" if name == "restore" else "index"
    longest = max(map(len, files_of_index(work / source).values()))
    failed = idx(*arguments, code=1, prefix=("prlimit", f"--fsize={limit or longest - 1}"))
    assert len(failed.stderr.splitlines()) == 1
    assert_told(failed.stderr, index, "File too large")
    assert files_of_index(index) == before
    assert check(index, wait=0).problems == []
    assert COMMANDS[name].done in idx(*arguments).stdout
