"""Files and folders that are replaced, flushed and read, and which Lucene wrote an index."""

import errno
import os
import shutil
import stat
from pathlib import Path

import pytest

from shared.files import index_folder
from shared.files.access import read_of_owner, write_atomically
from shared.files.index_folder import replace_folder
from shared.files.lucene_files import written_by
from shared.system import flush
from tests.idx.files import make
from tests.systems import has_pipes_as_files


def names(folder: Path) -> dict[str, list[str]]:
    """The folders in a folder, with what is in each."""
    return {path.name: sorted(file.name for file in path.iterdir()) for path in folder.iterdir()}


@pytest.mark.parametrize("there", [("o",), (), None], ids=["folder", "empty", "none"])
def test_if_the_names_do_not_reach_the_disk_both_folders_are_where_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...] | None
) -> None:
    make(tmp_path / "new", "n")
    if there is not None:
        (tmp_path / "old").mkdir()
        make(tmp_path / "old", *there)
    before = names(tmp_path)

    def fail(_path: Path) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(index_folder, "flush", fail)
    with pytest.raises(OSError, match="Input/output error"):
        replace_folder(tmp_path / "new", tmp_path / "old")
    assert names(tmp_path) == before


def test_a_folder_whose_file_system_has_nothing_to_flush_is_flushed(tmp_path: Path) -> None:
    flush(tmp_path)
    # The kernel makes up what is in it; fsync(2) fails with EINVAL.
    flush(Path("/proc"))


def test_a_file_that_cannot_be_flushed_is_an_error() -> None:
    with pytest.raises(OSError, match="Invalid argument"):
        flush(Path("/dev/null"))


OPEN_FILES = Path("/proc/self/fd")


@has_pipes_as_files
def test_what_is_no_regular_file_is_never_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(FileExistsError, match="it is not a regular file"):
        write_atomically(pipe, b"content")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [*tmp_path.iterdir()] == [pipe]


def test_a_folder_that_is_refused_leaves_nothing_open(tmp_path: Path) -> None:
    before = len([*OPEN_FILES.iterdir()])
    for _ in range(10):
        with pytest.raises(IsADirectoryError) as refused:
            read_of_owner(tmp_path, 1_000)
        assert refused.value.filename == str(tmp_path)
    assert len([*OPEN_FILES.iterdir()]) == before


DATA = Path(__file__).parents[2] / "data"


def test_the_newest_commit_counts(empty_index: Path) -> None:
    shutil.copy(DATA / "lucene-8.11" / "segments_1", empty_index / "segments_zz")
    assert written_by(empty_index) == "Lucene 8.11.4"


@pytest.mark.parametrize(
    ("header", "release"),
    [
        (b"\xff\xff\xff\xf5" + bytes(40), "an unknown version of Lucene"),
        (b"", "an unknown version of Lucene"),
        (b"PK\x03\x04" + bytes(40), "an unknown version of Lucene"),
        (b"\x3f\xd7\x6c\x17\x08segments\0\0\0\x0a" + bytes(10), "an unknown version of Lucene"),
        (b"\x3f\xd7\x6c\x17\x08nosegmen\0\0\0\x0a" + bytes(40), "an unknown version of Lucene"),
        (b"\x3f\xd7\x6c\x17\x08segments\0\0\0\x01" + bytes(40), "a Lucene before 5.3"),
    ],
)
def test_headers(tmp_path: Path, header: bytes, release: str) -> None:
    (tmp_path / "segments_1").write_bytes(header)
    assert written_by(tmp_path) == release


def test_a_folder_without_a_commit_tells_nothing(tmp_path: Path) -> None:
    (tmp_path / "segments_x-y").touch()
    assert written_by(tmp_path) == "an unknown version of Lucene"
