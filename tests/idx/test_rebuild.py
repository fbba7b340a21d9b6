"""`idx rebuild`: another index of the same documents, also of an older schema version."""

import json
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

from shared import Document, Index, Searcher
from shared.model import schema
from shared.model.document import Metadata
from shared.storage import mapping
from shared.writing.index import create
from tests.conftest import Idx, add_documents
from tests.idx.contents import chunks, contents
from tests.idx.damage import flip
from tests.idx.files import hits, make, sync
from tests.idx.preparation import index_files
from tests.idx.raw_index import files_of_lucene, mark_as, stored
from tests.systems import has_mode, has_modes, makes_links
from tests.unprivileged import UNPRIVILEGED

ROOT = Path(__file__).parents[2]
LONG = " ".join(f"word{number}" for number in range(700))


@pytest.fixture
def filled(empty_index: Path) -> Path:
    """An index of the sample files, one file that cannot be read, and others, with deletions."""
    papers = make(empty_index.parent / "papers")
    shutil.copytree(ROOT / "test-index" / "documents", papers, dirs_exist_ok=True)
    (papers / "broken.pdf").write_text("%PDF-1.7 nothing")
    with Index(empty_index) as index:
        index.add(Document("a/b", "Ümläut", "line one\n\nline\ttwo\r\n", {"n": 3, "tags": ["x"]}))
        index.add(Document("replaced", "Old", LONG))
        index.add(Document("deleted", "Deleted", LONG))
        metadata: Metadata = {"ratio": 0.1, "ok": True, "big": 2**70}
        index.add(Document("🦦" * 9_000, 'Say "x"', LONG, metadata))
        index.commit()
        index.add(Document("replaced", "New", f"{LONG} {LONG}", {"year": 2020}))
        index.delete("deleted")
    index_files(empty_index, "papers")
    return empty_index


def test_nothing_is_lost_and_nothing_else_is_there(idx: Idx, filled: Path) -> None:
    (filled / "mine.txt").write_text("mine")
    failures = (filled / "failures.json").read_bytes()
    before, shown, old = stored(filled), contents(filled), files_of_lucene(filled)
    assert {"page_start", "line_start", "char_end"} <= {
        key for chunk in before for key in json.loads(chunk["details"])["place"]
    }
    pdf = idx("show", "otterline-wl4-manual.pdf", "--json").stdout
    done = idx("rebuild")
    assert done.stdout == (
        f"Rebuilt {len(shown['documents'])} documents as {len(before)} chunks (schema version 5)\n"
    )
    assert done.stderr == ("The index already had schema version 5; it was rebuilt anyway.\n")
    assert stored(filled) == before
    assert contents(filled) == shown
    assert idx("show", "otterline-wl4-manual.pdf", "--json").stdout == pdf
    with Searcher(filled) as searcher:
        statistics = searcher.statistics()
    assert (statistics.deleted_chunks, statistics.segments) == (0, 1)

    # In the folder there is the new index, what is not Lucene's, and nothing else.
    new = files_of_lucene(filled)
    assert new.isdisjoint(old)
    assert {file.name for file in filled.iterdir()} == {
        *new,
        "failures.json",
        "mine.txt",
        "write.lock",
    }
    assert (filled / "mine.txt").read_text() == "mine"
    assert (filled / "failures.json").read_bytes() == failures
    assert has_mode(filled, 0o700)
    assert sync(idx, "papers") == {"skipped": 14}


@makes_links
def test_a_link_to_the_index_stays_one(idx: Idx, filled: Path) -> None:
    before = contents(filled)
    target = filled.rename(filled.parent / "elsewhere")
    filled.symlink_to(target)
    idx("rebuild")
    assert filled.is_symlink()
    assert contents(target) == before == contents(filled)


def test_equal_hits_come_in_the_order_of_before(idx: Idx, empty_index: Path) -> None:
    with Index(empty_index) as index:
        for number in range(30):
            index.add(Document(str(number * 7 % 30), "T", "the same text"))
            index.commit()
        for number in range(0, 30, 4):
            index.delete(str(number))
    before = ids_of_hits(empty_index)
    assert before != sorted(before)
    idx("rebuild")
    assert ids_of_hits(empty_index) == before


def ids_of_hits(path: Path) -> list[str]:
    with Searcher(path) as searcher:
        return [hit.id for hit in searcher.search("same", limit=100).results]


def test_parts_of_a_document_in_different_segments_come_together(
    idx: Idx, empty_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mapping, "_MAX_BATCH_CHUNKS", 2)
    with Index(empty_index) as index:
        index.add(Document("whole", "Whole", LONG))
        batches = [*mapping.to_lucene(Document("parted", "Parted", LONG))]
        for _, batch in (*batches[1:], batches[0]):
            index._writer.addDocuments(to_java(batch))  # noqa: SLF001 - as a flush would part them
            index.commit()
    before = contents(empty_index)
    assert [chunk["id"] for chunk in stored(empty_index)][4:] == [
        f"parted-chunk-00{number}" for number in (3, 4, 1, 2)
    ]
    idx("rebuild")
    assert contents(empty_index) == before
    assert [chunk["id"] for chunk in stored(empty_index)][4:] == [
        f"parted-chunk-00{number}" for number in (1, 2, 3, 4)
    ]


def to_java(batch: list[Any]) -> Any:
    from java.util import Arrays

    return Arrays.asList(batch)


@pytest.mark.soak
def test_a_document_of_many_chunks(idx: Idx, empty_index: Path) -> None:
    with Index(empty_index) as index:
        assert index.add(Document("long", "Long", "word " * 215_000)) == 1_024
    before = stored(empty_index)
    idx("rebuild")
    assert stored(empty_index) == before


def test_an_empty_index(idx: Idx, empty_index: Path) -> None:
    assert idx("rebuild").stdout == "Rebuilt 0 documents as 0 chunks (schema version 5)\n"
    add_documents(empty_index, Document("a", "A", "text"))
    with Index(empty_index) as index:
        index.delete("a")
    assert idx("rebuild").stdout == "Rebuilt 0 documents as 0 chunks (schema version 5)\n"
    idx("add", "-d", "b", "-t", "B", "-c", "text")
    assert [chunk["id"] for chunk in stored(empty_index)] == ["b-chunk-001"]


def test_the_answer_for_programs(idx: Idx, empty_index: Path) -> None:
    add_documents(empty_index, Document("a", "A", LONG))
    mark_as(empty_index, 4)
    done = idx("rebuild", "--json")
    assert json.loads(done.stdout) == {
        "documents": 1,
        "chunks": 4,
        "schema_version": 5,
        "previous_schema_version": 4,
    }
    assert done.stderr == ""


# What cannot be rebuilt


@pytest.mark.parametrize(
    ("version", "help_"),
    [
        (1, "create a new one with idx init"),
        (6, "install the version of mcp-lucene that wrote it, or a newer one"),
        (10, "install the version of mcp-lucene that wrote it, or a newer one"),
    ],
)
def test_another_schema_is_refused(idx: Idx, empty_index: Path, version: int, help_: str) -> None:
    mark_as(empty_index, version)
    before = {file.name: file.read_bytes() for file in empty_index.iterdir()}
    for command in ("rebuild", "stats"):
        failed = idx(command, code=1)
        assert f"has schema version {version}, written by mcp-lucene " in failed.stderr
        assert help_ in failed.stderr
        assert "idx rebuild" not in failed.stderr
    assert {file.name: file.read_bytes() for file in empty_index.iterdir()} == before


def test_a_damaged_index_is_not_copied(idx: Idx, empty_index: Path) -> None:
    add_documents(empty_index, *(Document(str(number), "T", LONG) for number in range(50)))
    (segment,) = empty_index.glob("*.cfs")
    flip(segment)
    before = {file.name: file.read_bytes() for file in empty_index.iterdir()}
    failed = idx("rebuild", code=1)
    (message,) = failed.stderr.splitlines()
    assert message.startswith(f"Error: the index at {empty_index} is damaged: checksum failed")
    assert {file.name: file.read_bytes() for file in empty_index.iterdir()} == before


def test_a_chunk_that_belongs_to_no_document_is_not_dropped(idx: Idx, empty_index: Path) -> None:
    with Index(empty_index) as index:
        ((_, batch),) = mapping.to_lucene(Document("a", "A", LONG))
        index._writer.addDocuments(to_java(batch[1:]))  # noqa: SLF001 - no public way does that
    before = stored(empty_index)
    assert "is damaged: it has 3 chunks, but its documents have 0" in idx("rebuild", code=1).stderr
    assert stored(empty_index) == before


@has_modes
def test_nothing_is_written_beside_the_folder_of_the_index(idx: Idx) -> None:
    # It may be a volume of its own, or the folder around it one that nobody may write to.
    (idx.folder / "closed").mkdir()
    create(idx.folder / "closed" / "index")
    idx("add", "-i", "closed/index", "-d", "a", "-t", "A", "-c", "text")
    (idx.folder / "closed").chmod(0o555)
    done = idx("rebuild", "-i", "closed/index", prefix=UNPRIVILEGED)
    assert done.stdout.startswith("Rebuilt 1 document as")
    (idx.folder / "closed").chmod(0o755)


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


def test_an_older_index_is_like_a_new_one_afterwards(idx: Idx, old: Path) -> None:
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
    assert paper["file_path"] == (idx.folder / "papers" / "lease.txt").as_posix()
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


def test_an_index_with_a_field_for_each_language_is_rebuilt(idx: Idx) -> None:
    shutil.copytree(INDEXES / "schema-3", idx.folder, dirs_exist_ok=True)
    assert "has schema version 3, but" in idx("search", "pay", code=1).stderr
    before = stored(idx.index)
    assert idx("rebuild").stdout == "Rebuilt 5 documents as 7 chunks (schema version 5)\n"
    after = stored(idx.index)
    assert [without_details(chunk) for chunk in after] == [without_details(c) for c in before]
    assert [as_before(chunk) for chunk in after] == [as_before(chunk) for chunk in before]
    memo = next(chunk for chunk in after if chunk["id"] == "memo-chunk-001")
    assert json.loads(memo["details"])["words"] == len(memo["content"].split())
    (hit,) = hits(idx, "pay")
    assert hit["id"] == "memo-chunk-001"
    fields = {field["name"] for field in idx.json("fields")["fields"]}
    assert {"stems", "title_stems"} <= fields
    assert "content.en" not in fields
    assert sync(idx, "papers") == {"skipped": 2}


def test_the_second_version_is_rebuilt_with_its_languages(idx: Idx) -> None:
    shutil.copytree(INDEXES / "schema-2", idx.folder, dirs_exist_ok=True)
    assert "has schema version 2, but" in idx("search", "house", code=1).stderr
    assert idx("rebuild").stdout == "Rebuilt 2 documents as 2 chunks (schema version 5)\n"
    (hit,) = hits(idx, "Haus")
    assert (hit["id"], hit["metadata"]) == ("brief-chunk-001", {"language": "de"})


def test_an_index_of_this_schema_is_kept_and_still_opens(idx: Idx) -> None:
    kept = [*INDEXES.glob("schema-*")]
    assert {folder.name for folder in kept} == {f"schema-{n}" for n in schema.REBUILT_VERSIONS}
    shutil.copytree(INDEXES / f"schema-{schema.SCHEMA_VERSION}", idx.folder, dirs_exist_ok=True)
    (hit,) = hits(idx, "pay")
    assert hit["id"] == "memo-chunk-001"
    (hit,) = hits(idx, "holiday", "--filter", "section=Handbook")
    assert (hit["source_document"], hit["section"]) == ("handbook.md", "Handbook")
    assert "no document" in idx("show", "draft", code=1).stderr
    before = {chunk.id: chunk.content for chunk in chunks(idx.index)}
    assert idx("sync", "papers").stdout.startswith("Plan: 0 to add, 0 to update, 0 to delete")
    idx("add", "-d", "note", "-t", "Note", "-c", "Another note.")
    assert idx("delete", "note").stdout == "Deleted document 'note' (1 chunks)\n"
    idx("rebuild")
    del before["note-chunk-001"]
    assert {chunk.id: chunk.content for chunk in chunks(idx.index)} == before
