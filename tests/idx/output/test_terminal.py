"""What people see on a terminal, how long it will take, and what stays out of a pipe."""

import os
import re
import select
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from idx.output import printing, runs
from shared import Document, Index
from tests.conftest import Idx, add_documents
from tests.idx.preparation import index_files
from tests.idx.segments import fill
from tests.programs import PROCESSES, run_idx_on
from tests.systems import has_terminals

if sys.platform != "win32":
    import pty


def on_a_terminal(*arguments: str | Path, stdin: bytes = b"", **variables: str) -> str:
    """Everything that `idx` writes to a terminal of 80 columns."""
    terminal, end = pty.openpty()
    os.set_blocking(terminal, False)
    written: list[bytes] = []
    ended = threading.Event()

    def read() -> None:
        # A child process of this one may have inherited the other end, and never closes it.
        is_last = False
        while select.select([terminal], [], [], 0.02)[0] or not is_last:
            # What was written before the end is there when this is known.
            is_last = ended.is_set()
            with suppress(OSError):
                written.append(os.read(terminal, 65536))

    reader = threading.Thread(target=read)
    with (
        tempfile.TemporaryFile() as given,
        os.fdopen(end, "wb") as output,
        pytest.MonkeyPatch.context() as environment,
    ):
        given.write(stdin)
        given.seek(0)
        for name, value in ({"TERM": "xterm-256color", "COLUMNS": "80"} | variables).items():
            environment.setenv(name, value)
        reader.start()
        run_idx_on([given, output, output], arguments, Path.cwd())
        ended.set()
        reader.join()
    os.close(terminal)
    return b"".join(written).decode()


def without_styles(shown: str) -> list[str]:
    return re.sub(r"\x1b\[[0-9;]*m|\r", "", shown).splitlines()


@pytest.fixture
def filled_index(empty_index: Path) -> Path:
    add_documents(empty_index, Document("menu", "Menu", "Café au lait"))
    return empty_index


@has_terminals
def test_matches_are_coloured_where_that_is_possible_or_marked(filled_index: Path) -> None:
    command = ("search", "cafe", "-i", filled_index)
    coloured = on_a_terminal(*command)
    plain = on_a_terminal(*command, NO_COLOR="1")
    dumb = on_a_terminal(*command, TERM="dumb")
    assert "\x1b[1;33mCafé\x1b[0m" in coloured
    assert "**" not in coloured
    assert "\x1b[1;33m" not in plain
    assert "**Café** au lait" in dumb
    assert "\x1b" not in dumb


@has_terminals
def test_a_bulk_run_shows_how_far_it_is(empty_index: Path) -> None:
    lines = b"".join(b'{"Id": "%d", "Title": "T", "Content": "x"}\n' % n for n in range(3000))
    shown = on_a_terminal("bulk", "-j", "-", "-i", empty_index, stdin=lines)
    assert "entries" in shown
    assert "Successfully added 3000 documents" in shown


@has_terminals
def test_commands_on_a_whole_index_show_how_far_they_are(empty_index: Path) -> None:
    fill(empty_index)
    copy = empty_index.with_name("copy")
    for command, during, end in (
        (("check",), "Checking", "The index is sound"),
        (("backup", copy), "Copying", "Backed up"),
        (("optimize",), "Merging", "segments into 1"),
        (("restore", copy, "--yes"), "Checking the backup", "Restored "),
    ):
        shown = on_a_terminal(*command, "-i", empty_index)
        assert during in shown
        assert end in shown


@has_terminals
def test_tables_fit_the_terminal(filled_index: Path) -> None:
    add_documents(filled_index, Document("long" * 50, "T" * 200, "text"))
    shown = without_styles(on_a_terminal("list", "-i", filled_index))
    assert max(map(len, shown)) <= 80


@pytest.fixture
def long_path(empty_index: Path, tmp_path: Path) -> Path:
    """A file of the index whose path is longer than a line, with blanks in it."""
    folder = tmp_path / "papers" / ("deeply nested " * 6).strip()
    folder.mkdir(parents=True)
    file = folder / "notice of a lease.txt"
    file.write_text("The notice period of the lease is three months. " + "More words. " * 300)
    unread = folder / "unread.pdf"
    unread.write_bytes(b"%PDF-1.7 no more than this")
    index_files(empty_index, "papers")
    return file


@has_terminals
def test_the_path_of_a_hit_is_never_broken(long_path: Path, empty_index: Path) -> None:
    def lines(*arguments: str | Path, columns: str = "40") -> str:
        shown = on_a_terminal(*arguments, "-i", empty_index, COLUMNS=columns)
        return "\n".join(without_styles(shown))

    assert f" {long_path}, line 1\n" in lines("search", "notice")
    document = str(long_path.relative_to(long_path.parents[1]))
    assert document in "".join(lines("list", columns="2000"))
    # Within a table of a narrow terminal, a value goes on in further lines of its column.
    assert max(map(len, lines("list").splitlines())) <= 40
    assert lines("list", "--plain").split("\n")[0] == str(long_path)


@has_terminals
def test_a_table_that_fits_has_its_paths_beside_the_rest(idx: Idx, empty_index: Path) -> None:
    (idx.folder / "a.txt").write_text("The rent is due.")
    index_files(empty_index, idx.folder / "a.txt")
    shown = without_styles(on_a_terminal("list", "-i", empty_index, COLUMNS="300"))
    heading, rule, row, totals = shown
    assert heading.split() == ["Document", "Title", "Chunks", "Language", "File"]
    assert heading.index("File") == row.index(str(idx.folder / "a.txt"))
    assert set(rule) == {"─"}
    assert totals == "1 document, 1 chunk"


@has_terminals
def test_the_width_is_that_of_columns(filled_index: Path) -> None:
    add_documents(filled_index, Document("long", "Long", "Three months of notice are due. " * 20))
    for columns in (40, 60):
        shown = on_a_terminal("search", "notice", "-i", filled_index, COLUMNS=str(columns))
        passage = [line for line in without_styles(shown) if line.startswith("   ")]
        assert columns - 20 < max(map(len, passage)) <= columns


@has_terminals
def test_what_goes_on_in_a_further_line_is_indented(filled_index: Path) -> None:
    with Index(filled_index) as index:
        index.add(Document("long", "Word " * 40, "Three months of notice are due. " * 20))
    shown = without_styles(on_a_terminal("search", "notice", "-i", filled_index))
    assert shown[0].startswith("1. Word")
    assert shown[1].startswith("     Word")
    passages = shown[shown.index("   long-chunk-001") + 1 :]
    assert passages[0].startswith("   Three months")
    assert passages[1].startswith("     ")
    assert max(map(len, shown)) <= 80


LEFT = re.compile(r"about (\d+) (minute|hour)s? left")


@pytest.fixture
def slow_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes 20 s on whenever a report reads it."""
    # A process of its own would have its own clock.
    monkeypatch.delenv(PROCESSES, raising=False)
    seconds = iter(range(0, 10**6, 20))
    clock = SimpleNamespace(monotonic=lambda: next(seconds), time=time.time)
    monkeypatch.setattr(runs, "time", clock)
    monkeypatch.setattr(printing, "time", clock)


@pytest.mark.soak
@pytest.mark.usefixtures("slow_clock")
def test_words_and_vectors_each_say_it(idx: Idx) -> None:
    for number in range(40):
        (idx.folder / f"{number}.txt").write_text(f"note {number} on the river " * 40)
    told = idx("sync", idx.folder).stderr.splitlines()
    files = [line for line in told if " of 40 files" in line]
    assert not LEFT.search(files[0]), files
    minutes = [int(found[1]) for line in files if (found := LEFT.search(line))]
    assert minutes[-1] < minutes[1]
    assert len(minutes) > 3
    idx.delenv("IDX_SEMANTIC")
    idx("semantic", "on", "--vectors", "later")
    told = idx("semantic", "update").stderr.splitlines()
    assert any(re.match(r"Embedding: \d+ of 40, less than a minute left", line) for line in told)


def test_the_first_half_minute_says_nothing() -> None:
    assert printing.time_left(29, 1, 100) == ""
    assert printing.time_left(60, 1, 5) == ", about 4 minutes left"
    assert printing.time_left(60, 1, 2) == ", about 1 minute left"
    assert printing.time_left(60, 2, 3) == ", less than a minute left"
    assert printing.time_left(3_600, 1, 4) == ", about 3 hours left"
    assert printing.time_left(60, 5, 5) == ""
