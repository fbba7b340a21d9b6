"""`idx terms`, `idx fields` and `idx show` as people and programs use them."""

import shutil
from pathlib import Path

import pytest

from shared import Document
from tests.conftest import Idx, add_documents
from tests.idx.files import make
from tests.idx.preparation import index_files
from tests.systems import makes_links

LONG = " ".join(f"word{number}" for number in range(300))


@pytest.fixture
def filled(empty_index: Path) -> None:
    add_documents(
        empty_index,
        Document("a", "Lease", "The café contract", {"author": "Ann", "year": 7}),
        Document("b", "Other", "Contracts of the café", {"author": "Bob"}),
        Document("c", "Long", LONG, {"author": ["Ann", "Eve\x1b[31m"]}),
    )


@pytest.mark.usefixtures("filled")
def test_terms(idx: Idx) -> None:
    assert idx.json("terms", "CONTR") == {
        "field": "content",
        "prefix": "contr",
        "terms": [{"term": "contract", "chunks": 1}, {"term": "contracts", "chunks": 1}],
        "complete": True,
        "notice": None,
    }
    shown = idx("terms", "contr").stdout
    assert "contracts" in shown
    assert "Chunks" in shown
    most = idx.json("terms", "--limit", 100)
    assert {"term": "cafe", "chunks": 2} in most["terms"]
    assert most["complete"]
    longer = idx.json("terms", "--min-length", 9)
    assert [found["term"] for found in longer["terms"]] == ["contracts"]
    values = idx.json("terms", "--field", "author")
    assert values["terms"][0] == {"term": "Ann", "chunks": 3}
    assert "\x1b" not in idx("terms", "--field", "author").stdout


@pytest.mark.usefixtures("filled")
def test_fields(idx: Idx) -> None:
    listed = idx.json("fields")
    by_name = {field["name"]: field for field in listed["fields"]}
    assert (listed["total_chunks"], by_name["author"]["chunks"]) == (4, 4)
    assert by_name["year"]["query_name"] == "number.year"
    shown = idx("fields").stdout
    assert "search, filter, sort, facet" in shown
    assert "metadata.author" in shown
    assert "\x1b" not in shown
    assert shown.endswith("4 chunks\n")


@pytest.mark.usefixtures("filled")
def test_details_of_a_document(idx: Idx) -> None:
    details = idx.json("show", "c", "--details")
    assert (details["words"], details["chunk_count"]) == (300, 2)
    assert details["metadata"]["author"] == ["Ann", "Eve\x1b[31m"]
    shown = idx("show", "c", "--details").stdout
    assert "Ann, Eve\\x1b[31m" in shown
    assert "word0 word1" in shown
    assert "word299" not in shown


def test_details_of_a_file(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "lease.txt").write_text("The rent is due on the third of each month.\n")
    index_files(empty_index, "docs")
    details = idx.json("show", "lease.txt", "--details")
    assert details["file_path"] == (tmp_path / "docs" / "lease.txt").as_posix()
    assert details["preview"] == "The rent is due on the third of each month."
    assert {"file_name", "file_size", "content_hash"} <= details["metadata"].keys()
    paths = idx.json("terms", tmp_path, "--field", "file_path")
    assert paths["terms"] == [{"term": details["file_path"], "chunks": 1}]
    # A folder of the index is kept under a name, which is no beginning of a path.
    assert idx.json("terms", "d", "--field", "file_path")["terms"] == []


def test_an_index_without_documents_has_no_terms(idx: Idx, empty_index: Path) -> None:
    assert idx.json("terms")["terms"] == []
    assert idx.json("terms", "a")["terms"] == []
    fields = idx.json("fields")["fields"]
    assert {field["chunks"] for field in fields} == {0}
    idx("terms")
    idx("fields")
    failed = idx("terms", "--field", "author", code=1)
    assert "'author' with terms; the index has no documents yet" in failed.stderr


@pytest.mark.usefixtures("filled")
def test_mistakes(idx: Idx) -> None:
    assert "did you mean 'author'?" in idx("terms", "--field", "autor", code=1).stderr
    assert "is not valid Unicode" in idx("terms", "a\udcff", code=1).stderr
    assert "no document has the id 'x'" in idx("show", "x", "--details", code=1).stderr
    assert "not both" in idx("show", "a", "--details", "--chunk", 1, code=2).stderr
    assert "not both" in idx("terms", "a", "--min-length", 3, code=2).stderr


@pytest.fixture
def papers(empty_index: Path, home: Path) -> Path:
    """An indexed folder of the home folder, which is the current one."""
    papers = make(home / "papers", "lease.txt", "old/lease.txt", "old/notes.txt")
    index_files(empty_index, papers)
    return papers


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("lease.txt", "lease.txt"),
        ("papers/lease.txt", "lease.txt"),
        ("./papers/old/../old/notes.txt", "old/notes.txt"),
        ("~/papers/old/lease.txt", "old/lease.txt"),
        ("{home}/papers/old/lease.txt", "old/lease.txt"),
    ],
)
def test_a_path_names_the_document_of_the_file(
    idx: Idx, home: Path, papers: Path, name: str, shown: str
) -> None:
    assert f"text of {shown}" in idx("show", name.format(home=home)).stdout


def test_an_exact_id_comes_before_a_path(idx: Idx, papers: Path, index_path: Path) -> None:
    here = papers / "old"
    assert "text of lease.txt" in idx("show", "lease.txt", "-i", index_path, folder=here).stdout
    assert "of old/notes.txt" in idx("show", "notes.txt", "-i", index_path, folder=here).stdout


@makes_links
def test_links_to_a_file_or_its_folder_lead_to_its_document(
    idx: Idx, home: Path, papers: Path
) -> None:
    (home / "link").symlink_to(papers)
    (home / "link.txt").symlink_to(papers / "lease.txt")
    assert "text of old/lease.txt" in idx("show", "link/old/lease.txt").stdout
    assert "text of lease.txt" in idx("show", "link.txt", "--details").stdout


def test_a_file_that_is_gone_is_still_named_by_its_path(idx: Idx, home: Path, papers: Path) -> None:
    shutil.rmtree(papers)
    assert "text of old/notes.txt" in idx("show", "papers/old/notes.txt").stdout


def test_a_file_of_its_own_is_named_by_its_path(
    idx: Idx, home: Path, papers: Path, index_path: Path
) -> None:
    make(home, "apart.txt")
    idx("add", "--id", "a", "--title", "A", "--file", "apart.txt")
    assert "text of apart.txt" in idx("show", "./apart.txt").stdout
    idx("add", "--id", "b", "--title", "B", "--file", "apart.txt")
    refused = idx("show", "./apart.txt", code=1).stderr
    assert "several documents come from this file: name one of 'a', 'b'" in refused


def test_what_is_not_in_the_index_is_said_of_a_path(idx: Idx, home: Path, papers: Path) -> None:
    make(home, "new.txt")
    assert (
        "new.txt: is not in the index; add it with idx add" in idx("show", "new.txt", code=1).stderr
    )
    assert "papers: is a folder" in idx("show", "papers", code=1).stderr
    assert "no document has the id ''" in idx("show", "", code=1).stderr
    (papers / "bad.pdf").write_bytes(b"%PDF-1.7 nothing")
    idx("sync", papers, code=1)
    refused = idx("show", "papers/bad.pdf", code=1).stderr
    assert "papers/bad.pdf: is not in the index: is a damaged PDF" in refused


def test_an_unknown_name_is_answered_with_near_ids(idx: Idx, papers: Path) -> None:
    assert "did you mean 'old/notes.txt'?" in idx("show", "old/nodes.txt", code=1).stderr
    assert "did you mean 'old/notes.txt'?" in idx("show", "elsewhere/notes.txt", code=1).stderr
