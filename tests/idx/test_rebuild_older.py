"""An index of an older schema version: what it is refused with, and `idx rebuild` of it."""

import json
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

from shared.installation import software_version
from shared.model import schema
from tests.conftest import Idx
from tests.idx.contents import chunks
from tests.idx.files import hits, sync
from tests.idx.raw_index import mark_as, stored

INDEXES: Final = Path(__file__).parents[2] / "test-index"
"""Has what the last version with each schema wrote, with the folder that it had synced."""


@pytest.fixture
def old(tmp_path: Path, index_path: Path) -> Path:
    shutil.copytree(INDEXES / "schema-4", tmp_path, dirs_exist_ok=True)
    return index_path


COMMANDS = (
    ("init",),
    ("add", "-d", "a", "-t", "A", "-c", "text"),
    ("bulk", "-j", "-"),
    ("sync", "papers"),
    ("delete", "memo"),
    ("list",),
    ("show", "memo"),
    ("search", "text"),
    ("stats",),
    ("failures",),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_every_command_names_the_one_that_helps(
    idx: Idx, old: Path, command: tuple[str, ...]
) -> None:
    before = {file.name: file.read_bytes() for file in old.iterdir()}
    failed = idx(*command, code=1, stdin="[]")
    assert failed.stderr == (
        f"Error: the index at {old} has schema version 4, but this version of mcp-lucene works "
        "with schema version 5; rebuild it from its stored text with: "
        f"idx rebuild --index-path {old}\n"
    )
    after = {file.name: file.read_bytes() for file in old.iterdir() if file.name != "write.lock"}
    assert after == before


def test_an_older_index_is_like_a_new_one_afterwards(idx: Idx, old: Path, tmp_path: Path) -> None:
    before = stored(old)
    done = idx("rebuild")
    assert done.stdout == "Rebuilt 6 documents as 8 chunks (schema version 5)\n"
    assert done.stderr == ""
    after = stored(old)
    assert [without_details(chunk) for chunk in after] == [without_details(c) for c in before]
    assert [as_before(chunk) for chunk in after] == [as_before(chunk) for chunk in before]
    assert sync(idx, "papers") == {"skipped": 3}
    # Checked out, the files have other times than when they were indexed, which was noted.
    synced = [without_details(chunk) for chunk in stored(old)]
    (hit,) = hits(idx, "pay")
    assert hit["id"] == "memo-chunk-001"
    assert hit["metadata"] == {
        "year": 2024,
        "tags": ["paid", "büro"],
        "ratio": 1.5,
        "open": False,
        "language": "en",
    }
    (paper,) = hits(idx, "deposit")
    assert paper["file_path"] == (tmp_path / "papers" / "lease.txt").as_posix()
    assert (paper["line_start"], paper["line_end"]) == (1, 2)
    assert idx("rebuild").stdout == done.stdout
    assert [without_details(chunk) for chunk in stored(old)] == synced


def without_details(chunk: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in chunk.items() if name != "details"}


def as_before(chunk: dict[str, Any]) -> dict[str, Any]:
    details: dict[str, Any] = json.loads(chunk["details"])
    details["metadata"].pop("language", None)
    # Older versions did not store it.
    details.pop("words", None)
    return details


def test_an_index_with_a_field_for_each_language_is_rebuilt(
    idx: Idx, tmp_path: Path, index_path: Path
) -> None:
    shutil.copytree(INDEXES / "schema-3", tmp_path, dirs_exist_ok=True)
    assert "has schema version 3, but" in idx("search", "pay", code=1).stderr
    before = stored(index_path)
    assert idx("rebuild").stdout == "Rebuilt 5 documents as 7 chunks (schema version 5)\n"
    after = stored(index_path)
    assert [without_details(chunk) for chunk in after] == [without_details(c) for c in before]
    assert [as_before(chunk) for chunk in after] == [as_before(chunk) for chunk in before]
    memo = next(chunk for chunk in after if chunk["id"] == "memo-chunk-001")
    assert json.loads(memo["details"])["words"] == len(memo["content"].split())
    (hit,) = hits(idx, "pay")
    assert hit["id"] == "memo-chunk-001"
    fields = {field["name"] for field in json.loads(idx("fields", "--json").stdout)["fields"]}
    assert {"stems", "title_stems"} <= fields
    assert "content.en" not in fields
    assert sync(idx, "papers") == {"skipped": 2}


def test_the_second_version_is_rebuilt_with_its_languages(
    idx: Idx, tmp_path: Path, index_path: Path
) -> None:
    shutil.copytree(INDEXES / "schema-2", tmp_path, dirs_exist_ok=True)
    assert "has schema version 2, but" in idx("search", "house", code=1).stderr
    assert idx("rebuild").stdout == "Rebuilt 2 documents as 2 chunks (schema version 5)\n"
    (hit,) = hits(idx, "Haus")
    assert (hit["id"], hit["metadata"]) == ("brief-chunk-001", {"language": "de"})


def test_an_index_of_a_newer_version_asks_for_an_upgrade(idx: Idx, empty_index: Path) -> None:
    mark_as(empty_index, 6)
    upgrade = (
        f"the index at {empty_index} has schema version 6, written by mcp-lucene "
        f"{software_version()}, but this version of mcp-lucene works with schema version 5; "
        "install the version of mcp-lucene that wrote it, or a newer one: "
        "pip install --upgrade mcp-lucene"
    )
    for command in ("search x", "rebuild", "sync ."):
        assert idx(*command.split(), code=1).stderr == f"Error: {upgrade}\n"
    assert f"problem  Index           {upgrade}\n" in idx("doctor", code=1).stdout


def test_an_index_of_this_schema_is_kept_and_still_opens(
    idx: Idx, tmp_path: Path, index_path: Path
) -> None:
    kept = [*INDEXES.glob("schema-*")]
    assert {folder.name for folder in kept} == {f"schema-{n}" for n in schema.REBUILT_VERSIONS}
    shutil.copytree(INDEXES / f"schema-{schema.SCHEMA_VERSION}", tmp_path, dirs_exist_ok=True)
    (hit,) = hits(idx, "pay")
    assert hit["id"] == "memo-chunk-001"
    (hit,) = hits(idx, "holiday", "--filter", "section=Handbook")
    assert (hit["source_document"], hit["section"]) == ("handbook.md", "Handbook")
    assert "no document" in idx("show", "draft", code=1).stderr
    before = {chunk.id: chunk.content for chunk in chunks(index_path)}
    assert idx("sync", "papers").stdout.startswith("Plan: 0 to add, 0 to update, 0 to delete")
    idx("add", "-d", "note", "-t", "Note", "-c", "Another note.")
    assert idx("delete", "note").stdout == "Deleted document 'note' (1 chunks)\n"
    idx("rebuild")
    del before["note-chunk-001"]
    assert {chunk.id: chunk.content for chunk in chunks(index_path)} == before
