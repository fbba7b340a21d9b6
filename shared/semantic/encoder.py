"""Encoder of texts by an ONNX model in a folder.

One text at a time on one core is the fastest, and several processes do not disturb each other.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from shared.errors import SemanticModelError
from shared.semantic.description import MODEL_FILE, TOKENIZER_FILE, describe
from shared.semantic.onnx.inspection import check_safe
from shared.semantic.passages import MAX_PASSAGE_CHARACTERS
from shared.semantic.sentence_model import SentenceModel
from shared.semantic.vectors import Vector, unit_vector

_IDS: Final = "input_ids"

_OTHER_INPUTS: Final = {"attention_mask": 1, "token_type_ids": 0}
"""Inputs that BERT-like models may have besides the tokens, and their value for each token of a
text without padding."""

_TOKEN_AXES: Final = 3
"""Axes of an output with one vector for each token: texts, tokens, dimensions."""


class Encoder(Protocol):
    """Encoder of texts to vectors of length 1."""

    @property
    def model(self) -> SentenceModel:
        """The model."""

    def query(self, text: str) -> Vector:
        """Return the vector of a query.

        Raises:
            SemanticModelError: the model failed.
        """

    def passages(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """Return the vector of each passage; None for one in which the model finds no token.

        Raises:
            SemanticModelError: the model failed.
        """

    def pieces_per_word(self, text: str) -> float:
        """Return the mean number of pieces into which the tokenizer cuts a word; 0 if unknown."""


class OnnxEncoder:
    """Encoder by a model in a folder, see `shared.semantic.description`.

    Args:
        folder: the folder.
        name: the model as it was named.

    Raises:
        SemanticModelError: a file is missing, damaged, unsafe or unsuitable.
    """

    def __init__(self, folder: Path, name: str) -> None:
        described, content = describe(folder, name)
        check_safe(content, name)
        try:
            self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
            # The file may cut at another length, or fill up to one.
            self._tokenizer.enable_truncation(described.max_tokens)
            self._tokenizer.no_padding()
        except Exception as error:
            raise SemanticModelError(name, f"{TOKENIZER_FILE}: {_short(error)}") from error
        del content
        self._session = _session(folder / MODEL_FILE, name)
        self._name = name
        self._inputs = [one.name for one in self._session.get_inputs()]
        if unknown := set(self._inputs) - {_IDS, *_OTHER_INPUTS}:
            raise SemanticModelError(name, f"{MODEL_FILE} has unknown inputs: {min(unknown)}")
        self.model = described

    def query(self, text: str) -> Vector:
        """Return the vector of a query; see `Encoder`."""
        vector = self._vector(self.model.query_prefix + text)
        if vector is None:
            raise SemanticModelError(self._name, "its tokenizer makes no token of the query")
        return vector

    def passages(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return the vector of each passage; see `Encoder`."""
        return [self._vector(self.model.passage_prefix + text) for text in texts]

    def pieces_per_word(self, text: str) -> float:
        """Return the mean number of pieces into which the tokenizer cuts a word."""
        pieces = [word for word in self._encoding(text).word_ids if word is not None]
        return len(pieces) / len(set(pieces)) if pieces else 0.0

    def _encoding(self, text: str) -> Any:
        # The tokenizer reads all of a text before it cuts, and takes no half of a surrogate pair.
        readable = text[:MAX_PASSAGE_CHARACTERS].encode(errors="replace").decode()
        try:
            return self._tokenizer.encode(readable)
        except Exception as error:
            raise SemanticModelError(
                self._name, f"its tokenizer failed: {_short(error)}"
            ) from error

    def _vector(self, text: str) -> Vector | None:
        ids = self._encoding(text).ids
        if not ids:
            return None
        tokens = np.array([ids], np.int64)
        given = {
            name: tokens if name == _IDS else np.full_like(tokens, _OTHER_INPUTS[name])
            for name in self._inputs
        }
        try:
            output = np.asarray(self._session.run(None, given)[0])
        except Exception as error:
            raise SemanticModelError(self._name, f"it failed: {_short(error)}") from error
        with np.errstate(all="ignore"):
            return unit_vector(self._pooled(output), self.model)

    def _pooled(self, output: Any) -> Any:
        if output.ndim == _TOKEN_AXES and self.model.pooling != "none":
            return output[0].mean(axis=0) if self.model.pooling == "mean" else output[0, 0]
        return output[0] if output.ndim > 1 else output


def _session(file: Path, name: str) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # Threads that spin while they wait would halve the rate of two processes.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Errors are reported by exceptions; warnings about a graph help nobody.
    options.log_severity_level = 4
    try:
        # Of a file's content it would keep a copy, 23 MB of minilm.
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise SemanticModelError(name, f"{MODEL_FILE}: {_short(error)}") from error


def _short(error: Exception) -> str:
    """Return the beginning of a library's message."""
    return " ".join(str(error).split())[:200]
