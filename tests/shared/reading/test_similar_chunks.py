from pathlib import Path

import pytest

from shared import Document, Index, Searcher
from shared.errors import ChunkNotFoundError
from shared.maintenance.embedding import embed, switch_on
from tests.conftest import add_documents
from tests.systems import embeds

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


def test_an_unknown_chunk_is_named(index: Path) -> None:
    with Searcher(index) as searcher, pytest.raises(ChunkNotFoundError, match="nobody"):
        searcher.similar_chunks("nobody")
