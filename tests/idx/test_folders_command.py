"""`idx folders`: the remembered folders in the configuration file, and the rest of it untouched."""

import os
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from idx.cli.options import ReadingOptions, takes
from idx.cli.run_options import own_patterns
from idx.configuration import remove_folders
from idx.crawl.patterns import Selection, Selections
from shared.settings.current import configuration_file
from shared.settings.file import read
from shared.settings.model import Folder
from tests.configured import write
from tests.conftest import Idx
from tests.idx.files import ids, make, sync
from tests.systems import has_mode, has_modes, makes_links
from tests.unprivileged import UNPRIVILEGED

BY_HAND = """\
# My settings
wait = 5  # five seconds

[[folders]]
path = "FOLDER/a"  # the first

# The second is large.
[[folders]]
path = "FOLDER/b"
exclude = [
    "old/",  # nobody reads it
]

# The end.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
    return tmp_path


def write_by_hand(folder: Path) -> Path:
    return write(BY_HAND.replace("FOLDER", str(folder)))


def listed(idx: Idx) -> list[str]:
    return [entry["path"] for entry in idx.json("folders", "list")]


def test_folders_are_added_listed_and_removed(idx: Idx, folder: Path) -> None:
    file = configuration_file()
    added = idx("folders", "add", "a", folder / "b" / ".." / "b", "--exclude", "old/")
    assert added.stdout == f"Added {folder}/a to {file}\nAdded {folder}/b to {file}\n"
    idx("folders", "add", "c", "--include", "*.md", "--include", "*.txt")
    assert idx.json("folders", "list") == [
        {"path": f"{folder}/a", "include": [], "exclude": ["old/"], "exists": True},
        {"path": f"{folder}/b", "include": [], "exclude": ["old/"], "exists": True},
        {"path": f"{folder}/c", "include": ["*.md", "*.txt"], "exclude": [], "exists": True},
    ]
    table = idx("folders", "list").stdout
    assert [f"{folder}/{name}" in table for name in "abc"] == [True] * 3
    assert "*.md  *.txt" in table
    removed = idx("folders", "remove", "a", folder / "c")
    assert removed.stdout == f"Removed {folder}/a from {file}\nRemoved {folder}/c from {file}\n"
    assert removed.stderr == (
        "The documents stay in the index; to remove all that are in there: idx sync --exclude '*' "
        f"--prune-missing {folder}/a {folder}/c. Those of folders still remembered come back with: "
        "idx sync\n"
    )
    assert listed(idx) == [f"{folder}/b"]


def test_answers_as_json(idx: Idx, folder: Path) -> None:
    idx("folders", "add", "a")
    added = idx.json("folders", "add", "a", "b")
    assert added == {"added": [f"{folder}/b"], "present": [f"{folder}/a"]}
    removed = idx.json("folders", "remove", "a", "c", code=1)
    assert removed == {"removed": [f"{folder}/a"], "unknown": ["c"]}


@makes_links
def test_a_folder_that_is_there_already_stays_as_it_is(idx: Idx, folder: Path) -> None:
    idx("folders", "add", "a")
    (folder / "link").symlink_to("a")
    before = configuration_file().read_bytes()
    for path in ("a", "link", "b/../a/"):
        again = idx("folders", "add", path, "--exclude", "x").stdout
        assert again.endswith(" is already remembered; nothing was changed.\n")
    assert configuration_file().read_bytes() == before
    assert idx("folders", "add", "b", "b").stdout.count("Added") == 1


def test_what_is_not_a_folder_is_named_and_nothing_is_added(idx: Idx, folder: Path) -> None:
    (folder / "file").touch()
    assert idx("folders", "add", "a", "file", code=1).stderr == "Error: file: is not a folder\n"
    assert idx("folders", "add", "a", "none", code=1).stderr == "Error: none: does not exist\n"
    assert not configuration_file().exists()


def test_an_unknown_folder_is_named_and_the_others_are_removed(idx: Idx, folder: Path) -> None:
    idx("folders", "add", "a", "b")
    failed = idx("folders", "remove", "c", "a", code=1)
    assert "Error: c is not a remembered folder; see idx folders list\n" in failed.stderr
    assert listed(idx) == [f"{folder}/b"]


def test_an_entry_that_another_program_has_added_meanwhile_is_not_removed_instead(
    folder: Path,
) -> None:
    file = write(BY_HAND.replace("FOLDER", str(folder)))
    read(file)
    new = f'[[folders]]\npath = "{folder}/c"\n\n[[folders]]'
    file.write_text(file.read_text().replace("[[folders]]", new, 1))
    assert remove_folders(file, [folder / "a"]) == ([folder / "a"], [])
    assert [one["path"] for one in tomllib.loads(file.read_text())["folders"]] == [
        f"{folder}/c",
        f"{folder}/b",
    ]


def test_a_folder_that_is_gone_is_listed_as_such_and_can_be_removed(idx: Idx, folder: Path) -> None:
    idx("folders", "add", "a")
    (folder / "a").rmdir()
    (entry,) = idx.json("folders", "list")
    assert entry["exists"] is False
    idx("folders", "remove", "a")
    assert listed(idx) == []


def test_comments_and_layout_are_kept(idx: Idx, folder: Path) -> None:
    file = write_by_hand(folder)
    before = file.read_text()
    idx("folders", "add", "c")
    assert file.read_text() == f'{before}\n[[folders]]\npath = "{folder}/c"\n'
    idx("folders", "remove", "c", "a")
    first = f'[[folders]]\npath = "{folder}/a"  # the first\n\n'
    # The comment below the removed table, which is about the next one, goes with it.
    after = before.replace(first, "").replace("# The second is large.\n", "")
    assert file.read_text().split() == after.split()
    idx("folders", "remove", "b")
    text = file.read_text()
    assert [line for line in text.splitlines() if line] == [
        "# My settings",
        "wait = 5  # five seconds",
    ]


def test_folders_in_an_array_stay_in_it(idx: Idx, folder: Path) -> None:
    file = write(f'folders = [\n  "{folder}/a",  # the first\n]\nwait = 5\n')
    idx("folders", "add", "b")
    idx("folders", "add", "c", "--include", "*.md")
    assert file.read_text() == (
        f'folders = [\n  "{folder}/a",  # the first\n  "{folder}/b",\n'
        f'  {{path = "{folder}/c", include = ["*.md"]}},\n]\nwait = 5\n'
    )
    idx("folders", "remove", "a", "b", "c")
    assert listed(idx) == []
    assert file.read_text().endswith("wait = 5\n")


@pytest.mark.parametrize(
    "text",
    [
        'folders = [\n  "a", "b" # both\n]\n',
        'folders = [\n  "a", {path = "b", include = ["*.md"]} # [both]\n]\n',
        'folders = [\n  "a", "b" # both\n  , # odd\n]\n',
    ],
)
def test_a_list_that_cannot_be_changed_stays_as_it_is(idx: Idx, folder: Path, text: str) -> None:
    file = write(text)
    failed = idx("folders", "add", "c", code=1)
    assert "has its folders in a form that cannot be changed automatically" in failed.stderr
    assert file.read_text() == text


def test_folders_that_are_added_at_once_are_all_remembered(idx: Idx, folder: Path) -> None:
    names = [f"at-once-{number}" for number in range(4)]
    for name in names:
        (folder / name).mkdir()
    with ThreadPoolExecutor(len(names)) as pool:
        for _ in pool.map(lambda name: idx("folders", "add", name), names):
            pass
    assert sorted(listed(idx)) == [f"{folder}/{name}" for name in names]


def test_paths_of_the_file_are_relative_to_it(idx: Idx, folder: Path) -> None:
    file = configuration_file()
    (file.parent / "near").mkdir(parents=True)
    file.write_text('folders = ["near"]')
    assert listed(idx) == [str(file.parent / "near")]
    again = idx("folders", "add", file.parent / "near")
    assert again.stdout == f"{file.parent}/near is already remembered; nothing was changed.\n"
    idx("folders", "remove", file.parent / "near")
    assert listed(idx) == []


@has_modes
def test_a_new_file_is_its_owners_and_an_old_one_keeps_its_permissions(
    idx: Idx, folder: Path
) -> None:
    file = configuration_file()
    idx("folders", "add", "a")
    assert has_mode(file, 0o600)
    file.chmod(0o640)
    idx("folders", "add", "b")
    assert has_mode(file, 0o640)
    assert [entry.name for entry in file.parent.iterdir()] == ["config.toml"]


@makes_links
def test_a_file_that_is_a_link_stays_one(idx: Idx, folder: Path) -> None:
    file = configuration_file()
    file.parent.mkdir()
    (folder / "dotfiles").mkdir()
    file.symlink_to(folder / "dotfiles" / "idx.toml")
    idx("folders", "add", "a")
    idx("folders", "add", "b")
    assert file.is_symlink()
    assert (folder / "dotfiles" / "idx.toml").read_text().count("[[folders]]") == 2
    assert listed(idx) == [f"{folder}/a", f"{folder}/b"]


@has_modes
def test_a_file_that_cannot_be_written_stays_as_it_is(idx: Idx, folder: Path) -> None:
    file = write_by_hand(folder)
    before = file.read_bytes()
    file.parent.chmod(0o500)
    failed = idx("folders", "add", "c", code=1, prefix=UNPRIVILEGED)
    assert failed.stderr == f"Error: {file}: cannot be written: Permission denied\n"
    file.parent.chmod(0o700)
    limited = ("prlimit", "--fsize=100")
    failed = idx("folders", "add", "c", code=1, prefix=limited)
    assert failed.stderr == f"Error: {file}: cannot be written: File too large\n"
    assert file.read_bytes() == before
    assert [entry.name for entry in file.parent.iterdir()] == ["config.toml"]


def test_names_with_quotes_and_newlines_are_kept(idx: Idx, folder: Path) -> None:
    names = ['with "quotes" and \\', "with\na newline", "عربي", "# [[folders]]"]
    for name in names:
        (folder / name).mkdir()
    idx("folders", "add", *names)
    assert listed(idx) == [f"{folder}/{name}" for name in names]
    idx("folders", "remove", *names)
    assert listed(idx) == []


def test_a_name_that_is_not_utf_8_is_an_error(idx: Idx, folder: Path) -> None:
    name = "a\udcff"
    (folder / name).mkdir()
    failed = idx("folders", "add", name, code=1)
    assert failed.stderr.endswith(": cannot hold a path that is not UTF-8\n")
    assert not configuration_file().exists()


def test_the_variable_beats_the_file_and_says_so(idx: Idx, folder: Path) -> None:
    idx.setenv("IDX_FOLDERS", str(folder / "c"))
    warning = f"Warning: IDX_FOLDERS is set and overrides the folders in {configuration_file()}\n"
    assert idx("folders", "add", "a").stderr == warning
    assert idx("folders", "list").stderr == warning
    assert idx("folders", "remove", "a").stderr.startswith(warning)


def test_own_patterns_of_a_folder_stand_before_the_general_ones_but_not_before_an_option(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = typer.Typer()
    own = Folder(path=folder, include=["*.pdf"], exclude=["drafts/"])

    @app.command()
    @takes(ReadingOptions, "reading")
    def sync(context: typer.Context, reading: ReadingOptions) -> None:
        general = Selection(reading.include or (), reading.exclude or (), hidden=True)
        for each in (own, Folder(path=folder)):
            own_of = {os.path.realpath(folder): own_patterns(each, context)}
            found = Selections(general, own_of).selection_for(folder)
            typer.echo(f"{[*found.include]} {[*found.exclude]} {found.hidden}")

    def lines(*arguments: str) -> list[str]:
        return CliRunner().invoke(app, arguments, catch_exceptions=False).stdout.splitlines()

    assert lines() == ["['*.pdf'] ['drafts/'] True", "[] [] True"]
    monkeypatch.setenv("IDX_INCLUDE", "*.md")
    assert lines("--exclude", "old/") == [
        "['*.pdf'] ['old/', 'drafts/'] True",
        "['*.md'] ['old/'] True",
    ]
    assert lines("--include", "*.txt") == ["['*.txt'] ['drafts/'] True", "['*.txt'] [] True"]


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
