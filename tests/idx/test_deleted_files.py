"""`idx delete` of a document whose file stays: it comes back, unless it is kept out."""

from pathlib import Path

import pytest

from shared import Document
from tests.configured import write
from tests.conftest import Idx, add_documents
from tests.idx.files import ids, make, sync
from tests.idx.preparation import index_files


def test_a_document_that_the_next_sync_brings_back_is_told(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    papers = make(tmp_path / "papers", "a b.txt", "c.txt", "d.txt", "e.txt")
    index_files(empty_index, "papers")
    done = idx("delete", "a b.txt")
    assert done.stdout == "Deleted document 'a b.txt' (1 chunks)\n"
    assert done.stderr == (
        "Warning: the next idx sync adds 1 document again, because the file still exists: "
        f"{papers}/a b.txt; to keep it out, add the line /a b.txt to {papers}/.idxignore\n"
    )
    (papers / "e.txt").unlink()
    told = idx("delete", "c.txt", "d.txt", "e.txt").stderr
    assert "the next idx sync adds 2 documents again" in told
    assert told.endswith(f"to keep this one out, add the line /c.txt to {papers}/.idxignore\n")
    (papers / ".idxignore").write_text("/a b.txt\n")
    assert sync(idx, "papers") == {"added": 2, "chunks": 2}


@pytest.mark.parametrize("name", ["a[1]*?.txt", "back\\slash.txt", "!first.txt", "#x", "end.txt "])
def test_the_line_that_is_named_keeps_the_file_out_and_no_other(
    idx: Idx, empty_index: Path, tmp_path: Path, name: str
) -> None:
    papers = make(tmp_path / "papers", name, "a1x.txt", "slash.txt", "deep/a1x.txt")
    index_files(empty_index, "papers")
    told = idx("delete", "--", name).stderr
    line = told.partition("add the line ")[2].partition(f" to {papers}")[0]
    (papers / ".idxignore").write_text(f"{line}\n")
    assert sync(idx, "papers") == {"skipped": 3}
    assert name not in ids(empty_index)


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
