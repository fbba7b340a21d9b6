"""The patterns of remembered folders, by whichever path and within whichever folder they lie."""

from pathlib import Path

import pytest

from tests.configured import write
from tests.conftest import Idx
from tests.idx.files import ids, make, sync


def test_a_remembered_folder_in_another_one_keeps_its_patterns(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    make(tmp_path / "papers", "a.txt", "old/b.txt", "in/c.md", "in/d.txt", "in/old/e.md")
    write(
        f"folders = ['{tmp_path}/papers', "
        f"{{path = '{tmp_path}/papers/in', include = ['*.md'], exclude = ['/old/']}}]"
    )
    assert sync(idx) == {"added": 3, "chunks": 3}
    assert ids(empty_index) == ["a.txt", "in/c.md", "old/b.txt"]
    assert sync(idx, "papers/in") == {"skipped": 1}


def test_patterns_of_all_folders_hold_in_one_that_only_leaves_out(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    make(tmp_path / "papers", "a.txt", "in/c.md", "in/d.txt", "in/old/e.md")
    write(
        f"folders = ['{tmp_path}/papers', {{path = '{tmp_path}/papers/in', exclude = ['old/']}}]\n"
        "include = ['/in/*.md']"
    )
    assert sync(idx) == {"added": 1, "chunks": 1}
    assert ids(empty_index) == ["in/c.md"]
    assert sync(idx, "--include", "/in/*.txt") == {"added": 1, "deleted": 1, "chunks": 1}


@pytest.mark.soak
@pytest.mark.parametrize(("remembered", "named"), [("papers", "link"), ("link", "papers")])
def test_a_folder_keeps_its_patterns_by_another_path(
    idx: Idx, empty_index: Path, tmp_path: Path, remembered: str, named: str
) -> None:
    make(tmp_path / "papers", "a.txt", "b.log")
    (tmp_path / "link").symlink_to("papers")
    write(f"folders = [{{path = '{tmp_path}/{remembered}', exclude = ['*.log']}}]")
    assert sync(idx, named) == {"added": 1, "chunks": 1}
    assert sync(idx) == {"skipped": 1}
