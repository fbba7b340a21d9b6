"""The first command that adds documents creates the index; nothing else does."""

import json
import subprocess
from pathlib import Path

import pytest

from shared import Document, Index, Searcher
from shared.system.shell import quoted
from tests.conftest import Idx
from tests.idx.files import ids, make
from tests.idx.watched import Watch
from tests.programs import PROGRAMS, Started
from tests.systems import ON_WINDOWS, has_mode, makes_links, sends_signals

ENTRY = json.dumps({"Id": "a", "Title": "A", "Content": "some text"})

ADDING: dict[str, tuple[str, ...]] = {
    "add": ("add", "-d", "a", "-t", "A", "-c", "some text"),
    "add a file": ("add", "-d", "a", "-t", "A", "-f", "papers/a.txt"),
    "add a path": ("add", "papers"),
    "bulk": ("bulk", "-j", "-"),
    "sync": ("sync", "papers"),
}


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    return make(tmp_path / "papers", "a.txt")


@pytest.mark.parametrize("command", ADDING.values(), ids=ADDING)
def test_the_first_documents_create_the_index(
    idx: Idx, papers: Path, command: tuple[str, ...]
) -> None:
    first = idx(*command, stdin=ENTRY)
    # A command that takes long says how far it is afterwards.
    assert first.stderr.splitlines()[0] == f"Created an index at {idx.index}"
    assert has_mode(idx.index, 0o700)
    with Searcher(idx.index) as searcher:
        assert searcher.search("text").totalHits == 1
    assert "Created" not in idx(*command, stdin=ENTRY).stderr


def test_an_empty_folder_becomes_an_index(idx: Idx, papers: Path) -> None:
    idx.index.mkdir()
    assert "Created an index" in idx("sync", "papers").stderr
    assert has_mode(idx.index, 0o700)


def test_a_program_reads_that_the_index_was_created(idx: Idx, papers: Path) -> None:
    done = idx("sync", "papers", "--json")
    assert json.loads(done.stdout.splitlines()[0]) == {
        "event": "created",
        "index_path": str(idx.index),
    }
    assert done.stderr.splitlines()[0] == f"Created an index at {idx.index}"


@pytest.mark.parametrize("command", [("init",), *ADDING.values()], ids=["init", *ADDING])
def test_a_path_without_a_parent_is_refused_with_the_folder_to_create(
    idx: Idx, papers: Path, command: tuple[str, ...]
) -> None:
    failed = idx(*command, "-i", "my work/deep/index", code=1, stdin=ENTRY)
    parent = idx.folder / "my work" / "deep"
    mkdir = "mkdir" if ON_WINDOWS else "mkdir -p"
    assert failed.stderr == (
        f"Error: the index folder {parent / 'index'} cannot be used: the folder {parent} does not "
        f"exist; create that folder first, with: {mkdir} {quoted(str(parent))}\n"
    )
    assert failed.stdout == ""
    assert sorted(entry.name for entry in idx.folder.iterdir()) == ["papers"]


@pytest.mark.parametrize("command", [("init",), *ADDING.values()], ids=["init", *ADDING])
def test_a_folder_of_other_files_is_refused_and_left_alone(
    idx: Idx, papers: Path, command: tuple[str, ...]
) -> None:
    idx.index.mkdir()
    (idx.index / "letter.txt").write_text("Dear Ann")
    failed = idx(*command, code=1, stdin=ENTRY)
    assert failed.stderr.startswith(f"Error: the index folder {idx.index} cannot be used: it ")
    assert "holds other files, such as 'letter.txt'" in failed.stderr
    assert [entry.name for entry in idx.index.iterdir()] == ["letter.txt"]


@makes_links
def test_a_link_to_nothing_is_refused(idx: Idx, papers: Path) -> None:
    idx.index.symlink_to("nowhere")
    for command in (("init",), ("sync", "papers"), ("sync", "papers", "--dry-run")):
        assert "it is a dangling link" in idx(*command, code=1).stderr


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (("add", "nowhere"), "nowhere: there is no such file or folder"),
        (("sync", "nowhere"), "nowhere: there is no such file or folder"),
        (("add", "-d", "a", "-t", "A", "-f", "nowhere"), "nowhere: there is no such file"),
        (("add", "-d", "a", "-t", " ", "-c", "text"), "the title of the document 'a' must not"),
        (("bulk", "-j", "nowhere"), "nowhere: there is no such file"),
        (("bulk", "-j", "-"), "standard input: line 301: is not valid JSON"),
    ],
)
@pytest.mark.parametrize("has_folder", [False, True])
def test_broken_input_creates_nothing(
    idx: Idx, command: tuple[str, ...], reason: str, has_folder: bool
) -> None:
    if has_folder:
        idx.index.mkdir()
    lines = [json.dumps({"Id": str(n), "Title": "T", "Content": "some text"}) for n in range(300)]
    failed = idx(*command, code=1, stdin="\n".join([*lines, "{broken"]))
    assert reason in failed.stderr
    assert "Created" not in failed.stderr
    assert idx.index.exists() == has_folder
    assert not has_folder or [*idx.index.iterdir()] == []


def test_paths_that_do_not_exist_are_answered_as_ever(idx: Idx) -> None:
    failed = idx("add", "one", "two", code=1)
    assert failed.stderr.count("there is no such file or folder") == 2
    assert "failed 2; 0 chunks" in failed.stdout
    answer = idx.json("add", "one", code=1)
    assert answer == {
        "added": [],
        "failed": [f"{idx.folder / 'one'}: there is no such file or folder"],
    }


def test_one_good_path_is_enough_for_an_index(idx: Idx, papers: Path) -> None:
    assert "Created an index" in idx("add", "papers", "nowhere", code=1).stderr
    assert ids(idx.index) == ["a.txt"]


def test_a_dry_run_shows_the_plan_and_creates_nothing(idx: Idx, papers: Path) -> None:
    shown = idx("sync", "papers", "--dry-run")
    assert shown.stdout == ("ADD    a.txt\nPlan: 1 to add, 0 to update, 0 to delete, 0 unchanged\n")
    assert shown.stderr == ""
    assert not idx.index.exists()
    idx.index.mkdir()
    (idx.index / "letter.txt").write_text("Dear Ann")
    refused = idx("sync", "papers", "--dry-run", code=1)
    assert "holds other files, such as 'letter.txt'" in refused.stderr


def test_an_index_within_the_folder_is_not_indexed(idx: Idx, papers: Path) -> None:
    for _ in range(2):
        idx("sync", "papers", "-i", "papers/index")
        assert ids(papers / "index") == ["a.txt"]


@pytest.mark.soak
@sends_signals
def test_a_watch_creates_the_index(tmp_path: Path, index_path: Path, papers: Path) -> None:
    with Watch(tmp_path, "papers") as watch:
        watch.until_event("created", index_path=str(index_path))
        watch.until_event("indexed", source_document="a.txt")
        watch.until_event("watching")
        (papers / "b.txt").write_text("more text")
        watch.until_event("indexed", source_document="b.txt")


@pytest.mark.soak
@sends_signals
def test_a_watch_of_a_missing_folder_waits_with_the_index(tmp_path: Path, index_path: Path) -> None:
    with Watch(tmp_path, "papers") as watch:
        watch.until_event("watching")
        assert not index_path.exists()
        make(tmp_path / "papers", "a.txt")
        watch.until_event("created", index_path=str(index_path))
        watch.until_event("indexed", source_document="a.txt")


def test_programs_that_create_the_index_at_once_all_add_to_it(idx: Idx) -> None:
    numbers = range(4)
    programs = [
        Started(
            *(PROGRAMS / "idx", "add", "-d", str(n), "-t", "T", "-c", "text", "--wait", "60"),
            cwd=idx.folder,
        )
        for n in numbers
    ]
    told = [program.communicate(timeout=120)[1] for program in programs]
    assert [program.returncode for program in programs] == [0 for _ in numbers], told
    assert sum("Created an index" in text for text in told) == 1
    assert ids(idx.index) == [*map(str, numbers)]


def fail_in_a_block(path: Path) -> None:
    with Index(path, create=True) as index:
        index.add(Document("a", "A", "text"))
        raise ZeroDivisionError


def test_an_exception_takes_the_creation_back(tmp_path: Path, index_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        fail_in_a_block(index_path)
    assert [*tmp_path.iterdir()] == []
    with Index(index_path, create=True) as index:
        assert index.created
    with pytest.raises(ZeroDivisionError):
        fail_in_a_block(index_path)
    assert (index_path / "segments_1").exists()


def test_a_commit_keeps_the_index_whatever_comes_after(index_path: Path) -> None:
    def fail_after_a_commit() -> None:
        with Index(index_path, create=True) as index:
            index.commit()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_after_a_commit()
    with Index(index_path) as index:
        assert not index.created


@pytest.mark.soak
def test_another_program_that_waits_gets_the_index_of_one_that_fails(idx: Idx) -> None:
    with Started(PROGRAMS / "idx", "bulk", "-j", "-", cwd=idx.folder) as first:
        while not (idx.index / "segments_1").exists():
            assert first.poll() is None
        second = Started(
            *(PROGRAMS / "idx", "add", "-d", "b", "-t", "B", "-c", "text", "--wait", "60"),
            cwd=idx.folder,
        )
        with pytest.raises(subprocess.TimeoutExpired):
            second.wait(2)
        first.communicate("{broken")
        second.communicate(timeout=60)
    assert (first.returncode, second.returncode) == (1, 0)
    assert ids(idx.index) == ["b"]
    assert has_mode(idx.index, 0o700)
