"""Contents of files: what is read, and what is never replaced."""

import os
import stat
from pathlib import Path

import pytest

from shared.files.access import read_of_owner, write_atomically
from tests.systems import has_pipes_as_files

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
