"""`idx restore`: the index as the backup has it, from one moment to the next."""

from collections.abc import Callable
from pathlib import Path

import pytest

from shared import BackupError, Document, Index, IndexSchemaError
from shared.maintenance.backup import backup
from shared.maintenance.check import check
from tests.conftest import Idx, add_documents
from tests.idx.contents import contents
from tests.idx.damage import (
    change_version,
    cut_commit,
    flip_commit,
    flip_text,
    remove_commit,
    remove_segments,
)
from tests.idx.files import files, make, sync
from tests.idx.preparation import index_files
from tests.idx.raw_index import files_of_lucene, mark_as, stored
from tests.idx.segments import fill
from tests.systems import has_mode, has_modes, limits_processes, makes_links
from tests.unprivileged import UNPRIVILEGED


@pytest.fixture
def filled(empty_index: Path) -> Path:
    """An index in several segments, with deletions, and a backup of it named `copy`."""
    fill(empty_index, documents=12)
    add_documents(empty_index, Document("a.txt", "A", "text"))
    backup(empty_index, empty_index.parent / "copy")
    return empty_index


def change(path: Path) -> None:
    with Index(path) as index:
        index.add(Document("later", "Later", "common text"))
        index.delete("a.txt")
    (path / "failures.json").unlink(missing_ok=True)


def test_the_index_is_as_it_was(idx: Idx, filled: Path) -> None:
    papers = make(idx.folder / "papers", "notes.txt", "b/c.txt")
    (papers / "broken.pdf").write_text("%PDF-1.7 nothing")
    index_files(idx.index, "papers")
    # Another state of the same file: an update of doc values.
    (papers / "notes.txt").touch()
    index_files(idx.index, "papers")
    idx("backup", "copy")
    before, shown = stored(filled), contents(filled)
    copy = files(idx.folder / "copy")
    change(filled)
    (filled / "mine.txt").write_text("mine")
    assert contents(filled) != shown
    done = idx("restore", "copy", "--yes")
    assert done.stdout == f"Restored 13 documents (63 chunks) from {idx.folder / 'copy'}\n"
    assert done.stderr == ""
    assert stored(filled) == before
    assert contents(filled) == shown
    assert {file.name for file in filled.iterdir()} == {
        *files_of_lucene(filled),
        *("failures.json", "mine.txt", "write.lock"),
    }
    assert check(filled).problems == []
    assert sync(idx, "papers") == {"skipped": 3}
    # The backup is as it was, too, and good for another time.
    assert files(idx.folder / "copy") == copy


def test_the_answer_for_programs(idx: Idx, filled: Path) -> None:
    answer = idx.json("restore", "copy", "--yes")
    assert answer == {
        "path": str(filled),
        "source": str(idx.folder / "copy"),
        "documents": 11,
        "chunks": 61,
    }


def test_where_no_index_is_nobody_is_asked(idx: Idx, filled: Path) -> None:
    idx("restore", "copy", "-i", "new/index")
    assert contents(idx.folder / "new" / "index") == contents(filled)
    assert has_mode((idx.folder / "new" / "index"), 0o700)


def test_an_index_is_replaced_only_if_somebody_says_so(idx: Idx, filled: Path) -> None:
    change(filled)
    before = contents(filled)
    failed = idx("restore", "copy", code=1, stdin="y\n")
    assert failed.stderr.startswith(f"Error: refusing to replace the index at {filled} with")
    assert contents(filled) == before


@pytest.mark.parametrize(
    "damage", [flip_commit, change_version, flip_text, remove_commit, remove_segments]
)
def test_a_damaged_index_is_replaced(
    idx: Idx, filled: Path, damage: Callable[[Path], None]
) -> None:
    shown = contents(filled)
    damage(filled)
    assert f"the index at {filled} is damaged: " in idx("stats", code=1).stderr
    assert "idx restore" in idx("check", code=1).stdout
    idx("restore", "copy", "--yes")
    assert contents(filled) == shown
    assert check(filled).sound


@pytest.mark.parametrize(
    "damage", [flip_commit, cut_commit, change_version, flip_text, remove_segments]
)
def test_a_damaged_backup_is_refused(
    idx: Idx, filled: Path, damage: Callable[[Path], None]
) -> None:
    change(filled)
    before = files(filled)
    damage(idx.folder / "copy")
    failed = idx("restore", "copy", "--yes", code=1)
    (message,) = failed.stderr.splitlines()
    assert message.startswith(f"Error: the backup {idx.folder / 'copy'} is damaged: ")
    assert message.endswith("; nothing was changed: use another backup")
    assert files(filled) == before


def test_what_is_no_backup_is_refused(idx: Idx, filled: Path) -> None:
    make(idx.folder / "papers", "a.txt")
    before = files(filled)
    for source in ("papers", "absent", "papers/a.txt"):
        failed = idx("restore", source, "--yes", code=1)
        assert f"there is no backup at {idx.folder / source}" in failed.stderr
    assert "is the index itself" in idx("restore", filled, "--yes", code=1).stderr
    assert files(filled) == before
    failed = idx("restore", "copy", "-i", "papers", code=1)
    assert "cannot be used: it holds other files" in failed.stderr


def test_a_backup_of_an_older_schema_stays_one(idx: Idx, filled: Path) -> None:
    mark_as(filled, 4)
    idx("backup", "copy")
    idx("purge", "--yes", code=1)
    idx("rebuild")
    idx("restore", "copy", "--yes")
    assert "has schema version 4" in idx("stats", code=1).stderr
    idx("rebuild")


@has_modes
def test_a_backup_that_cannot_be_written_to_will_do(idx: Idx, filled: Path) -> None:
    shown = contents(filled)
    change(filled)
    copy = idx.folder / "copy"
    for file in (*copy.iterdir(), copy):
        file.chmod(0o555 if file.is_dir() else 0o444)
    idx("restore", "copy", "--yes", prefix=UNPRIVILEGED)
    copy.chmod(0o755)
    assert contents(filled) == shown


@limits_processes
def test_a_system_without_room_for_links_is_told(idx: Idx, filled: Path) -> None:
    before = files(filled)
    limited = ("prlimit", "--fsize=0")
    failed = idx("restore", idx.folder / "copy", "-i", filled, "--yes", code=1, prefix=limited)
    (message,) = failed.stderr.splitlines()
    assert message.startswith("Error: No usable temporary directory found in ['")
    assert message.endswith("or name another folder in the variable TMPDIR")
    assert files(filled) == before


@makes_links
def test_a_backup_in_the_index_folder_is_not_restored_and_stays(idx: Idx, filled: Path) -> None:
    (idx.folder / "link").symlink_to(filled)
    # Where the new index is written if the old one cannot be read, so what is there is deleted.
    inside = filled / ".restored"
    (idx.folder / "copy").rename(inside)
    next(filled.glob("segments_*")).write_bytes(b"nothing")
    before = files(inside)
    for source in (inside, idx.folder / "link" / ".restored"):
        failed = idx("restore", source, "--yes", code=1).stderr
        assert f"lies in the index folder {filled}" in failed
        assert files(inside) == before


def test_nothing_is_restored_into_the_backup(idx: Idx, filled: Path) -> None:
    before = files(idx.folder / "copy")
    failed = idx("restore", "copy", "-i", "copy/index", "--yes", code=1).stderr
    assert f"the index {idx.folder}/copy/index would lie in the backup {idx.folder}/copy" in failed
    assert files(idx.folder / "copy") == before


@pytest.fixture
def backed_up(empty_index: Path) -> Path:
    add_documents(empty_index, Document("a", "A", "text"))
    return empty_index


def test_a_backup_with_something_else_in_it_is_not_replaced(idx: Idx, backed_up: Path) -> None:
    copies = idx.folder / "copies"
    backup(backed_up, copies)
    backup(backed_up, copies / "monday")
    before = files(copies)
    failed = idx("backup", "copies", code=1)
    (message,) = failed.stderr.splitlines()
    assert f"the backup {copies} also contains other files, such as 'monday', which" in message
    assert files(copies) == before


@pytest.mark.parametrize(
    "name",
    ["letter.txt", "_notes.txt", "_README.md", "_letter.doc", "_0.si.txt", "segments_list.csv"],
)
def test_a_file_is_not_deleted_though_it_is_named_like_one_of_lucene(
    backed_up: Path, tmp_path: Path, name: str
) -> None:
    backup(backed_up, tmp_path / "copy")
    (tmp_path / "copy" / name).write_text("mine")
    with pytest.raises(BackupError, match=f"such as '{name}'"):
        backup(backed_up, tmp_path / "copy")
    assert (tmp_path / "copy" / name).read_text() == "mine"


def test_a_backup_that_was_written_to_is_replaced(backed_up: Path, tmp_path: Path) -> None:
    backup(backed_up, tmp_path / "copy")
    add_documents(tmp_path / "copy", Document("b", "B", "text"))
    assert (tmp_path / "copy" / "write.lock").exists()
    assert backup(backed_up, tmp_path / "copy").documents == 1
    assert sorted(path.name for path in tmp_path.glob("*copy*")) == ["copy"]


@has_modes
def test_nothing_is_left_of_a_backup_that_nobody_could_write_to(idx: Idx, backed_up: Path) -> None:
    backup(backed_up, idx.folder / "copy")
    (idx.folder / "copy").chmod(0o500)
    idx("backup", "copy", prefix=UNPRIVILEGED)
    assert sorted(path.name for path in idx.folder.glob("*copy*")) == ["copy"]


def test_what_is_put_there_meanwhile_stays(backed_up: Path, tmp_path: Path) -> None:
    backup(backed_up, tmp_path / "copy")

    def put(steps: object) -> object:
        (tmp_path / "copy" / "letter.txt").write_text("mine")
        return steps

    with pytest.raises(BackupError, match="such as 'letter"):
        backup(backed_up, tmp_path / "copy", progress=put)  # type: ignore[arg-type] # of any steps
    assert (tmp_path / "copy" / "letter.txt").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.glob("*copy*")) == ["copy"]


@has_modes
def test_names_that_cannot_be_flushed_leave_the_older_backup(idx: Idx, backed_up: Path) -> None:
    drop = make(idx.folder / "drop")
    idx("backup", "drop/copy")
    before = files(drop)
    add_documents(backed_up, Document("b", "B", "text"))
    # Names may be changed in it, but it may not be opened, so not be flushed.
    drop.chmod(0o333)
    failed = idx("backup", drop / "copy", "-i", backed_up, code=1, prefix=UNPRIVILEGED)
    drop.chmod(0o755)
    assert f"the backup {drop / 'copy'} cannot be written: Permission denied" in failed.stderr
    assert files(drop) == before


@has_modes
def test_a_file_of_the_index_that_cannot_be_read_is_the_fault_of_the_index(
    idx: Idx, backed_up: Path
) -> None:
    (file,) = backed_up.glob("*.cfs")
    file.chmod(0)
    failed = idx("backup", backed_up.parent / "copy", "-i", backed_up, code=1, prefix=UNPRIVILEGED)
    file.chmod(0o600)
    (message,) = failed.stderr.splitlines()
    assert f"the index folder {backed_up} cannot be used: " in message
    assert file.name in message
    assert "free some space" not in message


def test_an_index_of_an_unknown_schema_is_named_before_anything_is_copied(
    backed_up: Path, tmp_path: Path
) -> None:
    mark_as(backed_up, 99)
    seen: list[object] = []

    def progress(steps: object) -> object:
        seen.append(steps)
        return steps

    with pytest.raises(IndexSchemaError, match=f"the index at {backed_up} has schema version 99"):
        backup(backed_up, tmp_path / "copy", progress=progress)  # type: ignore[arg-type] # as above
    assert seen == []
    assert not (tmp_path / "copy").exists()


@makes_links
@pytest.mark.parametrize(
    ("destination", "told"),
    [
        ("lucene-index/copy", "would lie in the index folder"),
        ("lucene-index/new/folders/copy", "would lie in the index folder"),
        ("lucene-index/../lucene-index/copy", "would lie in the index folder"),
        ("link/copy", "would lie in the index folder"),
        ("lucene-index", "would lie in the index folder"),
        (".", "which the backup would replace"),
        ("parent", "which the backup would replace"),
    ],
)
def test_a_backup_lies_neither_in_the_index_nor_around_it(
    idx: Idx, backed_up: Path, destination: str, told: str
) -> None:
    (idx.folder / "link").symlink_to(backed_up)
    (idx.folder / "parent").symlink_to(idx.folder)
    before = files(idx.folder)
    (message,) = idx("backup", destination, code=1).stderr.splitlines()
    assert told in message
    assert str(backed_up) in message
    assert "name a folder" in message
    assert files(idx.folder) == before
    assert sorted(path.name for path in idx.folder.iterdir()) == ["link", "lucene-index", "parent"]
