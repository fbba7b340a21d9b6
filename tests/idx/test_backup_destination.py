"""`idx backup` where there is something already."""

from pathlib import Path

import pytest

from shared import BackupError, Document, IndexSchemaError
from shared.maintenance.backup import backup
from tests.conftest import Idx, add_documents
from tests.idx.files import files, make
from tests.idx.raw_index import mark_as
from tests.systems import has_modes, makes_links
from tests.unprivileged import UNPRIVILEGED


@pytest.fixture
def filled(empty_index: Path) -> Path:
    add_documents(empty_index, Document("a", "A", "text"))
    return empty_index


def test_a_backup_with_something_else_in_it_is_not_replaced(
    idx: Idx, filled: Path, tmp_path: Path
) -> None:
    copies = tmp_path / "copies"
    backup(filled, copies)
    backup(filled, copies / "monday")
    before = files(copies)
    failed = idx("backup", "copies", code=1)
    (message,) = failed.stderr.splitlines()
    assert f"the backup {copies} also contains other files, such as 'monday', which" in message
    assert files(copies) == before
    (copies / "monday").rename(tmp_path / "monday")
    (copies / "letter.txt").write_text("mine")
    with pytest.raises(BackupError, match="such as 'letter"):
        backup(filled, copies)
    assert (copies / "letter.txt").read_text() == "mine"


@pytest.mark.parametrize(
    "name", ["_notes.txt", "_README.md", "_letter.doc", "_0.si.txt", "segments_list.csv"]
)
def test_a_file_that_is_named_like_one_of_lucene_is_not_deleted(
    filled: Path, tmp_path: Path, name: str
) -> None:
    backup(filled, tmp_path / "copy")
    (tmp_path / "copy" / name).write_text("mine")
    with pytest.raises(BackupError, match=f"such as '{name}'"):
        backup(filled, tmp_path / "copy")
    assert (tmp_path / "copy" / name).read_text() == "mine"


def test_a_backup_that_was_written_to_is_replaced(filled: Path, tmp_path: Path) -> None:
    backup(filled, tmp_path / "copy")
    add_documents(tmp_path / "copy", Document("b", "B", "text"))
    assert (tmp_path / "copy" / "write.lock").exists()
    assert backup(filled, tmp_path / "copy").documents == 1
    assert sorted(path.name for path in tmp_path.glob("*copy*")) == ["copy"]


@has_modes
def test_nothing_is_left_of_a_backup_that_nobody_could_write_to(
    idx: Idx, filled: Path, tmp_path: Path
) -> None:
    backup(filled, tmp_path / "copy")
    (tmp_path / "copy").chmod(0o500)
    idx("backup", "copy", prefix=UNPRIVILEGED)
    assert sorted(path.name for path in tmp_path.glob("*copy*")) == ["copy"]


def test_what_is_put_there_meanwhile_stays(filled: Path, tmp_path: Path) -> None:
    backup(filled, tmp_path / "copy")

    def put(steps: object) -> object:
        (tmp_path / "copy" / "letter.txt").write_text("mine")
        return steps

    with pytest.raises(BackupError, match="such as 'letter"):
        backup(filled, tmp_path / "copy", progress=put)  # type: ignore[arg-type] # of any steps
    assert (tmp_path / "copy" / "letter.txt").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.glob("*copy*")) == ["copy"]


@has_modes
def test_names_that_cannot_be_flushed_leave_the_older_backup(
    idx: Idx, filled: Path, tmp_path: Path
) -> None:
    drop = make(tmp_path / "drop")
    idx("backup", "drop/copy")
    before = files(drop)
    add_documents(filled, Document("b", "B", "text"))
    # Names may be changed in it, but it may not be opened, so not be flushed.
    drop.chmod(0o333)
    failed = idx("backup", drop / "copy", "-i", filled, code=1, prefix=UNPRIVILEGED)
    drop.chmod(0o755)
    assert f"the backup {drop / 'copy'} cannot be written: Permission denied" in failed.stderr
    assert files(drop) == before


@has_modes
def test_a_file_of_the_index_that_cannot_be_read_is_the_fault_of_the_index(
    idx: Idx, filled: Path
) -> None:
    (file,) = filled.glob("*.cfs")
    file.chmod(0)
    failed = idx("backup", filled.parent / "copy", "-i", filled, code=1, prefix=UNPRIVILEGED)
    file.chmod(0o600)
    (message,) = failed.stderr.splitlines()
    assert f"the index folder {filled} cannot be used: " in message
    assert file.name in message
    assert "free some space" not in message


def test_an_index_of_an_unknown_schema_is_named_before_anything_is_copied(
    filled: Path, tmp_path: Path
) -> None:
    mark_as(filled, 99)
    seen: list[object] = []

    def progress(steps: object) -> object:
        seen.append(steps)
        return steps

    with pytest.raises(IndexSchemaError, match=f"the index at {filled} has schema version 99"):
        backup(filled, tmp_path / "copy", progress=progress)  # type: ignore[arg-type] # as above
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
    idx: Idx, filled: Path, tmp_path: Path, destination: str, told: str
) -> None:
    (tmp_path / "link").symlink_to(filled)
    (tmp_path / "parent").symlink_to(tmp_path)
    before = files(tmp_path)
    (message,) = idx("backup", destination, code=1).stderr.splitlines()
    assert told in message
    assert str(filled) in message
    assert "name a folder" in message
    assert files(tmp_path) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "lucene-index", "parent"]


@makes_links
def test_a_backup_beside_an_index_that_a_link_leads_to_is_made(
    idx: Idx, filled: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(filled)
    idx("backup", "copy", "-i", "link")
    idx("backup", "link/../copy", "-i", "link")
    assert files(tmp_path / "copy").keys() >= {"backup.json"}
