"""Results of `idx search` grouped by document."""

from pathlib import Path

import pytest

from shared import Document, Index, Searcher
from tests.conftest import Idx, add_documents
from tests.idx.files import searched

QUERY = "harbour"
DOCUMENTS = 14


def write_documents(path: Path) -> None:
    """A long document that has the word in each of its twenty chunks, and short ones."""
    with Index(path) as index:
        text = " ".join(["harbour harbour harbour"] + ["wall"] * 207)
        index.add(Document("long", "Long", " ".join([text] * 20), {"kind": "book"}))
        for number in range(DOCUMENTS - 1):
            words = f"The harbour of town number {number}." + " Ships come and go." * (number + 3)
            index.add(Document(f"town-{number:02d}", f"Town {number}", words, {"kind": "note"}))


@pytest.fixture(autouse=True)
def _documents(empty_index: Path) -> None:
    write_documents(empty_index)


def test_people_see_each_document_once(idx: Idx) -> None:
    shown = idx("search", QUERY, "--limit", "3", "--facet", "kind")
    lines = shown.stdout.splitlines()
    assert lines[0].startswith("1. Long - Part ")
    total = searched(idx, QUERY)["totalHits"]
    more = total - (DOCUMENTS - 1) - 3
    assert f"   and {more} more chunks of this document" in lines
    assert sum("long-chunk-" in line for line in lines) == 1
    assert sum(line.startswith("   line") for line in lines) == 2
    assert "kind\tdocuments" in lines
    assert shown.stderr == f"{total} chunks of {DOCUMENTS} documents match; shown: 1 to 3.\n"
    single = idx("search", QUERY, "--limit", "3", "--group", "none")
    assert single.stdout.count("long-chunk-") == 3
    assert "more chunks" not in single.stdout
    assert single.stderr == f"{total} chunks match; shown: 1 to 3.\n"


def test_programs_get_chunks_unless_they_ask_for_documents(idx: Idx) -> None:
    assert "total_documents" not in searched(idx, QUERY)
    grouped = searched(idx, QUERY, "--group", "document")
    assert grouped["total_documents"] == DOCUMENTS
    assert idx("search", QUERY, "--plain").stdout == "long\n"
    assert len(idx("search", QUERY, "--plain", "--group", "document").stdout.splitlines()) == 10


def test_a_document_with_more_hits_than_are_looked_at_first(empty_index: Path) -> None:
    text = "harbour harbour harbour " * 70
    add_documents(empty_index, Document("longer", "Longer", text * 320))
    with Searcher(empty_index) as searcher:
        found = searcher.search(QUERY, group="document", content="none", limit=4)
        assert len({hit.source_document for hit in found.results}) == 4
        assert found.results[0].source_document == "longer"
        shown = [1 + len(hit.others or []) + (hit.more or 0) for hit in found.results]
        # Each of the documents that are not on this page has one chunk.
        long = {"longer", "long"}
        hidden = DOCUMENTS + 1 - len(long | {hit.source_document for hit in found.results})
        assert sum(shown) + hidden == found.totalHits
        # All chunks, by document.
        everything = searcher.search("", group="document", content="none", limit=20)
        assert everything.total_documents == len(everything.results) == DOCUMENTS + 1
        assert [hit.chunk_index for hit in everything.results] == [1] * (DOCUMENTS + 1)
