"""`idx show`: a document by its id, or by the path of its file."""

import shutil
from pathlib import Path

import pytest

from tests.conftest import Idx
from tests.idx.files import make
from tests.idx.preparation import index_files
from tests.systems import makes_links


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
    here = ("env", "-C", str(papers / "old"))
    assert "text of lease.txt" in idx("show", "lease.txt", "-i", index_path, prefix=here).stdout
    assert "of old/notes.txt" in idx("show", "notes.txt", "-i", index_path, prefix=here).stdout


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
    (papers / "bad.pdf").write_bytes(b"%PDF-1.7 nothing")
    idx("sync", papers, code=1)
    refused = idx("show", "papers/bad.pdf", code=1).stderr
    assert "papers/bad.pdf: is not in the index: is a damaged PDF" in refused


def test_an_unknown_name_is_answered_with_near_ids(idx: Idx, papers: Path) -> None:
    assert "did you mean 'old/notes.txt'?" in idx("show", "old/nodes.txt", code=1).stderr
    assert "did you mean 'old/notes.txt'?" in idx("show", "elsewhere/notes.txt", code=1).stderr
