"""`idx repair`: what is sound is saved, what is not is named, and the damaged index is kept."""

import json
import shutil
from pathlib import Path

import lucene  # noqa: F401 - the packages of Java can be imported after it only
import pytest
from java.util import Arrays
from org.apache.lucene.document import Document as LuceneDocument, Field, StringField

from shared import Document, Index, Searcher
from shared.maintenance.check import check
from shared.storage.mapping import to_lucene
from tests.conftest import Connect, Idx
from tests.idx.contents import contents
from tests.idx.damage import flip
from tests.idx.files import files_of_index, ids, make, sync
from tests.idx.preparation import index_files
from tests.idx.raw_index import files_of_lucene
from tests.idx.volumes import mount, unmount
from tests.server.tool_answers import answer
from tests.systems import has_mode, has_modes, limits_processes
from tests.unprivileged import UNPRIVILEGED

LONG = " ".join(f"word{number}" for number in range(900))


@pytest.fixture
def filled(idx: Idx, empty_index: Path) -> Path:
    """Four segments: one of two files, one with parts of two documents, and two others."""
    index_files(empty_index, make(empty_index.parent / "papers", "a.txt", "b/c.txt"))
    with Index(empty_index) as index:
        index.add(Document("first", "First", LONG, {"n": 1}))
        index.commit()
        # As the parts of a very long document come into several segments.
        ((_, batch),) = to_lucene(Document("parted", "Parted", LONG))
        write(index, batch[:3])
        index.add(Document("lost", "Lost", LONG))
        index.commit()
        write(index, batch[3:])
        index.add(Document("last", "Last", "common text"))
    return empty_index


def write(index: Index, batch: list[LuceneDocument]) -> None:
    index._writer.addDocuments(Arrays.asList(batch))  # noqa: SLF001 - no public way does that


def kept(path: Path) -> Path:
    (folder,) = path.parent.glob(f"{path.name}.damaged-*")
    return folder


def damage(path: Path, number: int) -> str:
    """Change a bit of a segment, counted in the order of their making; returns its name."""
    segments = sorted(path.glob("*.cfs"), key=lambda file: int(file.stem[1:], 36))
    file = segments[number]
    flip(file)
    return file.stem


def test_a_sound_index_is_left_alone(idx: Idx, filled: Path) -> None:
    before = files_of_index(filled)
    assert idx("repair").stdout == "The index is sound; nothing was done.\n"
    assert files_of_index(filled) == before
    assert [*filled.parent.glob("*.damaged-*")] == []


def test_what_is_sound_is_saved_and_the_rest_named(idx: Idx, filled: Path) -> None:
    assert check(filled).sound
    was = contents_of("first", filled)
    segment = damage(filled, 2)
    before = files_of_index(filled)
    done = idx("repair")
    assert done.stdout == (
        f"Lost: segment {segment} with 8 chunks\n"
        "Removed: document 'parted' with 2 chunks: of its 5 chunks 1, 2, 3 are missing\n"
        f"Saved 4 documents (8 chunks); the damaged index is kept at {kept(filled)}\n"
    )
    assert "idx sync adds files again" in done.stderr
    assert ids(filled) == ["a.txt", "b/c.txt", "first", "last"]
    assert contents_of("first", filled) == was
    names = {*files_of_lucene(filled), "failures.json", "write.lock"}
    assert {file.name for file in filled.iterdir()} == names
    assert files_of_index(kept(filled)) == before
    assert has_mode(kept(filled), 0o700)
    assert check(filled).sound
    # What is known of files and folders was saved, too.
    assert sync(idx, "papers") == {"skipped": 2}


def contents_of(name: str, path: Path) -> object:
    with Searcher(path) as searcher:
        return searcher.document_chunks(name, count=5)


def test_lost_files_come_back_with_the_next_sync(idx: Idx, filled: Path) -> None:
    damage(filled, 0)
    idx("repair")
    assert "a.txt" not in ids(filled)
    assert sync(idx, "papers") == {"added": 2, "chunks": 2}
    assert ids(filled) == ["a.txt", "b/c.txt", "first", "last", "lost", "parted"]


def test_documents_that_are_not_whole_are_removed(idx: Idx, filled: Path) -> None:
    with Index(filled) as index:
        for _ in range(2):
            ((_, batch),) = to_lucene(Document("double", "Double", LONG))
            write(index, batch)
        orphan = LuceneDocument()
        orphan.add(StringField("id", "orphan", Field.Store.YES))
        write(index, [orphan])
    before = files_of_index(filled)
    done = idx("repair", "--json")
    answer = json.loads(done.stdout)
    assert answer.pop("removed_documents") == [
        {
            "id": "double",
            "chunks": 10,
            "problems": ["it has chunks of more than one version: 1, 2, 3, 4, 5 more than once"],
        }
    ]
    assert answer == {
        "documents": 6,
        "chunks": 18,
        "lost_segments": [],
        "removed_chunks": 1,
        "kept_at": str(kept(filled)),
    }
    assert done.stderr == ""
    assert "double" not in ids(filled)
    assert files_of_index(kept(filled)) == before
    assert check(filled).sound


def test_without_a_commit_nothing_can_be_saved(idx: Idx, filled: Path) -> None:
    (commit,) = filled.glob("segments_*")
    commit.write_bytes(commit.read_bytes()[:40])
    before = files_of_index(filled)
    failed = idx("repair", code=1)
    assert f"the index at {filled} is damaged" in failed.stderr
    assert "idx restore" in failed.stderr
    assert files_of_index(filled) == before


@has_modes
def test_if_the_damaged_index_cannot_be_kept_nothing_is_done(idx: Idx, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir()
    idx("init", "-i", "closed/index")
    for name in "ab":
        idx("add", "-i", "closed/index", "-d", name, "-t", "T", "-c", LONG)
    damage(tmp_path / "closed" / "index", 0)
    before = files_of_index(tmp_path / "closed" / "index")
    (tmp_path / "closed").chmod(0o555)
    failed = idx("repair", "-i", "closed/index", code=1, prefix=UNPRIVILEGED)
    (tmp_path / "closed").chmod(0o755)
    assert "cannot be kept at" in failed.stderr
    assert "Permission denied" in failed.stderr
    assert files_of_index(tmp_path / "closed" / "index") == before


def test_on_a_mounted_disk_the_damaged_index_is_kept_there(
    idx: Idx, filled: Path, tmp_path: Path
) -> None:
    disk = mount(tmp_path / "disk", "10m")
    try:
        shutil.copytree(filled, disk, dirs_exist_ok=True)
        damage(disk, -1)
        before = files_of_index(disk)
        idx("repair", "-i", disk)
        (folder,) = disk.glob(".damaged-*")
        assert files_of_index(folder) == before
        assert [*tmp_path.glob("*damaged*")] == []
        for command in ("check", "list"):
            idx(command, "-i", disk)
        idx("backup", "copy", "-i", disk)
        idx("restore", "copy", "-i", disk, "--yes")
        assert files_of_index(folder) == before
    finally:
        unmount(disk)


@limits_processes
def test_a_disk_that_fills_up_costs_nothing(idx: Idx, filled: Path) -> None:
    damage(filled, 3)
    before = files_of_index(filled)

    limited = ("env", f"TMPDIR={filled.parent}", "prlimit", "--fsize=2000")
    failed = idx("repair", "-i", filled, code=1, prefix=limited)
    (message,) = failed.stderr.splitlines()
    assert message.startswith(f"Error: writing to the index at {filled} failed: ")
    assert files_of_index(filled) == before
    assert files_of_index(kept(filled)) == before


async def test_a_running_server_answers_from_what_was_saved(
    idx: Idx, filled: Path, connect: Connect
) -> None:
    async with connect() as client:
        for expected in (6, 4):
            listed = answer(await client.call_tool("ListDocuments", {}))
            assert listed["total_documents"] == expected
            if expected == 6:
                damage(filled, 2)
                idx("repair")
    assert len(contents(filled)["documents"]) == 4
