"""Single files, on each system by its own calls."""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path

import pytest

from shared import system
from shared.errors import IndexWriteError
from shared.files.access import (
    IrregularFileError,
    locked,
    read_of_owner,
    read_regular,
    write_atomically,
)
from shared.model.failures import delete_failures, save_failures
from tests.programs import Started
from tests.systems import ON_WINDOWS, keeps_open_files_in_place

_HOLDS = (
    "import sys, pathlib; from shared.files.access import locked\n"
    "with locked(pathlib.Path(sys.argv[1])): print('locked', flush=True); sys.stdin.read()"
)


def test_a_lock_keeps_another_program_waiting_and_ends_with_it(tmp_path: Path) -> None:
    file = tmp_path / "new" / "settings.toml"
    with Started(sys.executable, "-c", _HOLDS, file) as other:
        assert other.stdout.readline() == "locked\n"
        threading.Timer(0.5, other.kill).start()
        before = time.monotonic()
        with locked(file):
            assert time.monotonic() - before > 0.2
    assert [*file.parent.iterdir()] == []


def test_the_null_device_is_an_empty_file_of_its_owner() -> None:
    assert read_of_owner(Path(os.devnull), 10) == b""
    with pytest.raises((IrregularFileError, OSError)):
        read_regular(Path(os.devnull), 10)


def test_a_file_that_is_being_read_can_be_replaced(tmp_path: Path) -> None:
    file, new = tmp_path / "file", tmp_path / "new"
    file.write_text("old")
    new.write_text("new")
    with os.fdopen(system.open_file(file, follow_links=False)) as opened:
        threading.Timer(0.2, opened.close).start()
        system.replace(new, file)
    assert file.read_text() == "new"


HELD = pytest.mark.skipif(not ON_WINDOWS, reason="other systems change files that are open")

CHANGES: dict[str, Callable[[Path], None]] = {
    "replace": lambda file: system.replace(file.with_name("new"), file),
    "delete": system.delete,
    "move": lambda file: system.move_folder(file.parent, file.parent.with_name("moved")),
    "failures": lambda file: save_failures(file.parent, {}),
    "no failures": lambda file: delete_failures(file.parent),
    "settings": lambda file: write_atomically(file, b"new"),
}
"""Changes to a file, or to its folder."""

NAMES = [
    pytest.param(name, marks=keeps_open_files_in_place) if name == "move" else name
    for name in CHANGES
]


@pytest.fixture
def held(tmp_path: Path) -> Iterator[tuple[Path, BufferedReader]]:
    """A file that is open as a scanner for viruses opens it, so that Windows changes nothing."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "new").touch()
    file = folder / "failures.json"
    file.write_text("{}")
    with file.open("rb") as stream:
        yield file, stream


@HELD
@pytest.mark.parametrize("change", NAMES)
def test_a_file_that_a_scanner_holds_is_changed_a_little_later(
    held: tuple[Path, BufferedReader], change: str
) -> None:
    file, stream = held
    threading.Timer(0.5, stream.close).start()
    CHANGES[change](file)
    assert stream.closed


@HELD
@pytest.mark.parametrize("change", NAMES)
def test_a_file_that_is_held_for_long_ends_the_change(
    held: tuple[Path, BufferedReader], change: str
) -> None:
    file, _ = held
    before = time.monotonic()
    with pytest.raises((PermissionError, IndexWriteError)) as refused:
        CHANGES[change](file)
    assert 2 < time.monotonic() - before < 10
    if isinstance(refused.value, IndexWriteError):
        assert f"writing to the index at {file.parent} failed: failures.json: " in str(
            refused.value
        )
    assert file.exists()


@pytest.mark.parametrize("there", [False, True])
def test_a_folder_moves_into_the_place_of_an_empty_one(tmp_path: Path, there: bool) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "file").touch()
    if there:
        (tmp_path / "old").mkdir()
    system.move_folder(tmp_path / "new", tmp_path / "old")
    assert [path.name for path in tmp_path.rglob("*")] == ["old", "file"]


def test_a_link_leads_to_the_content_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    system.link(tmp_path / "other", tmp_path / "file")
    assert (tmp_path / "other").read_text() == "text"


def test_files_and_folders_can_be_flushed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    system.flush(tmp_path / "file")
    system.flush(tmp_path)


def test_a_file_that_is_being_read_can_be_deleted(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    with system.open_shared(tmp_path / "file") as opened:
        (tmp_path / "file").unlink()
        assert opened.read() == b"text"
    assert not (tmp_path / "file").exists()
