"""Files of an index folder, or of a backup, that somebody else has put there."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from mcp import Client

from shared import Document, Index, Searcher
from shared.errors import BackupError, IndexDamagedError, IndexFileError
from shared.maintenance.backup import backup
from shared.maintenance.check import check
from shared.maintenance.restore import restore
from shared.model.document import FileState, SourceFile
from shared.model.failures import FILE_NAME, load_failures
from shared.model.folders import IndexedFolder, IndexedFolders
from shared.semantic.encoder import DESCRIPTION_FILE, MODEL_FILE, TOKENIZER_FILE
from shared.semantic.sentence_model import SentenceModel
from tests.conftest import Connect, Idx, add_documents
from tests.embedding_server import counting, embeds
from tests.idx.extraction.pdf_files import write_pages
from tests.idx.files import make
from tests.model_server import serving
from tests.server.http.served import served_here
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
    add_documents(empty_index, Document("a", "A", "a text"))
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


def searches(index: Path) -> None:
    with Searcher(index) as searcher:
        searcher.search("text")


def writes(index: Path) -> None:
    with Index(index):
        pass


def restores(index: Path) -> None:
    restore(index, index.parent / "copy")


def backs_up(index: Path) -> None:
    backup(index, index.parent / "copy")


USES: Final[dict[str, tuple[Callable[[Path], object], ...]]] = {
    f"lucene-index/{FILE_NAME}": (load_failures,),
    "lucene-index/segments_9": (searches, writes, check),
    "lucene-index/_7.cfs": (searches, writes, check),
    "lucene-index/write.lock": (searches, writes, check),
    "copy/segments_*": (restores,),
    "copy/backup.json": (backs_up,),
}
"""Files of an index and of a backup of it, with what opens them."""


@has_pipes_as_files
@pytest.mark.parametrize("put", ODD)
@pytest.mark.parametrize("name", USES)
def test_what_is_no_regular_file_is_not_opened(
    filled: Path, name: str, put: Callable[[Path], None]
) -> None:
    backs_up(filled)
    file = next(filled.parent.glob(name), filled.parent / name)
    file.unlink(missing_ok=True)
    put(file)
    for use in USES[name]:
        with pytest.raises((IndexFileError, BackupError), match=file.name) as error:
            use(filled)
        assert "it is not a regular file" in str(error.value)


@has_pipes_as_files
def test_commands_name_a_damaged_list_and_a_sync_without_it_finds_the_failures_again(
    idx: Idx, filled: Path
) -> None:
    papers = make(filled.parent / "papers")
    (papers / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    idx("sync", "papers", code=1)
    (listed,) = idx.json("failures")["failures"]
    (filled / FILE_NAME).unlink()
    pipe(filled / FILE_NAME)
    for command in (("failures", "--json"), ("sync", "papers"), ("backup", "copy")):
        refused(idx(*command, code=1).stderr, FILE_NAME)
    assert "a-chunk-001" in idx("search", "text", "--json").stdout
    (filled / FILE_NAME).unlink()
    idx("sync", "papers", code=1)
    (again,) = idx.json("failures")["failures"]
    assert again == {**listed, "tried": again["tried"]}


@has_pipes_as_files
def test_commands_name_a_file_of_lucene_that_is_no_regular_file(idx: Idx, filled: Path) -> None:
    pipe(filled / "segments_9")
    for command in (("search", "text"), ("delete", "a"), ("stats",), ("backup", "copy")):
        refused(idx(*command, code=1).stderr, "segments_9")


NOTES: Final = ["", "[" * 200_000, "[]", '{"source": 7}', '{"source": "\\ud800"}', "{}"]


@pytest.mark.parametrize("note", NOTES)
def test_a_backup_whose_note_is_none_is_not_replaced(
    filled: Path, tmp_path: Path, note: str
) -> None:
    backup(filled, tmp_path / "copy")
    (tmp_path / "copy" / "backup.json").write_text(note)
    with pytest.raises(BackupError, match=r"copy is not a readable backup \(backup.json: "):
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
    add_documents(filled, Document("b", "B", "another text"))
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
    idx: Idx, filled: Path, named: Callable[[str, Path], str], *, by_user: bool
) -> None:
    folder = make(idx.folder / "model")
    for name in (DESCRIPTION_FILE, MODEL_FILE, TOKENIZER_FILE):
        pipe(folder / name)
    idx.delenv("IDX_SEMANTIC")
    idx.setenv("IDX_SEMANTIC_API_KEY", "swordfish")
    with serving(embeds(counting)) as server:
        model = named(server.url, folder)
        with Index(filled) as index:
            index.sentence_model = SentenceModel(model, "0" * 64, 4)
        if by_user:
            idx.setenv("IDX_SEMANTIC", model)
        searched = idx("search", "text")
        assert "a-chunk-001" in searched.stdout
        asked = len(server.requests)
    if by_user:
        assert asked or "not a regular file" in searched.stderr
    else:
        assert not asked
        assert "which only the index names" in searched.stderr


async def answer(client: Client, tool: str, **arguments: Any) -> str:
    content, *_ = (await client.call_tool(tool, arguments)).content
    return str(content)


@has_pipes_as_files
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


class Theft(NamedTuple):
    """A file of this machine that an index from elsewhere names, below the home of a user."""

    folder: str | None
    path: str
    indexed: str | None = "letters/"


THEFTS: Final = {
    "into an index of nobody": Theft("", "salary.pdf", None),
    "in another folder": Theft("", "salary.pdf"),
    "named by itself": Theft(None, "salary.pdf"),
    "beside a file that was indexed": Theft("", "salary.pdf", "letters/a.pdf"),
    "by the way of a folder that was indexed": Theft("", "letters/../salary.pdf"),
    "out of a folder that was indexed": Theft("letters", "../salary.pdf"),
    "through a link": Theft("letters", "link/salary.pdf"),
    "in a folder that is a link": Theft("letters/link", "salary.pdf"),
    "in a folder whose name begins so": Theft("letters-of-others", "salary.pdf"),
    "by an absolute path": Theft("letters", "ABSOLUTE"),
}


def forge(index_path: Path, folder: Path | None, file: str, content: bytes) -> None:
    """Make an index that somebody else could have made, who knows all that is to be known."""
    digest = hashlib.sha256(content).hexdigest()
    state = FileState(None if folder is None else "", len(content), 1, digest)
    metadata = {"file_type": "application/pdf", "content_hash": digest}
    with Index(index_path, create=True) as index:
        if folder is not None:
            index.folders = IndexedFolders((IndexedFolder("", folder),))
        page = Document("a", "A", "Salary", dict(metadata), file=SourceFile(file, state))
        index.add(page)


@pytest.mark.parametrize("theft", THEFTS.values(), ids=THEFTS.keys())
def test_an_index_from_elsewhere_hands_out_no_file_of_this_machine(idx: Idx, theft: Theft) -> None:
    home = idx.folder / "home"
    for folder in ("letters", "letters-of-others"):
        (home / folder).mkdir(parents=True)
    write_pages(home / "letters" / "a.pdf", ["A letter"])
    (home / "letters" / "link").symlink_to(home)
    salaries = [home / "salary.pdf", home / "letters-of-others" / "salary.pdf"]
    for salary in salaries:
        write_pages(salary, ["Salary"])
    if theft.indexed:
        idx("sync" if theft.indexed.endswith("/") else "add", home / theft.indexed)
        shutil.rmtree(idx.index)
    forged = None if theft.folder is None else home / theft.folder
    path = theft.path.replace("ABSOLUTE", str(salaries[0]))
    forge(idx.index, forged, str(home / path) if forged is None else path, salaries[0].read_bytes())
    with served_here(idx.index) as server:
        for address in ("/api/documents/a/file", "/api/documents/a/pages/1.png"):
            refused = server.get(address)
            assert refused.status_code == 404
            assert "a cannot be read: " in refused.json()["detail"]
        assert "api/documents/a/file" not in server.get("/documents/a").text


def test_a_client_that_crawls_names_no_folder_outside_the_roots(idx: Idx) -> None:
    (idx.folder / "home" / "root").mkdir(parents=True)
    (idx.folder / "home" / "root" / "a.txt").write_text("a text")
    file = write_pages(idx.folder / "home" / "salary.pdf", ["Salary"])
    root = (file.parent / "root").stat()
    idx("sync", file.parent, f"--only-in={root.st_dev}:{root.st_ino}", code=1)
    idx("sync", file.parent / "root", f"--only-in={root.st_dev}:{root.st_ino}")
    with served_here(idx.index) as server:
        assert server.get("/api/documents/root%2Fa.txt/file").text == "a text"
        forge(idx.index, file.parent, file.name, file.read_bytes())
        assert server.get("/api/documents/a/file").status_code == 404


async def test_no_picture_of_a_page_either_until_the_user_names_the_folder(
    index_path: Path, connect: Connect, tmp_path: Path
) -> None:
    file = write_pages(tmp_path / "salary.pdf", ["Salary"])
    forge(index_path, tmp_path, file.name, file.read_bytes())
    async with connect() as client:
        shown = await answer(client, "show_page", source_document_id="a", page=1)
    assert "ask the user to set originals in the configuration to its folder" in shown
    async with connect(IDX_ORIGINALS=str(tmp_path)) as client:
        arguments = {"source_document_id": "a", "page": 1}
        assert not (await client.call_tool("show_page", arguments)).is_error


def test_the_originals_of_an_index_that_was_moved_come_back_with_a_sync(idx: Idx) -> None:
    (idx.folder / "papers").mkdir()
    (idx.folder / "papers" / "a.txt").write_text("a text")
    idx("sync", "papers")
    moved = idx.index.rename(idx.folder / "moved")
    with served_here(moved) as server:
        assert server.get("/api/documents/a.txt/file").status_code == 404
        idx("sync", "papers", "-i", moved)
        assert server.get("/api/documents/a.txt/file").text == "a text"
