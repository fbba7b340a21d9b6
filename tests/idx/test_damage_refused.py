"""Commands on an index with a damaged file: none answers from it, none writes to it."""

import json
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shared import Document, IndexDamagedError
from shared.errors import LuceneError
from shared.maintenance.backup import backup
from shared.maintenance.repair import repair
from shared.maintenance.restore import restore
from shared.maintenance.upkeep import optimize, purge
from shared.storage import integrity
from tests.conftest import Idx, add_documents
from tests.idx.damage import change_a_bit, damaged, file_of_each_kind, fill_with_every_kind
from tests.idx.files import files_of_index
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


@pytest.fixture
def changed_index(empty_index: Path) -> Path:
    """Two segments, a bit of the older of which is changed, where Lucene does not look at once."""
    words = random.Random(4)  # noqa: S311 - words that do not compress
    texts = [[f"{words.getrandbits(40):x}" for _ in range(240)] for _ in range(2)]
    for name, text in zip("ab", texts, strict=True):
        add_documents(empty_index, Document(name, name, " ".join(text)))
    change_a_bit(min(empty_index.glob("*.cfs")), of=texts[0][120].encode())
    return empty_index


@pytest.mark.parametrize("write", [purge, optimize])
def test_it_is_refused(
    idx: Idx,
    changed_index: Path,
    monkeypatch: pytest.MonkeyPatch,
    write: Callable[[Path], object],
) -> None:
    # Files of any size are waited for.
    monkeypatch.setattr(integrity, "_MAX_FOREGROUND_BYTES", 0)
    before = files_of_index(changed_index)
    name = min(changed_index.glob("*.cfs")).name
    with pytest.raises(IndexDamagedError, match=f"file {name}: its checksum is wrong"):
        write(changed_index)
    assert files_of_index(changed_index) == before
    # What is left of it can still be saved.
    assert "Saved 1 document (1 chunk)" in idx("repair").stdout
    write(changed_index)


def test_what_was_not_copied_whole_is_not_committed(
    changed_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    add_documents(other, Document("a", "A", "text"))
    backup(other, tmp_path / "copy")
    before = files_of_index(changed_index)
    # Whatever the reason may be: the work ends without a word.
    monkeypatch.setattr("shared.maintenance.upkeep.in_background", lambda _work, _cancel: iter(()))
    with pytest.raises(LuceneError, match="of 1 chunks Lucene copied 0"):
        repair(changed_index)
    with pytest.raises(LuceneError, match="of 1 chunks Lucene copied 0"):
        restore(changed_index, tmp_path / "copy")
    assert files_of_index(changed_index) == before
