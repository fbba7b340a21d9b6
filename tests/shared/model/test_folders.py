"""The folders of an index: where they are after a move, and the terms of their files."""

from pathlib import Path

import pytest

from shared.messages import decodable
from shared.model.folders import IndexedFolder, IndexedFolders, file_term
from tests.systems import ON_WINDOWS, limits_names

INNER = IndexedFolder("inner/", Path("/docs/inner"))
FOLDERS = IndexedFolders((IndexedFolder("", Path("/docs")), INNER))


def kept(folders: IndexedFolders, before: Path, after: Path) -> list[tuple[str, Path]]:
    """Folders that were kept with an index at one path and are read at another."""
    loaded = IndexedFolders.load(folders.dump(before), after)
    return [(folder.prefix, folder.path) for folder in loaded]


def folders_at(*paths: Path) -> IndexedFolders:
    return IndexedFolders(tuple(IndexedFolder(f"{path.name}/", path) for path in paths))


def test_folders_that_stay_are_found_wherever_the_index_goes(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    folders = folders_at(tmp_path / "docs", tmp_path / "missing")
    expected = [("docs/", tmp_path / "docs"), ("missing/", tmp_path / "missing")]
    assert kept(folders, tmp_path / "index", tmp_path / "index") == expected
    assert kept(folders, tmp_path / "index", tmp_path / "far" / "away" / "index") == expected


def test_folders_that_moved_with_the_index_are_found_from_it(tmp_path: Path) -> None:
    (tmp_path / "new" / "docs").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    folders = folders_at(tmp_path / "old" / "docs", tmp_path / "outside")
    moved = kept(folders, tmp_path / "old" / "index", tmp_path / "new" / "index")
    assert moved == [("docs/", tmp_path / "new" / "docs"), ("outside/", tmp_path / "outside")]


def test_a_copy_of_the_folder_does_not_take_the_place_of_the_folder(tmp_path: Path) -> None:
    for place in ("old", "new"):
        (tmp_path / place / "docs").mkdir(parents=True)
    folders = folders_at(tmp_path / "old" / "docs")
    copied = kept(folders, tmp_path / "old" / "index", tmp_path / "new" / "index")
    assert copied == [("docs/", tmp_path / "old" / "docs")]


def test_a_file_in_the_place_of_a_folder_is_not_the_folder(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "docs").touch()
    folders = folders_at(tmp_path / "old" / "docs")
    moved = kept(folders, tmp_path / "old" / "index", tmp_path / "new" / "index")
    assert moved == [("docs/", tmp_path / "old" / "docs")]


@limits_names
def test_a_folder_that_the_system_refuses_to_look_at_stays_where_it_was(tmp_path: Path) -> None:
    # As one on a network drive that is gone, or behind a closed folder.
    refused = tmp_path / ("x" * 300)
    with pytest.raises(OSError, match="too long"):
        refused.stat()
    (tmp_path / "new").mkdir()
    for after in (tmp_path / "index", tmp_path / "new" / "index"):
        assert kept(folders_at(refused), tmp_path / "index", after) == [
            (f"{refused.name}/", refused)
        ]


NAMES = ["مستندات", *([] if ON_WINDOWS else ["docs\n2", "caf\udce9", 'a"b\\c'])]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_kept_as_ascii(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    folders = IndexedFolders((IndexedFolder("x/", tmp_path / name),))
    assert folders.dump(tmp_path).isascii()
    assert kept(folders, tmp_path, tmp_path) == [("x/", tmp_path / name)]


def test_an_index_without_folders_has_none() -> None:
    assert [*IndexedFolders.load(None, Path("/index"))] == []
    assert [*IndexedFolders.load(IndexedFolders().dump(Path("/i")), Path("/i"))] == []


@pytest.mark.parametrize(
    ("prefix", "path", "file"),
    [
        ("", "a/b.txt", "/docs/a/b.txt"),
        ("inner/", "a.txt", "/docs/inner/a.txt"),
        (None, "/elsewhere/a.txt", "/elsewhere/a.txt"),
        ("forgotten/", "a.txt", "a.txt"),
        (None, None, None),
        ("inner/", None, None),
    ],
)
def test_the_path_of_a_file_is_that_of_its_folder_and_its_own(
    prefix: str | None, path: str | None, file: str | None
) -> None:
    assert FOLDERS.file_path(prefix, path) == file


@pytest.mark.parametrize("folder", [Path("/"), Path("/caf\udce9"), Path("/docs")])
def test_the_terms_of_a_file_are_found_by_the_path_that_is_shown(folder: Path) -> None:
    folders = IndexedFolders((IndexedFolder("x/", folder),))
    shown = folders.file_path("x/", "a/b.txt")
    assert shown is not None
    assert not shown.startswith("//")
    assert file_term("x/", "a/b.txt") in folders.terms(shown)
    for end in range(1, len(shown) + 1):
        beginnings = folders.term_prefixes(shown[:end])
        assert any(file_term("x/", "a/b.txt").startswith(beginning) for beginning in beginnings)


def test_a_file_in_nested_folders_has_a_term_for_each_and_one_for_itself() -> None:
    assert set(FOLDERS.terms("/docs/inner/a.txt")) == {
        "/docs/inner/a.txt",
        "\0inner/a.txt",
        "inner/\0a.txt",
    }
    assert FOLDERS.terms("/docs2/a.txt") == ["/docs2/a.txt"]


def test_a_beginning_stands_for_the_folders_it_leads_to_or_into() -> None:
    assert set(FOLDERS.term_prefixes("/do")) == {"/do", "\0", "inner/\0"}
    assert set(FOLDERS.term_prefixes("/docs/in")) == {"/docs/in", "\0in", "inner/\0"}
    assert set(FOLDERS.term_prefixes("/docs/inner/b")) == {
        "/docs/inner/b",
        "\0inner/b",
        "inner/\0b",
    }
    assert FOLDERS.term_prefixes("/other") == ["/other"]


def test_bytes_that_are_no_text_are_spelled() -> None:
    assert decodable("Grüße") == "Grüße"
    shown = "caf\\xed\\xb3\\xa9.txt" if ON_WINDOWS else "caf\\xe9.txt"
    assert decodable("caf\udce9.txt") == shown
