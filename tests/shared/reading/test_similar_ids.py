"""Chunks that are similar, and ids that may have been meant by one that is not there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared import ChunkNotFoundError, Document, DocumentNotFoundError, Index, Searcher
from shared.maintenance.embedding import embed, switch_on
from tests.conftest import NewIndex, add_documents
from tests.systems import embeds

LONG = " ".join(f"word{number}" for number in range(600))


@pytest.fixture(scope="module")
def searcher(new_index: NewIndex) -> Iterator[Searcher]:
    ids = ("contracts/insurance.pdf", "x" * 10_000, "Straße 5.txt")
    lease = Document("contracts/Lease (2025).pdf", "Lease", LONG)
    with Searcher(new_index(lease, *(Document(id_, "T", "text") for id_ in ids))) as searcher:
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


TEXTS = {
    "dismissal": "Dismissed employees receive severance pay of two wages for each year.",
    "layoff": "Whoever is laid off gets a payment that grows with the length of employment.",
    "copy": "Dismissed employees receive severance pay of two wages for each year!",
    "parking": "Cars without a permit are towed away from the garage at night.",
    "garage": "The garage is closed at night, and cars are towed away.",
}


@pytest.fixture
def index(empty_index: Path) -> Path:
    with Index(empty_index) as index:
        for name, text in TEXTS.items():
            index.add(Document(name, "Note", text))
        # A word that half of the chunks have tells nothing.
        for number in range(5):
            index.add(Document(f"other{number}", "Other", f"Chapter {number} is about geology."))
    return empty_index


def test_without_vectors_chunks_are_compared_by_their_terms(index: Path) -> None:
    with Searcher(index) as searcher:
        found = searcher.similar_chunks("parking-chunk-001")
    assert found.compared_by == "words"
    assert found.results[0].source_document == "garage"
    assert "parking" not in [chunk.source_document for chunk in found.results]
    assert all(0 < chunk.similarity <= 1 for chunk in found.results)


@embeds
def test_with_vectors_they_are_compared_by_meaning(index: Path) -> None:
    switch_on(index, "e5")
    embed(index)
    with Searcher(index) as searcher:
        found = searcher.similar_chunks("dismissal-chunk-001")
        first = searcher.similar_chunks("dismissal-chunk-001", limit=1)
    assert found.compared_by == "meaning"
    assert [chunk.source_document for chunk in found.results][:2] == ["copy", "layoff"]
    assert found.results[0].similarity > 0.9 > found.results[1].similarity
    assert first.results == found.results[:1]


@embeds
def test_a_chunk_in_another_language_is_compared_by_meaning_too(index: Path) -> None:
    german = "Wer entlassen wird, erhält eine Abfindung von zwei Gehältern."
    add_documents(index, Document("abfindung", "Notiz", german))
    switch_on(index, "e5")
    embed(index)
    with Searcher(index) as searcher:
        found = searcher.similar_chunks("abfindung-chunk-001").results
    assert {chunk.source_document for chunk in found[:2]} == {"dismissal", "copy"}


@embeds
def test_a_chunk_in_an_unknown_script_is_compared_by_its_terms(index: Path) -> None:
    text = "ⵜⴰⵎⴰⵣⵉⵖⵜ ⴷ ⵜⵓⵜⵍⴰⵢⵜ. " * 6
    with Index(index) as open_index:
        open_index.add(Document("a", "ⵜⴰⵎⴰⵣⵉⵖⵜ", text))
        open_index.add(Document("b", "ⵜⴰⵎⴰⵣⵉⵖⵜ", f"{text}ⵎⴰⵏⵡⴰ."))
    switch_on(index, "e5")
    embed(index)
    with Searcher(index) as searcher:
        found = searcher.similar_chunks("a-chunk-001")
    assert found.compared_by == "words"
    assert found.results[0].source_document == "b"
