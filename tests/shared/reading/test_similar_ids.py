"""An id that is not there is answered with those that may have been meant."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared import ChunkNotFoundError, Document, DocumentNotFoundError, Index, Searcher

LONG = " ".join(f"word{number}" for number in range(600))


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    path: Path = tmp_path_factory.mktemp("near") / "index"
    with Index(path, create=True) as index:
        index.add(Document("contracts/Lease (2025).pdf", "Lease", LONG))
        index.add(Document("contracts/insurance.pdf", "Insurance", "text"))
        index.add(Document("x" * 10_000, "Long", "text"))
        index.add(Document("Straße 5.txt", "Street", "text"))
    with Searcher(path) as searcher:
        yield searcher


@pytest.mark.parametrize(
    ("wanted", "near"),
    [
        ("contracts/insurence.pdf", "contracts/insurance.pdf"),
        ("insurance.pdf", "contracts/insurance.pdf"),
        ("contracts/Leese (2052).pdf", "contracts/Lease (2025).pdf"),
        ("INSURANCE", "contracts/insurance.pdf"),
        ("papers/lease (2025).pdf", "contracts/Lease (2025).pdf"),
        (r"C:\papers\lease (2025)", "contracts/Lease (2025).pdf"),
        ("straße 5", "Straße 5.txt"),
        ("contracts/insurance.pdf-chunk-001", "contracts/insurance.pdf"),
    ],
)
def test_a_document_that_may_have_been_meant(searcher: Searcher, wanted: str, near: str) -> None:
    with pytest.raises(DocumentNotFoundError, match="did you mean") as caught:
        searcher.document_chunks(wanted)
    assert f"did you mean {near!r}? Or list the ids" in str(caught.value)


@pytest.mark.parametrize("wanted", ["lease", "laese"])
def test_ids_of_deleted_documents_are_not_named(empty_index: Path, wanted: str) -> None:
    names = ("lease", "leasa", "leash", "least", "leases", "lender")
    with Index(empty_index) as index:
        # Lucene merges a segment as soon as a fifth of its chunks are deleted.
        index.add(Document("filling", "F", " ".join(f"word{number}" for number in range(9_000))))
        for name in names:
            index.add(Document(name, "T", "text"))
    with Index(empty_index) as index:
        index.delete_documents(names[:-2])
    with Searcher(empty_index) as searcher:
        assert searcher.statistics().deleted_chunks == 4
        with pytest.raises(DocumentNotFoundError) as document:
            searcher.document_chunks(wanted)
        with pytest.raises(ChunkNotFoundError) as chunk:
            searcher.next_chunk(f"{wanted}-chunk-001")
    assert "did you mean 'leases'?" in str(document.value)
    assert "did you mean 'leases-chunk-001'?" in str(chunk.value)


@pytest.mark.parametrize(
    "wanted", ["", " ", "nothing like it", "\0", ".*", "y" * 300, '"<1-9>&~@#']
)
def test_nothing_near_is_not_guessed(searcher: Searcher, wanted: str) -> None:
    with pytest.raises(DocumentNotFoundError) as caught:
        searcher.document_chunks(wanted)
    assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize(
    ("wanted", "near"),
    [
        (
            "contracts/Lease (2025).pdf-chunk-009",
            "-chunk-001' or 'contracts/Lease (2025).pdf-chunk-003",
        ),
        ("contracts/Lease (2025).pdf", "'contracts/Lease (2025).pdf-chunk-001' or "),
        (
            "contracts/insurance.pdf-chunk-002",
            "did you mean 'contracts/insurance.pdf-chunk-001'? Or ",
        ),
        ("insurance.pdf-chunk-001", "did you mean 'contracts/insurance.pdf-chunk-001'?"),
    ],
)
def test_a_chunk_that_may_have_been_meant(searcher: Searcher, wanted: str, near: str) -> None:
    with pytest.raises(ChunkNotFoundError) as caught:
        searcher.next_chunk(wanted)
    assert near in str(caught.value)
