"""Files of an index folder, or of a backup, that somebody else has put there."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from mcp import Client

from shared import Document, Index, Searcher
from shared.errors import BackupError, IndexDamagedError, IndexFileError
from shared.maintenance.backup import backup
from shared.maintenance.check import check
from shared.maintenance.restore import restore
from shared.model.failures import FILE_NAME, load_failures
from shared.model.folders import IndexedFolders
from shared.semantic.description import FILES
from shared.semantic.sentence_model import SentenceModel
from tests.conftest import Connect, Idx
from tests.embedding_server import counting, embeds
from tests.model_server import serving
from tests.systems import has_pipes_as_files

FAILURE: Final = {
    "folder": "",
    "path": "a.pdf",
    "kind": "failed",
    "reason": "is damaged",
    "size": 1,
    "modified_ns": 1,
    "tried": "2026-01-01T00:00:00+00:00",
}

CONTENTS: Final = {
    "empty": "",
    "cut short": '{"a.pdf": {',
    "a list": "[1]",
    "a number": "7",
    "null": "null",
    "no fields": '{"a.pdf": {}}',
    "a failure that is a text": '{"a.pdf": "failed"}',
    "a size that is a text": json.dumps({"a.pdf": {**FAILURE, "size": "1"}}),
    "a size that is too great": '{"a.pdf": {"size": 1e999}}',
    "a kind that does not exist": json.dumps({"a.pdf": {**FAILURE, "kind": "odd"}}),
    "a reason that is a list": json.dumps({"a.pdf": {**FAILURE, "reason": ["x"]}}),
    "half a surrogate": json.dumps({"a.pdf": {**FAILURE, "reason": "\ud800"}}),
    "half a surrogate in a name": json.dumps({"a\udfff": FAILURE}),
    "nested deeply": "[" * 200_000,
    "nested deeply in a failure": '{"a.pdf": {"reason": ' + "[" * 200_000,
    "bytes of another encoding": "\0\x01",
}


def pipe(file: Path) -> None:
    os.mkfifo(file)


def link(file: Path) -> None:
    (file.parent.parent / "elsewhere").write_text(json.dumps({"a.pdf": FAILURE}))
    file.symlink_to(file.parent.parent / "elsewhere")


def endless(file: Path) -> None:
    file.symlink_to("/dev/zero")


def folder(file: Path) -> None:
    file.mkdir()


ODD: Final[list[Callable[[Path], None]]] = [pipe, link, endless, folder]


@pytest.fixture
def filled(empty_index: Path) -> Path:
    with Index(empty_index) as index:
        index.add(Document("a", "A", "a text"))
    return empty_index


def refused(stderr: str, name: str) -> None:
    (line,) = stderr.splitlines()
    assert line.startswith("Error: ")
    assert f"the file {name} in " in line
    assert "delete the file" in line


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS.keys())
def test_a_list_of_failures_that_is_none_is_one_clear_error(filled: Path, content: str) -> None:
    (filled / FILE_NAME).write_text(content)
    with pytest.raises(IndexFileError, match=rf"the file {FILE_NAME} in .*: delete") as error:
        load_failures(filled)
    assert "\n" not in str(error.value)


@has_pipes_as_files
@pytest.mark.parametrize("put", ODD)
def test_a_list_of_failures_that_is_no_regular_file_is_not_opened(
    filled: Path, put: Callable[[Path], None]
) -> None:
    put(filled / FILE_NAME)
    with pytest.raises(IndexFileError, match="it is not a regular file"):
        load_failures(filled)


@has_pipes_as_files
def test_commands_name_a_damaged_list_and_a_sync_without_it_finds_the_failures_again(
    idx: Idx, filled: Path
) -> None:
    papers = filled.parent / "papers"
    papers.mkdir()
    (papers / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    idx("sync", "papers", code=1)
    (listed,) = json.loads(idx("failures", "--json").stdout)["failures"]
    (filled / FILE_NAME).unlink()
    pipe(filled / FILE_NAME)
    for command in (("failures", "--json"), ("sync", "papers"), ("backup", "copy")):
        refused(idx(*command, code=1).stderr, FILE_NAME)
    assert "a-chunk-001" in idx("search", "text", "--json").stdout
    (filled / FILE_NAME).unlink()
    idx("sync", "papers", code=1)
    (again,) = json.loads(idx("failures", "--json").stdout)["failures"]
    assert again == {**listed, "tried": again["tried"]}


@has_pipes_as_files
@pytest.mark.parametrize("put", ODD)
@pytest.mark.parametrize("name", ["segments_9", "_7.cfs", "write.lock"])
def test_a_file_of_lucene_that_is_no_regular_file_is_not_opened(
    filled: Path, name: str, put: Callable[[Path], None]
) -> None:
    (filled / name).unlink(missing_ok=True)
    put(filled / name)
    with Searcher(filled) as searcher, pytest.raises(IndexFileError, match=name):
        searcher.search("text")
    with pytest.raises(IndexFileError, match=name), Index(filled):
        pass
    with pytest.raises(IndexFileError, match=name):
        check(filled)


@has_pipes_as_files
def test_commands_name_a_file_of_lucene_that_is_no_regular_file(idx: Idx, filled: Path) -> None:
    pipe(filled / "segments_9")
    for command in (("search", "text"), ("delete", "a"), ("stats",), ("backup", "copy")):
        refused(idx(*command, code=1).stderr, "segments_9")


@has_pipes_as_files
@pytest.mark.parametrize("put", ODD)
def test_the_commit_of_a_backup_that_is_no_regular_file_is_not_opened(
    filled: Path, tmp_path: Path, put: Callable[[Path], None]
) -> None:
    backup(filled, tmp_path / "copy")
    (commit,) = (tmp_path / "copy").glob("segments_*")
    commit.unlink()
    put(commit)
    with pytest.raises(IndexFileError, match=commit.name):
        restore(filled, tmp_path / "copy")


NOTES: Final = ["", "[" * 200_000, "[]", '{"source": 7}', '{"source": "\\ud800"}', "{}"]


@pytest.mark.parametrize("note", NOTES)
def test_a_backup_whose_note_is_none_is_not_replaced(
    filled: Path, tmp_path: Path, note: str
) -> None:
    backup(filled, tmp_path / "copy")
    (tmp_path / "copy" / "backup.json").write_text(note)
    with pytest.raises(BackupError, match=r"copy is not a readable backup \(backup.json: "):
        backup(filled, tmp_path / "copy")


@has_pipes_as_files
@pytest.mark.parametrize("put", ODD)
def test_a_note_of_a_backup_that_is_no_regular_file_is_not_opened(
    filled: Path, tmp_path: Path, put: Callable[[Path], None]
) -> None:
    backup(filled, tmp_path / "copy")
    note = tmp_path / "copy" / "backup.json"
    note.unlink()
    put(note)
    with pytest.raises(BackupError, match=r"\(backup.json: it is not a regular file"):
        backup(filled, tmp_path / "copy")


FOLDERS: Final = {
    "nested deeply": "[" * 200_000,
    "not JSON": "{",
    "a number": "7",
    "a prefix that is a number": '[{"prefix": 7, "path": "/a", "from_index": "../a"}]',
    "no path": '[{"prefix": ""}]',
    "half a surrogate": '[{"prefix": "", "path": "/\\ud800", "from_index": "../a"}]',
    "a null byte": '[{"prefix": "", "path": "/a\\u0000", "from_index": "../a"}]',
}


@pytest.mark.parametrize("text", FOLDERS.values(), ids=FOLDERS.keys())
def test_a_commit_with_a_hostile_list_of_folders_is_a_damaged_index(
    filled: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.model.folders.IndexedFolders.dump", lambda *_: text)
    with Index(filled) as index:
        index.folders = IndexedFolders()
    with (
        Searcher(filled) as searcher,
        pytest.raises(IndexDamagedError, match="its commit has no readable list of folders"),
    ):
        searcher.search("text")


DETAILS: Final = {
    "nested deeply": "[" * 200_000,
    "not JSON": "{",
    "a list": "[]",
    "no title": "{}",
    "a place that does not exist": (
        '{"title": "A", "chunk_count": 1, "metadata": {}, "folder": null, "file_path": null, '
        '"place": {"char_start": 0, "char_end": 1, "self": 1}}'
    ),
    "a count that is a text": (
        '{"title": "A", "chunk_count": "1", "metadata": {}, "folder": null, "file_path": null, '
        '"place": {"char_start": 0, "char_end": 1}}'
    ),
}


@pytest.mark.parametrize("details", DETAILS.values(), ids=DETAILS.keys())
def test_a_chunk_with_hostile_details_is_a_damaged_index(
    filled: Path, details: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.storage.mapping.details_for", lambda *_, **__: lambda _: details)
    with Index(filled) as index:
        index.add(Document("b", "B", "another text"))
    with Searcher(filled) as searcher:
        for read in (lambda: searcher.search("another"), searcher.documents):
            with pytest.raises(IndexDamagedError, match=r"the details of a chunk (are|have) "):
                read()
    assert any("cannot be read" in problem for problem in check(filled).problems)


MODELS: Final = {
    "a server on this machine": lambda url, _: f"{url}#small",
    "a folder with a pipe": lambda _, folder: str(folder),
}


@has_pipes_as_files
@pytest.mark.parametrize("named", MODELS.values(), ids=MODELS.keys())
@pytest.mark.parametrize("by_user", [False, True])
def test_a_model_that_an_index_names_is_neither_asked_nor_read(
    idx: Idx,
    filled: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    named: Callable[[str, Path], str],
    *,
    by_user: bool,
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    for name in FILES:
        pipe(folder / name)
    monkeypatch.setenv("IDX_SEMANTIC_API_KEY", "swordfish")
    with serving(embeds(counting)) as server:
        model = named(server.url, folder)
        with Index(filled) as index:
            index.sentence_model = SentenceModel(model, "0" * 64, 4)
        if by_user:
            monkeypatch.setenv("IDX_SEMANTIC", model)
        searched = idx("search", "text")
        assert "a-chunk-001" in searched.stdout
        asked = len(server.requests)
    if by_user:
        assert asked or "is not a regular file" in searched.stderr
    else:
        assert not asked
        assert "which only the index names" in searched.stderr


async def answer(client: Client, tool: str, **arguments: Any) -> str:
    (content,) = (await client.call_tool(tool, arguments)).content
    return str(content)


@has_pipes_as_files
@pytest.mark.anyio
async def test_the_server_answers_beside_hostile_files(filled: Path, connect: Connect) -> None:
    sound = filled.with_name("sound")
    shutil.copytree(filled, sound)
    pipe(filled / FILE_NAME)
    async with connect() as client:
        assert "cannot be used: it is not a regular file" in await answer(client, "list_failures")
        assert "a-chunk-001" in await answer(client, "Search", query="text")
        pipe(filled / "segments_z")
        assert f"the file segments_z in {filled}" in await answer(client, "Search", query="text")
        (filled / "segments_z").unlink()
        assert "a-chunk-001" in await answer(client, "Search", query="text")
