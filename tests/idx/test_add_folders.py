"""Folders: what is taken from them, what is left out, and the ids of what is found."""

import json
import os
from pathlib import Path

import pytest

from idx.crawl import SECRETS, Selection, crawl
from shared.errors import SourceFileError
from tests.conftest import Idx
from tests.unprivileged import UNPRIVILEGED


def make(folder: Path, *names: str) -> Path:
    """Make files with their own names as text; a name that ends with a slash is a folder."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir(exist_ok=True)
        else:
            path.write_text(f"text of {name}")
    return folder


def found(folder: Path, **selection: object) -> list[str]:
    files = crawl(folder, Selection(**selection))  # type: ignore[arg-type] # spelled in each test
    return [str(file.relative_to(folder)) for file in files if isinstance(file, Path)]


def test_files_are_found_recursively_and_in_order(tmp_path: Path) -> None:
    make(tmp_path, "b.txt", "a/z.txt", "a/b/c.md", "c/", "A.txt")
    assert found(tmp_path) == ["A.txt", "a/b/c.md", "a/z.txt", "b.txt"]


def test_hidden_files_and_folders_are_taken_only_when_asked_for(tmp_path: Path) -> None:
    make(tmp_path, ".hidden.txt", ".folder/a.txt", "b.txt")
    assert found(tmp_path) == ["b.txt"]
    assert found(tmp_path, hidden=True) == [".folder/a.txt", ".hidden.txt", "b.txt"]


def test_include_and_exclude(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "a.txt", "old/b.md", "new/old/c.md", "new/d.MD")
    assert found(tmp_path, include=["*.md"]) == ["a.md", "new/old/c.md", "old/b.md"]
    assert found(tmp_path, exclude=["old/"]) == ["a.md", "a.txt", "new/d.MD"]
    assert found(tmp_path, exclude=["/old/"], include=["*.md"]) == ["a.md", "new/old/c.md"]


def test_ignore_files_take_away_as_in_git(tmp_path: Path) -> None:
    make(tmp_path, "a.log", "a.txt", "keep/b.log", "keep/c.log", "build/d.txt", "sub/build.txt")
    (tmp_path / ".gitignore").write_text("*.log\n/build/\n")
    (tmp_path / "keep" / ".gitignore").write_text("!b.log\n")
    (tmp_path / ".idxignore").write_text("sub/*\n# a comment\n")
    assert found(tmp_path) == ["a.txt", "keep/b.log"]


def test_an_ignore_file_gives_back_neither_secrets_nor_what_the_user_excluded(
    tmp_path: Path,
) -> None:
    make(tmp_path, "server.key", "old/a.txt", "b.txt")
    (tmp_path / ".idxignore").write_text("!*.key\n!old/\n!old/*\n")
    assert found(tmp_path, exclude=["old/"]) == ["b.txt"]


@pytest.mark.parametrize("pattern", SECRETS)
def test_secrets_are_never_taken(tmp_path: Path, pattern: str) -> None:
    name = pattern.replace("*", "x")
    make(tmp_path, f"deep/{name}inside.txt" if name.endswith("/") else f"deep/{name}", "b.txt")
    assert found(tmp_path, hidden=True) == ["b.txt"]


def test_links_are_followed_only_when_asked_for_and_never_in_a_circle(tmp_path: Path) -> None:
    outside = make(tmp_path / "outside", "secret.txt")
    folder = make(tmp_path / "folder", "a.txt", "sub/b.txt")
    (folder / "link.txt").symlink_to(outside / "secret.txt")
    (folder / "way-out").symlink_to(outside)
    (folder / "sub" / "circle").symlink_to(folder)
    (folder / "broken").symlink_to(folder / "nothing")
    assert found(folder) == ["a.txt", "sub/b.txt"]
    followed = found(folder, follow_links=True)
    assert followed == ["a.txt", "link.txt", "sub/b.txt", "way-out/secret.txt"]


def test_an_ignore_file_that_is_a_link_is_not_read(tmp_path: Path) -> None:
    folder = make(tmp_path / "folder", "a.txt")
    (tmp_path / "rules").write_text("*")
    (folder / ".gitignore").symlink_to(tmp_path / "rules")
    assert found(folder) == ["a.txt"]


def test_what_is_no_file_is_passed_over(tmp_path: Path) -> None:
    make(tmp_path, "a.txt")
    os.mkfifo(tmp_path / "pipe")
    assert found(tmp_path) == ["a.txt"]


def test_a_folder_that_cannot_be_listed_is_named(tmp_path: Path) -> None:
    (error,) = crawl(tmp_path / "nowhere", Selection())
    assert isinstance(error, SourceFileError)
    assert "cannot be listed: No such file or directory" in str(error)


def ids(idx: Idx) -> list[str]:
    documents = json.loads(idx("list", "--json").stdout)["documents"]
    return [document["source_document"] for document in documents]


def test_the_id_is_the_path_within_the_folder(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    make(tmp_path / "papers", "a.txt", "deep/er/b.txt")
    added = idx("add", "papers")
    assert added.stdout == "Added 2 files as 2 chunks; 0 failed\n"
    assert added.stderr == ""
    assert ids(idx) == ["a.txt", "deep/er/b.txt"]


def test_several_folders_have_their_names_before_the_ids(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    make(tmp_path, "one/papers/a.txt", "two/papers/a.txt", "notes/a.txt", "single.txt")
    idx("add", "one/papers", "two/papers", "notes", "single.txt")
    assert ids(idx) == ["notes/a.txt", "one/papers/a.txt", "single.txt", "two/papers/a.txt"]


def test_names_of_every_kind_are_ids(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    names = ["عربي.txt", "line\nfeed.txt", "quote'\".txt", "🦦.txt"]
    make(tmp_path / "papers", *names)
    (tmp_path / "papers" / os.fsdecode(b"bad\xff.txt")).write_text("text")
    failed = idx("add", "papers", code=1)
    assert failed.stdout == "Added 4 files as 4 chunks; 1 failed\n"
    (line,) = failed.stderr.splitlines()
    assert "is not valid Unicode" in line
    assert sorted(ids(idx)) == sorted(names)


def test_a_bad_file_or_folder_costs_only_itself(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    folder = make(tmp_path / "papers", "a.txt", "closed/b.txt", "c.txt")
    (folder / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "closed").chmod(0)
    failed = idx("add", "papers", code=1, prefix=UNPRIVILEGED)
    assert failed.stdout == "Added 2 files as 2 chunks; 2 failed\n"
    assert "papers/closed: cannot be listed: Permission denied" in failed.stderr
    assert "papers/image.png: is not utf-8 text" in failed.stderr
    (folder / "closed").chmod(0o700)


def test_the_options_reach_the_crawl(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    make(tmp_path / "papers", "a.md", "b.txt", ".c.md", "old/d.md")
    (tmp_path / "papers" / "e.md").symlink_to(tmp_path / "papers" / "b.txt")
    idx("add", "papers", "--include", "*.md", "--exclude", "old/", "--hidden", "--follow-links")
    assert ids(idx) == [".c.md", "a.md", "e.md"]
