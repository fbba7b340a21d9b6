"""What can be wrong with the index folder: one clear error, and nothing lost."""

import json
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

from shared import Document, Index
from tests.conftest import Idx, add_documents
from tests.idx.files import files_of_index, ids
from tests.programs import PROGRAMS, Started, run
from tests.systems import STOPS, has_modes, limits_processes, sends_signals, starts_without_locale
from tests.unprivileged import UNPRIVILEGED
from tests.waiting import wait_for

if sys.platform != "win32":
    import resource

DATA = Path(__file__).parents[1] / "data"

CREATING_COMMANDS = (
    ("add", "-d", "a", "-t", "A", "-c", "text"),
    ("bulk", "-j", "-"),
)

OTHER_COMMANDS = (
    ("delete", "a"),
    ("list",),
    ("show", "a"),
    ("search", "text"),
    ("stats",),
)

COMMANDS = (*CREATING_COMMANDS, *OTHER_COMMANDS)

UPKEEP = (
    ("check",),
    ("repair",),
    ("purge", "--yes"),
    ("rebuild",),
    ("optimize",),
    ("backup", "copy"),
    ("unlock",),
)


@pytest.mark.parametrize("command", [*OTHER_COMMANDS, *UPKEEP], ids=lambda command: command[0])
def test_without_an_index_a_command_that_adds_nothing_names_the_one_that_makes_it(
    idx: Idx, index_path: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    for there in ([], [index_path]):
        failed = idx(*command, code=1, stdin="[]")
        assert failed.stderr.startswith(f"Error: there is no index at {index_path}; create one")
        assert "idx init" in failed.stderr
        assert failed.stdout == ""
        assert [*tmp_path.iterdir()] == there
        index_path.mkdir(exist_ok=True)
    assert [*index_path.iterdir()] == []


@pytest.mark.parametrize(
    "command",
    [("check",), ("repair",), ("purge", "--yes"), ("optimize",), ("restore", "copy", "--yes")],
    ids=lambda command: command[0],
)
def test_another_writer_is_waited_for_and_named(
    idx: Idx, empty_index: Path, command: tuple[str, ...]
) -> None:
    idx("backup", "copy")
    with Index(empty_index) as index:
        failed = idx(*command, "--wait", "0.1", code=1)
        assert "is locked by another writer" in failed.stderr
        assert "(waited 0.1 s)" in failed.stderr
        index.add(Document("late", "Late", "text"))
    assert ids(empty_index) == ["late"]


@pytest.mark.parametrize(
    "command", [("init",), *COMMANDS, ("rebuild",)], ids=lambda command: command[0]
)
def test_a_file_is_no_index(idx: Idx, index_path: Path, command: tuple[str, ...]) -> None:
    index_path.write_text("mine")
    assert "cannot be used: it is" in idx(*command, code=1, stdin="[]").stderr
    assert index_path.read_text() == "mine"


@pytest.mark.parametrize(
    ("folder", "release", "command"),
    [
        *(
            ("lucene-8.11", "Lucene 8.11.4", command)
            for command in (("init",), *COMMANDS, ("rebuild",))
        ),
        ("lucene-4.8", "a Lucene before 5.3", COMMANDS[0]),
        ("lucene-4.8", "a Lucene before 5.3", ("search", "text")),
        *(
            pytest.param("lucene-4.8", "a Lucene before 5.3", command, marks=pytest.mark.soak)
            for command in (("init",), *COMMANDS[1:])
            if command[0] != "search"
        ),
    ],
)
def test_an_older_index_is_named_as_such(
    idx: Idx, index_path: Path, command: tuple[str, ...], folder: str, release: str
) -> None:
    shutil.copytree(DATA / folder, index_path)
    before = files_of_index(index_path)
    failed = idx(*command, code=1, stdin="[]")
    assert f"was written by {release} and cannot be read" in failed.stderr
    assert files_of_index(index_path) == before


def fill(path: Path) -> None:
    add_documents(path, Document("kept", "Kept", "kept text"))


@has_modes
def test_a_read_only_index_can_be_searched_but_not_changed(idx: Idx, empty_index: Path) -> None:
    fill(empty_index)
    for file in (*empty_index.iterdir(), empty_index):
        file.chmod(0o555 if file.is_dir() else 0o444)
    for command in (COMMANDS[0], ("delete", "kept")):
        failed = idx(*command, code=1, prefix=UNPRIVILEGED)
        assert "cannot be used: permission denied" in failed.stderr
    assert "kept-chunk-001" in idx("search", "kept", prefix=UNPRIVILEGED).stdout


@has_modes
def test_an_unreadable_index_is_named(idx: Idx, empty_index: Path) -> None:
    empty_index.chmod(0)
    for command in (("init",), COMMANDS[0], ("search", "x")):
        failed = idx(*command, code=1, prefix=UNPRIVILEGED)
        assert str(empty_index) in failed.stderr
        assert "ermission denied" in failed.stderr


@has_modes
def test_an_index_in_a_folder_that_forbids_it_is_named(idx: Idx, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o555)
    failed = idx("init", "-i", "closed/index", code=1, prefix=UNPRIVILEGED)
    assert "closed/index cannot be used: Permission denied" in failed.stderr


def many(count: int) -> str:
    return "\n".join(
        json.dumps({"Id": str(n), "Title": "T", "Content": " ".join(map(str, range(n, n + 400)))})
        for n in range(count)
    )


def test_the_second_writer_waits_and_then_names_the_first(idx: Idx, empty_index: Path) -> None:
    with Started(PROGRAMS / "idx", "bulk", "-i", empty_index, "-j", "-") as first:
        wait_for(lambda: (empty_index / "write.lock").exists() and is_locked(empty_index))
        failed = idx("add", "-d", "b", "-t", "B", "-c", "text", "--wait", "0.5", code=1)
        assert f"locked by another writer, process {first.pid} (" in failed.stderr
        assert "idx bulk" in failed.stderr
        assert "--wait SECONDS" in failed.stderr
        with Started(
            PROGRAMS / "idx", "add", "-i", empty_index, "-d", "b", "-t", "B", "-c", "text"
        ) as second:
            time.sleep(1)
            assert second.poll() is None
            first.communicate()
            second.communicate()
        assert second.returncode == 0
    assert first.returncode == 0


def is_locked(path: Path) -> bool:
    from shared.storage.lock import holder

    return "bulk" in holder(path)


@sends_signals
@pytest.mark.parametrize(("stop", "code"), STOPS)
def test_an_interrupted_writer_leaves_the_index_as_it_was(
    idx: Idx, empty_index: Path, tmp_path: Path, stop: signal.Signals, code: int
) -> None:
    fill(empty_index)
    with Started(PROGRAMS / "idx", "bulk", "-i", empty_index, "-j", "-") as writer:
        writer.stdin.write(many(50) + "\n")
        writer.stdin.flush()
        wait_for(lambda: is_locked(empty_index))
        time.sleep(0.3)
        writer.send_signal(stop)
        _, errors = writer.communicate()
    assert writer.returncode == code
    assert errors == ("" if stop == signal.SIGKILL else "Interrupted: nothing was changed.\n")
    assert ids(empty_index) == ["kept"]
    idx("add", "-d", "next", "-t", "T", "-c", "text")


@sends_signals
@pytest.mark.parametrize("library", ["_lucene.", "/java-runtime/lib/modules"])
def test_an_interruption_of_the_start_is_one_too(empty_index: Path, library: str) -> None:
    with Started(PROGRAMS / "idx", "search", "x", "-i", empty_index) as program:
        mapped = Path(f"/proc/{program.pid}/maps")
        wait_for(lambda: library in mapped.read_text() or program.poll() is not None)
        program.send_signal(signal.SIGINT)
        _, errors = program.communicate()
    assert program.returncode == 130
    assert "Traceback" not in errors


@starts_without_locale
def test_paths_are_spelled_in_utf_8_whatever_the_locale(idx: Idx) -> None:
    idx.setenv("LC_ALL", "C")
    idx("init", "-i", "café")
    idx("add", "-i", "café", "-d", "a", "-t", "A", "-c", "text")


def test_a_query_that_cannot_be_run_is_one_line(idx: Idx, empty_index: Path) -> None:
    for query, reason in {
        "x" * 100_000: "at most 20,000",
        'title:"hello': "Error: Parse error: the query ends too early",
        " ".join(f"w{n}" for n in range(10_000))[:19_999]: "more than 2,048 terms",
    }.items():
        failed = idx("search", query, code=1)
        assert reason in failed.stderr
        assert len(failed.stderr.splitlines()) == 1


@limits_processes
def test_a_machine_without_room_for_java_is_told(idx: Idx, empty_index: Path) -> None:
    limit = 600 * 1024**2

    def little_memory() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    failed = run(
        PROGRAMS / "idx", "stats", "-i", empty_index, preexec_fn=little_memory, check=False
    )
    assert failed.returncode == 1
    assert "Error: the Java virtual machine could not be started" in failed.stderr


def test_tests_run_the_programs_of_this_environment() -> None:
    assert Path(sys.executable).parent == PROGRAMS
