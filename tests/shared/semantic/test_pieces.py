"""The tokenizer of e5 divides texts as SentencePiece does, and refuses broken files."""

import io
import json
from pathlib import Path

import pytest
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from deployment.e5.convert import write_tokenizer
from shared.errors import SemanticModelError
from shared.semantic.encoder import PIECES_FILE, SCORES_FILE, OnnxEncoder, Pieces
from tests.shared.semantic.test_folder_model import table_model, write_model

DOCUMENTS = Path(__file__).parents[2] / "relevance" / "documents"


@pytest.fixture(scope="module")
def texts() -> list[str]:
    files = [file.read_text("utf-8") for file in sorted(DOCUMENTS.glob("*.jsonl"))]
    return [json.loads(line)["Content"] for text in files for line in text.splitlines()]


@pytest.fixture(scope="module")
def library(texts: list[str]) -> SentencePieceProcessor:
    """SentencePiece with the pieces of all languages but for rare characters."""
    trained = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter([*texts, *["9\u6642\uff5e17\u6642"] * 500]),
        model_writer=trained,
        vocab_size=2_000,
        character_coverage=0.99,
        normalization_rule_name="nmt_nfkc",
        minloglevel=2,
    )
    return SentencePieceProcessor(model_proto=trained.getvalue())


@pytest.fixture
def files(library: SentencePieceProcessor, tmp_path: Path) -> tuple[Path, Path]:
    numbers = [number for number in range(library.get_piece_size()) if not is_mark(library, number)]
    pieces = {library.id_to_piece(one): (one, library.get_score(one)) for one in numbers}
    marks = library.bos_id(), library.eos_id(), library.unk_id()
    write_tokenizer(tmp_path, pieces, *marks)
    return tmp_path / PIECES_FILE, tmp_path / SCORES_FILE


def is_mark(library: SentencePieceProcessor, number: int) -> bool:
    return bool(library.is_control(number) or library.is_unknown(number))


def test_texts_of_many_languages_have_the_pieces_of_sentencepiece(
    library: SentencePieceProcessor, files: tuple[Path, Path], texts: list[str]
) -> None:
    pieces = Pieces(*files)
    assert (pieces.first, pieces.last, pieces.unknown) == (1, 2, 0)
    assert len(texts) > 100
    for text in texts:
        assert pieces(text) == library.encode(text), text


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "a", "\u2581", "  two  blanks \n and\tlines\u2028", "\u0000\u0007bell"),
        *("10\u6642\uff5e12\u6642", "\ufb01nance \u00bd CO\u2082 \uff21\uff22", "e\u0301tude"),
        *("zero\u200bwidth", "no\u00adhyphen", "\u0645\u06cc\u200c\u0631\u0648\u0645", "\ufeffbom"),
        *("\U0001f389\U0001f389 party \U0001f389", "\u12a0\u121b\u122d\u129b", "x" * 4_000),
    ],
)
def test_odd_texts_have_the_pieces_of_sentencepiece(
    library: SentencePieceProcessor, files: tuple[Path, Path], text: str
) -> None:
    assert Pieces(*files)(text) == library.encode(text)


def test_a_piece_with_a_rare_character_is_likelier_than_an_unknown_one(tmp_path: Path) -> None:
    scores = {"\u2581": -9.0, "\u2581b": -1.0, "qc": -12.0, "d": -5.0, "cd": -1.0}
    pieces = {piece: (number, score) for number, (piece, score) in enumerate(scores.items(), 3)}
    write_tokenizer(tmp_path, pieces, 0, 1, 2)
    found = Pieces(tmp_path / PIECES_FILE, tmp_path / SCORES_FILE)("bqcd")
    assert found == [pieces[piece][0] for piece in ("\u2581b", "qc", "d")]


@pytest.mark.parametrize("file", [PIECES_FILE, SCORES_FILE])
@pytest.mark.parametrize("size", [0, 1_000])
def test_a_tokenizer_that_is_cut_short_is_refused(
    files: tuple[Path, Path], tmp_path: Path, file: str, size: int
) -> None:
    folder = write_model(tmp_path, table_model())
    (folder / file).write_bytes((folder / file).read_bytes()[:size])
    with pytest.raises(SemanticModelError, match=r"tokenizer\.marisa: "):
        OnnxEncoder(folder, str(folder))
