"""A heap of Java that is too small: a clear error, and nothing is lost that was there."""

import json
from pathlib import Path

import pytest

from shared import Document, Searcher
from tests.configured import shown, write
from tests.conftest import Idx, add_documents

LARGE = 9_000_000  # characters that do not fit into the least heap, as they are taken over into it


TOO_SMALL = (
    "Error: the 16 MiB of memory that Java may use are too small for work on the index at {}"
)
ALLOW_MORE = "or allow more with IDX_JAVA_HEAP or the setting java_heap\n"


@pytest.fixture
def filled(empty_index: Path) -> Path:
    add_documents(empty_index, Document("a", "A", "little text"))
    return empty_index


def test_the_setting_is_checked(idx: Idx, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDX_JAVA_HEAP", "15")
    assert idx("stats", code=1).stderr == (
        "Error: the environment: IDX_JAVA_HEAP: the value should be a whole number from 16 to "
        "1,000,000 (it is '15')\n"
    )
    monkeypatch.delenv("IDX_JAVA_HEAP")
    file = write("java_heap = 1_000_001")
    assert idx("stats", code=1).stderr == (
        f"Error: {file}: java_heap: the value should be less than or equal to 1000000 "
        "(it is 1000001)\n"
    )


@pytest.mark.soak
def test_a_document_that_is_too_large_changes_nothing(
    idx: Idx, filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("java_heap = 16")
    assert shown(idx)["java_heap"][0] == 16
    (tmp_path / "large.txt").write_text("x" * LARGE)
    failed = idx("add", "-d", "a", "-t", "A", "-f", "large.txt", code=1)
    assert failed.stderr == (
        f"{TOO_SMALL.format(filled)}; uncommitted changes were undone: try again in smaller "
        f"parts, or with shorter documents, {ALLOW_MORE}"
    )
    assert "sound" in idx("check").stdout
    assert idx("show", "a").stdout.endswith("little text\n\n")
    # The variable beats the file.
    monkeypatch.setenv("IDX_JAVA_HEAP", "256")
    assert "as 1 chunks" in idx("add", "-d", "a", "-t", "A", "-f", "large.txt").stdout


@pytest.mark.soak
def test_documents_larger_than_the_heap_are_written_by_and_by(
    idx: Idx, empty_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDX_JAVA_HEAP", "16")
    documents = (
        json.dumps({"Id": f"{n}", "Title": "T", "Content": f"{n:0200000}"}) for n in range(120)
    )
    idx("bulk", "-j", "-", stdin="\n".join(documents))
    monkeypatch.delenv("IDX_JAVA_HEAP")
    with Searcher(empty_index) as searcher:
        assert searcher.statistics().documents == 120


@pytest.mark.soak
def test_a_search_that_is_too_large_is_told(
    idx: Idx, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_documents(filled, Document("large", "Large", "lease " + "x" * LARGE))
    monkeypatch.setenv("IDX_JAVA_HEAP", "16")
    failed = idx("search", "lease", code=1)
    assert failed.stdout == ""
    assert failed.stderr == (f"{TOO_SMALL.format(filled)}; ask for less at once, {ALLOW_MORE}")
    assert "**little** text" in idx("search", "little").stdout


@pytest.mark.soak
def test_a_smaller_heap_needs_less_address_space(
    idx: Idx, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited = ("prlimit", "--as=1300000000")
    failed = idx("search", "little", code=1, prefix=limited)
    assert "it reserves 1.7 GB of address space" in failed.stderr
    assert failed.stderr.endswith("or reduce the memory of Java with IDX_JAVA_HEAP\n")
    monkeypatch.setenv("IDX_JAVA_HEAP", "16")
    assert "**little** text" in idx("search", "little", prefix=limited).stdout
