"""Folders that are opened part by part, on each system by its own calls."""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared import system
from shared.files.access import holds, identity, identity_of, lies_in
from shared.system.windows_paths import extended
from tests.systems import names_long_paths


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    """A descriptor of the temporary folder."""
    descriptor = system.open_folder(tmp_path)
    yield descriptor
    os.close(descriptor)


def test_a_file_is_reached_through_its_folder_and_read(folder: int, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "ü 你.txt").write_bytes(b"line\r\n\x1a")
    inner = system.open_part(folder, "in", system.PASSAGE)
    with os.fdopen(system.open_part(inner, "ü 你.txt", system.READING), "rb") as file:
        assert identity_of(os.fstat(file.fileno())) == identity(tmp_path / "in" / "ü 你.txt")
        assert file.read() == b"line\r\n\x1a"
    status = system.status_of_part(inner, "ü 你.txt")
    assert (status.st_size, stat.S_ISREG(status.st_mode)) == (7, True)
    assert stat.S_ISDIR(system.status_of_part(inner, ".").st_mode)
    os.close(inner)


def test_the_entries_of_a_folder_are_all_listed(folder: int, tmp_path: Path) -> None:
    names = {f"{number:04} {'ä' * 60}" for number in range(500)}
    for name in names:
        (tmp_path / name).touch()
    (tmp_path / "folder").mkdir()
    here = system.open_part(folder, ".", system.LISTING)
    found = {entry.name: entry for entry in system.entries(here)}
    assert found.keys() == names | {"folder"}
    assert stat.S_ISDIR(found["folder"].stat(follow_symlinks=False).st_mode)
    assert not any(entry.is_symlink() for entry in found.values())
    os.close(here)


def test_an_empty_folder_has_no_entries(folder: int) -> None:
    here = system.open_part(folder, ".", system.LISTING)
    assert system.entries(here) == []
    os.close(here)


@pytest.mark.parametrize("flags", [system.PASSAGE, system.LISTING])
def test_a_file_is_no_folder(folder: int, tmp_path: Path, flags: int) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        system.open_part(folder, "file", flags)
    with pytest.raises(NotADirectoryError):
        system.open_folder(tmp_path / "file")


@pytest.mark.parametrize("name", ["none", "none."])
def test_what_is_not_there_is_missing(folder: int, name: str) -> None:
    with pytest.raises(FileNotFoundError):
        system.open_part(folder, name, system.READING)


@pytest.mark.skipif(os.name != "nt", reason="only Windows has other separators and streams")
@pytest.mark.parametrize("name", ["file:stream", "file::$DATA", "in\\file", "in/file", "..\\x"])
def test_a_name_leads_to_no_stream_and_no_other_folder(
    folder: int, tmp_path: Path, name: str
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "file").touch()
    (tmp_path / "file").touch()
    with pytest.raises(FileNotFoundError):
        system.open_part(folder, name, system.READING)


def test_the_folders_above_are_known_up_to_the_root(folder: int, tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    inner = system.open_folder(tmp_path / "a" / "b")
    own = {identity_of(os.fstat(folder))}
    assert lies_in(inner, own)
    assert lies_in(folder, own)
    assert not lies_in(folder, {identity_of(os.fstat(inner))})
    assert holds(tmp_path, tmp_path / "a" / "b" / "new")
    assert not holds(tmp_path / "a", tmp_path / "ab")
    os.close(inner)


@names_long_paths
def test_a_path_longer_than_windows_usually_takes_is_followed_part_by_part(
    folder: int, tmp_path: Path
) -> None:
    deep = tmp_path.joinpath(*["deep" * 10] * 10)
    # Windows takes it by this prefix alone.
    long = Path(extended(deep)) if os.name == "nt" else deep
    long.mkdir(parents=True)
    (long / "file.txt").write_text("found")
    here = os.dup(folder)
    for part in deep.relative_to(tmp_path).parts:
        inner = system.open_part(here, part, system.PASSAGE)
        os.close(here)
        here = inner
    with os.fdopen(system.open_part(here, "file.txt", system.READING)) as file:
        assert file.read() == "found"
    os.close(here)


@pytest.mark.skipif(os.name != "nt", reason="only Windows reserves names")
@pytest.mark.parametrize("name", ["aux.txt", "NUL", "con", "com1.md", "dot.", "space "])
def test_a_name_that_windows_reserves_is_one_of_a_file(
    folder: int, tmp_path: Path, name: str
) -> None:
    Path(f"{extended(tmp_path)}\\{name}").write_text("found")
    with os.fdopen(system.open_part(folder, name, system.READING)) as file:
        assert file.read() == "found"


@pytest.mark.skipif(os.name == "nt", reason="links are a privilege on Windows")
@pytest.mark.parametrize("flags", [system.PASSAGE, system.LISTING, system.READING])
@pytest.mark.parametrize("target", ["folder", "file", "none"])
def test_a_link_is_refused(folder: int, tmp_path: Path, flags: int, target: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(target)
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
        system.open_part(folder, "link", flags)
