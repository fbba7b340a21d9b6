"""`idx add PATH…`: folders, and the ids of what is found in them."""

import os
from pathlib import Path

from tests.conftest import Idx
from tests.idx.files import ids, make
from tests.systems import has_modes, makes_links
from tests.unprivileged import UNPRIVILEGED


def test_the_id_is_the_path_within_the_folder(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    make(tmp_path / "papers", "a.txt", "deep/er/b.txt")
    added = idx("add", "papers")
    assert "Added 2, updated 0, deleted 0, skipped 0, failed 0; 2 chunks" in added.stdout
    assert added.stderr == ""
    assert ids(empty_index) == ["a.txt", "deep/er/b.txt"]


def test_several_folders_have_their_names_before_the_ids(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    make(tmp_path, "one/papers/a.txt", "two/papers/a.txt", "notes/a.txt", "single.txt")
    idx("add", "one/papers", "two/papers", "notes", "single.txt")
    assert ids(empty_index) == ["notes/a.txt", "one/papers/a.txt", "single.txt", "two/papers/a.txt"]


def test_names_of_every_kind_are_ids(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    names = ["عربي.txt", "line\nfeed.txt", "quote'\".txt", "🦦.txt"]
    make(tmp_path / "papers", *names)
    (tmp_path / "papers" / os.fsdecode(b"bad\xff.txt")).write_text("text")
    idx("add", "papers")
    assert sorted(ids(empty_index)) == sorted([*names, "bad\\xff.txt"])
    assert "text" in idx("show", "bad\\xff.txt").stdout


def test_two_names_that_are_spelled_alike_do_not_replace_each_other(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    make(tmp_path / "papers", "bad\\xff.txt")
    (tmp_path / "papers" / os.fsdecode(b"bad\xff.txt")).write_text("other text")
    assert "has the same id as" in idx("add", "papers", code=1).stderr
    assert ids(empty_index) == ["bad\\xff.txt"]


@has_modes
def test_a_bad_file_or_folder_costs_only_itself(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    folder = make(tmp_path / "papers", "a.txt", "closed/b.txt", "c.txt")
    (folder / "image.txt").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "closed").chmod(0)
    failed = idx("add", "papers", code=1, prefix=UNPRIVILEGED)
    assert "Added 2, updated 0, deleted 0, skipped 0, failed 2" in failed.stdout
    assert "papers/closed: cannot be listed: Permission denied" in failed.stderr
    assert "papers/image.txt: is" in failed.stderr
    (folder / "closed").chmod(0o700)


@makes_links
def test_the_options_reach_the_crawl(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    make(tmp_path / "papers", "a.md", "b.txt", ".c.md", "old/d.md")
    (tmp_path / "papers" / "e.md").symlink_to(tmp_path / "papers" / "b.txt")
    idx("add", "papers", "--include", "*.md", "--exclude", "old/", "--hidden", "--follow-links")
    assert ids(empty_index) == [".c.md", "a.md", "e.md"]
