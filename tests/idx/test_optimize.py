"""`idx optimize`: one segment, the same documents, and never anything in between."""

import json
from pathlib import Path

import pytest

from shared import Document, Index, Searcher
from shared.reading.open_index import OpenIndex
from tests.conftest import Idx, add_documents
from tests.idx.contents import contents
from tests.idx.files import files, make, sync
from tests.idx.output.test_terminal import on_a_terminal
from tests.idx.raw_index import files_of_lucene, stored
from tests.idx.segments import fill


@pytest.fixture
def filled(empty_index: Path) -> Path:
    fill(empty_index)
    return empty_index


def test_one_segment_is_left_and_nothing_is_lost(idx: Idx, filled: Path) -> None:
    papers = make(filled.parent / "papers", "a.txt", "b.txt")
    (papers / "broken.pdf").write_text("%PDF-1.7 nothing")
    idx("sync", "papers", code=1)
    before, shown, old = stored(filled), contents(filled), files_of_lucene(filled)
    was = json.loads(idx("stats", "--json").stdout)
    assert was["segments"] > 2
    done = idx("optimize")
    now = json.loads(idx("stats", "--json").stdout)
    assert done.stdout == (
        f"Merged {was['segments']} segments into 1 and removed {was['deleted_chunks']} deleted "
        f"chunks: {was['size_bytes'] / 1e6:.2f} MB before, {now['size_bytes'] / 1e6:.2f} MB now\n"
    )
    assert done.stderr == ""
    # In the order of before, by which equal hits are shown.
    assert stored(filled) == before
    assert contents(filled) == shown
    assert (now["segments"], now["deleted_chunks"]) == (1, 0)
    assert now["size_bytes"] < was["size_bytes"]
    assert now["folders"] == was["folders"]
    new = files_of_lucene(filled)
    assert new.isdisjoint(old)
    assert {file.name for file in filled.iterdir()} == {*new, "failures.json", "write.lock"}
    assert sync(idx, "papers", code=0) == {"skipped": 3}


def test_the_answer_for_programs(idx: Idx, filled: Path) -> None:
    was = json.loads(idx("stats", "--json").stdout)
    done = idx("optimize", "--json")
    now = json.loads(idx("stats", "--json").stdout)
    answer = json.loads(done.stdout)
    assert answer.pop("seconds") > 0
    assert answer == {
        "segments_before": was["segments"],
        "segments_after": 1,
        "bytes_before": was["size_bytes"],
        "bytes_after": now["size_bytes"],
        "deleted_chunks": was["deleted_chunks"],
    }


@pytest.mark.soak
def test_an_optimized_index_is_left_alone(idx: Idx, filled: Path) -> None:
    idx("optimize")
    before = files(filled)
    assert idx("optimize").stdout == "The index is already optimized; nothing was written.\n"
    answer = json.loads(idx("optimize", "--json").stdout)
    assert answer["segments_before"] == answer["segments_after"] == 1
    assert answer["bytes_before"] == answer["bytes_after"]
    assert files(filled) == before


@pytest.mark.soak
def test_deletions_are_reason_enough(idx: Idx, filled: Path) -> None:
    idx("optimize")
    idx("delete", "d11")
    assert "Merged 1 segment into 1 and removed 6 deleted chunks" in idx("optimize").stdout
    assert json.loads(idx("stats", "--json").stdout)["deleted_chunks"] == 0


def test_an_index_without_documents(idx: Idx, empty_index: Path) -> None:
    assert "nothing was written" in idx("optimize").stdout
    add_documents(empty_index, Document("a", "A", "text"))
    with Index(empty_index) as index:
        index.add(Document("b", "B", "text"))
        index.commit()
        index.delete_documents(["a", "b"])
    idx("optimize")
    assert json.loads(idx("stats", "--json").stdout)["segments"] == 0


def test_a_reader_sees_the_one_or_the_other(idx: Idx, filled: Path) -> None:
    with Searcher(filled) as searcher, OpenIndex(filled, "command").newest() as old:
        idx("optimize")
        count = old.getIndexReader().numDocs()
        assert count == searcher.statistics().chunks
        assert searcher.statistics().segments == 1
        assert searcher.search("common", limit=1).totalHits == 54


@pytest.mark.soak
def test_a_terminal_shows_how_far_it_is(filled: Path) -> None:
    shown = on_a_terminal("optimize", "-i", filled)
    assert "Merging" in shown
    assert "segments into 1" in shown
