import errno
from pathlib import Path

import pytest

from shared.files import index_folder
from shared.files.index_folder import replace_folder
from shared.system import flush
from tests.idx.files import make


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
