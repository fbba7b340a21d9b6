"""The nearest chunks, with vectors that are made up."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shared import Document, Index, Searcher
from shared.semantic.encoder import Vector, quantized
from shared.semantic.sentence_model import SentenceModel
from shared.semantic.windows import key_of, packed
from shared.storage import vectors as stored

CHUNKS = 300
DIMENSIONS = 64
MODEL = SentenceModel("made up", "hash", DIMENSIONS)


def unit(rows: Any) -> Any:
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


@pytest.fixture(autouse=True)
def _nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "_means", {})
    monkeypatch.setattr(stored, "_known", {})


@pytest.fixture(scope="module")
def rows() -> Vector:
    """Vectors in one corner of the space, as those of real models are."""
    generator = np.random.default_rng(3)
    corner = 3 * unit(generator.normal(size=DIMENSIONS))
    found: Vector = unit(corner + unit(generator.normal(size=(CHUNKS, DIMENSIONS))))
    return found.astype(np.float32)


@pytest.fixture
def index(empty_index: Path, rows: Vector) -> Path:
    with Index(empty_index) as index:
        index.sentence_model = MODEL
        for number in range(CHUNKS):
            index.add(Document(f"d{number}", "Note", f"text {number}"))
        index.commit()
        values = {
            f"d{number}-chunk-001": packed(
                key_of("Note", f"text {number}"), [(0, 4, quantized(rows[number]))]
            )
            for number in range(CHUNKS)
        }
        assert index.set_vectors(values) == CHUNKS
    return empty_index


def similar(index: Path, number: int, limit: int = 10) -> list[str]:
    with Searcher(index) as searcher:
        found = searcher.similar_chunks(f"d{number}-chunk-001", limit=limit)
    assert found.compared_by == "meaning"
    return [chunk.source_document for chunk in found.results]


def test_the_nearest_are_among_those_with_the_most_signs_in_common(
    index: Path, rows: Vector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.search.lucene_vectors._CANDIDATES", 60)
    monkeypatch.setattr("shared.search.meaning.LEAST", -9.0)
    right = 0
    for number in range(20):
        nearest = np.argsort(-(rows @ rows[number]), kind="stable")[1:11]
        right += len({f"d{other}" for other in nearest} & {*similar(index, number)})
    assert right >= 130


def test_only_what_stands_out_from_the_texts_of_the_index_is_similar(index: Path) -> None:
    # The cosine of any two of them is .9.
    assert len(similar(index, 0, limit=100)) < 50


def test_vectors_that_are_not_kept_in_memory_are_read(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = [similar(index, number) for number in range(5)]
    monkeypatch.setattr(stored, "_MOST_KEPT", 0)
    monkeypatch.setattr(stored, "_known", {})
    assert [similar(index, number) for number in range(5)] == kept
    assert any(kept)


def test_vectors_are_kept_once_when_other_values_of_a_segment_change(
    index: Path, rows: Vector
) -> None:
    before = similar(index, 0)
    known = len(stored._known)  # noqa: SLF001 - what is in memory shows nowhere else
    for number in (1, 2, 3):
        window = (0, 4, quantized(rows[number]))
        value = packed(key_of("Note", f"text {number}"), [window])
        with Index(index) as changed:
            assert changed.set_vectors({f"d{number}-chunk-001": value}) == 1
        assert similar(index, 0) == before
    assert len(stored._known) == known  # noqa: SLF001
