"""`idx delete` of a document whose file stays: it comes back, or the file is excluded."""

import json
import os
from pathlib import Path

import pytest

from shared import Document
from shared.settings.current import configuration_file
from tests.configured import write
from tests.conftest import Idx
from tests.idx.files import ids, make, sync
from tests.idx.preparation import add_documents, index_files


def test_a_document_that_the_next_sync_brings_back_is_told(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    papers = make(tmp_path / "papers", "a b.txt", "c.txt", "d.txt", "e.txt")
    index_files(empty_index, "papers")
    done = idx("delete", "a b.txt")
    assert done.stdout == "Deleted document 'a b.txt' (1 chunks)\n"
    assert done.stderr == (
        "Warning: the next idx sync adds 1 document again, because the file still exists: "
        f"{papers}/a b.txt; to exclude it permanently: idx delete --exclude 'a b.txt'\n"
    )
    (papers / "e.txt").unlink()
    told = idx("delete", "c.txt", "d.txt", "e.txt").stderr
    assert "the next idx sync adds 2 documents again" in told
    assert told.endswith("permanently: idx delete --exclude c.txt d.txt\n")
    # As the warning says, also after the document was deleted.
    idx("delete", "--exclude", "a b.txt")
    assert sync(idx, "papers") == {"added": 2, "chunks": 2}


def test_what_no_sync_brings_back_is_deleted_without_a_word(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    papers = make(tmp_path / "papers", "a.txt", "gone.txt", "b.log", "c.txt")
    make(tmp_path, "single.txt")
    write(f"folders = [{{path = '{papers}', exclude = ['b.*']}}]\nexclude = ['/c.txt']")
    add_documents(empty_index, Document("by-hand", "T", "text"))
    index_files(empty_index, "single.txt")
    index_files(empty_index, "papers")
    (papers / "gone.txt").unlink()
    for name in ("by-hand", "single.txt", "gone.txt"):
        assert idx("delete", name).stderr == ""
    write("")
    index_files(empty_index, "papers")
    write(f"folders = [{{path = '{papers}', exclude = ['b.*']}}]\nexclude = ['/c.txt']")
    assert idx("delete", "b.log", "c.txt").stderr == ""


def test_an_excluded_file_stays_out_and_no_other_one_does(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    kept = ["a1x.txt", "other/plain.txt", "slash.txt"]
    names = [
        "plain.txt",
        "deep/er/plain.txt",
        "a[1]*?.txt",
        "back\\slash.txt",
        "!first.txt",
        "#first.txt",
        "end.txt ",
        "Zoë.txt",
        "line\nbreak.txt",
        "bad\udcff.txt",
    ]
    papers = make(tmp_path / "papers", *kept)
    for name in names:
        (papers / name).parent.mkdir(parents=True, exist_ok=True)
        (papers / name).write_text("text")
    index_files(empty_index, "papers")
    excluded = sorted(set(ids(empty_index)) - {*kept})
    assert len(excluded) == len(names)
    done = idx("delete", "--exclude", "--", *excluded)
    assert done.stderr.count("is now excluded, by a pattern in") == len(names)
    assert sync(idx, "papers") == {"skipped": len(kept)}
    assert ids(empty_index) == kept
    assert [name for name in names if not os.path.lexists(papers / name)] == []


def test_patterns_join_those_that_a_remembered_folder_has(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    papers = make(tmp_path / "papers", "a.txt", "b.txt", "c.log", "sub/d.txt")
    make(tmp_path, "notes/n.txt", "notes/o.txt")
    file = write(
        f"# mine\n[[folders]]\npath = '{papers}'  # papers\nexclude = ['*.log']\n\n"
        f"[[folders]]\npath = '{tmp_path}/notes'\n"
    )
    sync(idx)
    done = idx("delete", "--exclude", "papers/a.txt", "papers/sub/d.txt", "notes/n.txt", "--json")
    assert json.loads(done.stdout)["excluded"] == {
        "papers/a.txt": "/a.txt",
        "papers/sub/d.txt": "/sub/d.txt",
        "notes/n.txt": "/n.txt",
    }
    assert "now among the folders there" not in done.stderr
    listed = json.loads(idx("folders", "list", "--json").stdout)
    assert [entry["exclude"] for entry in listed] == [["*.log", "/a.txt", "/sub/d.txt"], ["/n.txt"]]
    assert "# mine" in file.read_text()
    assert "# papers" in file.read_text()
    assert sync(idx) == {"skipped": 2}
    # Once more: no pattern stands there twice.
    idx("delete", "--exclude", "papers/a.txt")
    again = json.loads(idx("folders", "list", "--json").stdout)
    assert again == listed


def test_a_folder_that_is_not_remembered_is_from_then_on(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    papers = make(tmp_path / "papers", "a.txt", "b.txt")
    index_files(empty_index, "papers")
    done = idx("delete", "a.txt", "--exclude")
    assert done.stdout == "Deleted document 'a.txt' (1 chunks)\n"
    file = configuration_file()
    assert done.stderr == (
        f"{papers}/a.txt is now excluded, by a pattern in {file}\n"
        f"{papers} is now among the folders there, which idx sync indexes by default\n"
    )
    assert sync(idx) == {"skipped": 1}


def test_nothing_is_deleted_if_nothing_can_be_remembered(
    idx: Idx, empty_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    papers = make(tmp_path / "papers", "a.txt")
    index_files(empty_index, "papers")
    monkeypatch.setenv("IDX_FOLDERS", str(papers))
    failed = idx("delete", "a.txt", "--exclude", code=1)
    assert "Error: IDX_FOLDERS: is set and overrides the folders in" in failed.stderr
    assert ids(empty_index) == ["a.txt"]


def test_a_document_of_no_file_has_none_to_leave_out(idx: Idx, empty_index: Path) -> None:
    add_documents(empty_index, Document("note", "Note", "text"))
    done = idx("delete", "note", "--exclude")
    assert done.stderr == "Document 'note' has no file in an indexed folder; no file is excluded.\n"
    idx("delete", "note", "--exclude", code=1)
    assert not configuration_file().exists()
