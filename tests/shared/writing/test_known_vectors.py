"""Vectors that are kept for the same text, without a model."""

from pathlib import Path

import pytest

from shared import Document, Index
from shared.maintenance.embedding import embedding_state
from shared.semantic.sentence_model import SentenceModel
from shared.semantic.windows import key_of, packed
from tests.conftest import add_documents

MODEL = SentenceModel("e5", "hash", 4)
VECTOR = b"\x01\x02\x03\x04"
TEXTS = {f"d{number}": f"On day {number} it rained." for number in range(6)}


def document(name: str, text: str) -> Document:
    return Document(name, "Note", text)


@pytest.fixture
def index(tmp_path: Path) -> Path:
    path = tmp_path / "index"
    with Index(path, create=True) as index:
        for name, text in TEXTS.items():
            index.add(document(name, text))
        index.sentence_model = MODEL
        values = {
            f"{name}-chunk-001": packed(key_of("Note", text), [(0, len(text), VECTOR)])
            for name, text in TEXTS.items()
        }
        assert index.set_vectors(values) == 6
        of_another_text = packed(key_of("Note", "Another text."), [(0, 4, VECTOR)])
        assert index.set_vectors({"d1-chunk-001": of_another_text, "none": of_another_text}) == 0
    return path


def pending_after(path: Path, *documents: Document) -> int:
    add_documents(path, *documents)
    return embedding_state(path).pending


def test_the_same_text_keeps_its_vector_in_another_document(index: Path) -> None:
    assert pending_after(index, document("copy", TEXTS["d1"])) == 0
    assert pending_after(index, document("new", "Something else.")) == 1


def test_a_document_that_is_deleted_hands_its_vector_on(index: Path) -> None:
    with Index(index) as writer:
        writer.delete("d1")
        writer.add(document("moved", TEXTS["d1"]))
    assert embedding_state(index).pending == 0


def test_few_texts_added_to_a_large_index_are_not_looked_for(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.storage.passages._VALUES_PER_EMBEDDING", 3)
    own = document("d1", TEXTS["d1"])
    copies = [document(f"copy{number}", TEXTS["d2"]) for number in range(4)]
    # As long as embedding them takes less time than looking for them.
    assert pending_after(index, own, *copies[:2]) == 2
    assert pending_after(index, own, *copies) == 2
