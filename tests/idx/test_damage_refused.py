"""Commands on an index with a damaged file: none answers from it, none writes to it."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Idx
from tests.idx.damage import change_a_bit, damaged, file_of_each_kind, fill_with_every_kind
from tests.programs import run

# One process for all: a crash of the virtual machine ends it, and is seen.
ANSWERS: str = """
import json, sys
from shared import IndexFolderError, Searcher
for folder in sys.argv[1:]:
    with Searcher(folder) as searcher:
        for ask in (
            lambda: searcher.search("common", limit=100),
            lambda: searcher.document_chunks("d11"),
            lambda: searcher.next_chunk("d11-chunk-002"),
            lambda: searcher.documents(),
        ):
            try:
                print(json.dumps(repr(ask())), flush=True)
            except IndexFolderError as error:
                print(json.dumps([str(error)]), flush=True)
"""
CALLS = 4


def answers(folders: list[Path]) -> list[list[Any]]:
    """What each call on each index answers: a text; or a list of one, which is an error."""
    done = run(sys.executable, "-c", ANSWERS, *folders, check=False)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return [lines[first : first + CALLS] for first in range(0, len(lines), CALLS)]


@pytest.mark.soak
def test_no_search_is_answered_from_a_damaged_file_of_any_kind(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    filled = fill_with_every_kind(idx, empty_index)
    copies = [("", shutil.copytree(filled, tmp_path / "sound"))]
    for name in file_of_each_kind(filled):
        for content in damaged((filled / name).read_bytes()):
            folder = shutil.copytree(filled, tmp_path / f"damaged-{len(copies)}")
            (folder / name).write_bytes(content)
            copies.append((name, folder))
    (_, sound), *told = zip(copies, answers([folder for _, folder in copies]), strict=True)
    assert all(isinstance(answer, str) for answer in sound)
    for (name, folder), given in told:
        for answer in given:
            assert isinstance(answer, list), (name, folder, answer[:200])
            (error,) = answer
            assert f"the index at {folder} is damaged: " in error
            assert f"file {name}: it" in error
            assert "find out more with idx check" in error


def damage_a_segment(filled: Path) -> Path:
    (file,) = filled.glob("*.cfs")
    change_a_bit(file, of=b"text")
    return file


COMMANDS = (
    ("search", "text"),
    ("show", "a"),
    ("show", "a", "--chunk", "1"),
    ("list",),
    ("stats",),
    ("add", "-d", "a", "-t", "A", "-c", "text"),
    ("bulk", "-j", "-"),
    ("delete", "a"),
    ("sync", "."),
    ("rebuild",),
    ("backup", "copy"),
)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, marks=() if command[0] in {"search", "delete"} else pytest.mark.soak)
        for command in COMMANDS
    ],
    ids=" ".join,
)
def test_a_command_names_the_damaged_file_and_what_helps(
    idx: Idx, empty_index: Path, command: tuple[str, ...]
) -> None:
    idx("add", "-d", "a", "-t", "A", "-c", "text")
    file = damage_a_segment(empty_index)
    before = {name: name.read_bytes() for name in empty_index.glob("[_s]*")}
    failed = idx(*command, code=1, stdin="[]")
    (message,) = failed.stderr.splitlines()
    assert message.startswith(f"Error: the index at {empty_index} is damaged: ")
    assert file.name in message
    assert "idx restore" in message
    assert "idx repair" in message
    assert failed.stdout == ""
    assert {name: name.read_bytes() for name in empty_index.glob("[_s]*")} == before


def test_an_index_without_its_damage_is_used_again(idx: Idx, empty_index: Path) -> None:
    idx("add", "-d", "a", "-t", "A", "-c", "text")
    idx("backup", "copy")
    damage_a_segment(empty_index)
    idx("restore", "copy", "--yes")
    assert "a-chunk-001" in idx("search", "text").stdout
