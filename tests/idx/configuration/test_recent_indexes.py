"""Without an index in the current folder, the error names those that were used lately."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from shared.writing.index import create
from tests.conftest import Idx
from tests.idx.watched import Watch
from tests.systems import has_mode, has_pipes_as_files, sends_signals


def list_file() -> Path:
    return Path(os.environ["XDG_DATA_HOME"]) / "mcp-lucene" / "recent-indexes.json"


def recent() -> list[str]:
    return [Path(path).name for path in json.loads(list_file().read_text())]


def missing(idx: Idx, *arguments: str) -> str:
    return idx(*(arguments or ("stats",)), code=1).stderr


def test_the_error_names_the_indexes_used_lately_and_the_command_that_takes_one(
    idx: Idx, index_path: Path, tmp_path: Path
) -> None:
    beginning = f"Error: there is no index at {index_path}; create one with: idx init "
    assert missing(idx).startswith(beginning)
    assert "recently used" not in missing(idx)
    idx("add", "-i", "my letters", "-d", "a", "-t", "A", "-c", "text")
    create(tmp_path / "other")
    idx("search", "text", "-i", "other")
    told = missing(idx, "search", "text")
    assert told.startswith(beginning)
    assert told.endswith(
        f"; or name a recently used index ({tmp_path}/other, {tmp_path}/my letters), for "
        f"this command: idx search --index-path {tmp_path}/other, or for all: idx config set "
        f"index-path {tmp_path}/other\n"
    )
    idx("stats", "-i", "my letters")
    assert f"idx list --index-path '{tmp_path}/my letters'" in missing(idx, "list")
    idx("config", "set", "index-path", tmp_path / "my letters")
    assert "text" in idx("show", "a").stdout


def test_a_path_that_was_named_is_answered_without_the_list(
    idx: Idx, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    idx("init", "-i", "other")
    assert "recently used" not in missing(idx, "stats", "-i", "nowhere")
    monkeypatch.setenv("IDX_INDEX_PATH", "nowhere")
    assert "recently used" not in missing(idx)
    monkeypatch.delenv("IDX_INDEX_PATH")
    idx("config", "set", "index-path", "nowhere")
    assert "recently used" not in missing(idx)


def test_an_index_that_is_gone_is_not_named(idx: Idx, tmp_path: Path) -> None:
    for name in ("one", "two"):
        idx("init", "-i", name)
    shutil.rmtree(tmp_path / "two")
    assert f"({tmp_path}/one)" in missing(idx)
    shutil.rmtree(tmp_path / "one")
    assert "recently used" not in missing(idx)


def test_ten_indexes_are_remembered_the_last_first(idx: Idx, tmp_path: Path) -> None:
    for number in range(12):
        create(tmp_path / str(number))
    list_file().parent.mkdir()
    list_file().write_text(json.dumps([str(tmp_path / str(number)) for number in range(1, 11)]))
    idx("stats", "-i", "0")
    assert recent() == ["0", *map(str, range(1, 10))]
    idx("stats", "-i", "5")
    assert recent() == ["5", "0", "1", "2", "3", "4", "6", "7", "8", "9"]
    assert [entry.name for entry in list_file().parent.iterdir()] == [list_file().name]


def test_the_list_is_written_only_when_another_index_is_used(idx: Idx) -> None:
    idx("init", "-i", "one")
    assert has_mode(list_file(), 0o600)
    before = list_file().stat().st_mtime_ns
    idx("stats", "-i", "./one")
    assert list_file().stat().st_mtime_ns == before


@sends_signals
def test_a_command_that_fails_with_an_exit_code_or_is_interrupted_has_used_the_index(
    idx: Idx, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        create(tmp_path / name)
    idx("delete", "nobody", "-i", "one", code=1)
    assert recent() == ["one"]
    (tmp_path / "papers").mkdir()
    with Watch(tmp_path, "papers", "-i", "two") as watch:
        watch.until_event("watching")
    assert recent() == ["two", "one"]


def test_what_cannot_be_opened_is_not_remembered(idx: Idx, tmp_path: Path) -> None:
    create(tmp_path / "broken")
    (tmp_path / "broken" / "segments_1").write_bytes(b"nothing")
    idx("stats", "-i", "broken", code=1)
    idx("search", "(", "-i", "broken", code=1)
    assert not list_file().exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'[1, null, [], {}, "", "relative", "\\u0000", "/\\ud800", "/nowhere", "/etc"]',
        b"[" * 100_000,
        *(
            pytest.param(content, marks=pytest.mark.soak)
            for content in (
                b"\xff\xfe\0",
                b"{}",
                b"null",
                b"[1, null, [], {}, true, '']",
                b'"' + b"x" * 1_000_000,
                json.dumps(["/" + "x" * 5_000]).encode(),
            )
        ),
    ],
    ids=range(9),
)
def test_a_damaged_list_is_ignored_and_replaced(idx: Idx, index_path: Path, content: bytes) -> None:
    list_file().parent.mkdir()
    list_file().write_bytes(content)
    assert "recently used" not in missing(idx)
    idx("init", "-i", "one")
    assert recent() == ["one"]


def test_a_path_cannot_write_to_the_terminal(idx: Idx, tmp_path: Path) -> None:
    name = "red\x1b[31m\nError: all is lost"
    create(tmp_path / name)
    idx("stats", "-i", name)
    told = missing(idx)
    assert "recently used" in told
    assert "\x1b" not in told
    assert len(told.splitlines()) == 1


def make_folder(file: Path) -> None:
    file.mkdir(parents=True)


def make_pipe(file: Path) -> None:
    file.parent.mkdir()
    os.mkfifo(file)


def make_file_of_the_folder(file: Path) -> None:
    file.parent.write_text("mine")


@has_pipes_as_files
@pytest.mark.parametrize("make", [make_folder, make_pipe, make_file_of_the_folder])
def test_a_list_that_cannot_be_kept_disturbs_nobody(idx: Idx, index_path: Path, make: Any) -> None:
    make(list_file())
    for command in (("init",), ("stats",)):
        done: subprocess.CompletedProcess[str] = idx(*command)
        assert done.stderr == ""
    shutil.rmtree(index_path)
    assert "there is no index at" in missing(idx)
