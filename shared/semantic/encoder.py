"""Encoder of texts by an ONNX model in a folder, and the files of such a folder.

A folder has ``model.onnx``, perhaps with its weights in ``model.bin``, ``tokenizer.json`` (of the
library tokenizers) or the files of `Pieces`, and ``mcp-lucene.json``, for example::

    {"dimensions": 384, "pooling": "mean", "max_tokens": 512, "languages": [],
     "query_prefix": "query: ", "passage_prefix": "passage: "}

A key ``sha256`` may have the hashes of the other files, which are then compared.

One text at a time on one core is the fastest, and several processes do not disturb each other.
"""

import hashlib
import json
import unicodedata
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from io import BufferedReader
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import onnxruntime

from shared.errors import SemanticModelError
from shared.messages import reason_of
from shared.semantic.sentence_model import SentenceModel

Vector: TypeAlias = npt.NDArray[np.float32]

MODEL_FILE: Final = "model.onnx"
WEIGHTS_FILE: Final = "model.bin"
PIECES_FILE: Final = "tokenizer.marisa"
SCORES_FILE: Final = "tokenizer.bin"
TOKENIZER_FILE: Final = "tokenizer.json"
DESCRIPTION_FILE: Final = "mcp-lucene.json"

MAX_FILE_BYTES: Final = 2_000_000_000
"""Maximum size of a file, in bytes; the format of ONNX files allows 2 GB."""

MAX_CHARACTERS: Final = 4_000
"""Maximum length of a text that is embedded, in characters; no model reads more."""

_TYPES: Final[Mapping[str, tuple[type, str]]] = {
    "dimensions": (int, "a whole number"),
    "query_prefix": (str, "a text"),
    "passage_prefix": (str, "a text"),
    "pooling": (str, "a text"),
    "max_tokens": (int, "a whole number"),
    "languages": (list, "a list"),
    "unrelated": (list, "a list"),
    "sha256": (dict, "a table"),
}
"""Keys of a description with the types of their values."""

_IDS: Final = "input_ids"

_OTHER_INPUTS: Final = {"attention_mask": 1, "token_type_ids": 0}
"""Inputs that BERT-like models may have besides the tokens, and their value for each token of a
text without padding."""

_TOKEN_AXES: Final = 3
"""Axes of an output with one vector for each token: texts, tokens, dimensions."""

_MOST_UNKNOWN: Final = 0.5
"""Share of a text's tokens beyond which the tokenizer does not know its script."""

BLANK: Final = "\u2581"
"""Sign for a blank in the pieces of words, and the token before an unknown word."""

_REWRITTEN: Final = {
    **dict.fromkeys((*range(1, 9), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F, 0x9F)),
    **dict.fromkeys((0x061C, 0x200B, 0x200C, 0x200E, 0x200F, ord(BLANK), 0xFEFF, 0xFFFD), " "),
}
"""Characters that SentencePiece's normalization leaves out, or makes blanks, unlike NFKC."""

_WIDE_TILDE: Final = "\uff5e"
"""Sign of Japanese ranges, which that normalization keeps."""

_PENALTY: Final = 10.0
"""Score by which an unknown character is worse than the rarest piece, as in SentencePiece."""

_GREATEST: Final = 127
"""Greatest component of a stored vector, which fills 8 bits: the cosine does not notice."""

_UNRELATED: Final = (
    ("How is the oil filter of a tractor changed?", "The choir rehearses on Tuesday evenings."),
    ("Who wrote the minutes of the meeting?", "Whisk the egg whites until they form stiff peaks."),
    ("What does the parking permit cost?", "Glaciers retreat where summers become warmer."),
    (
        "When was the bridge built?",
        "Hold the button for five seconds to reset the router.",
    ),
    ("Which vitamins are in spinach?", "The tenant pays the deposit before moving in."),
    ("How do I cancel my subscription?", "Owls hunt at night and hear a mouse under the snow."),
    ("Why is the sky blue?", "Invoices are payable within thirty days without deduction."),
    ("Where does the train to the airport leave?", "The poet revised her sonnets for decades."),
)
"""Questions, each with a text that has nothing to do with any of them."""


class Encoder(Protocol):
    """Encoder of texts to vectors of length 1."""

    @property
    def model(self) -> SentenceModel:
        """The model."""

    def query(self, text: str) -> Vector | None:
        """Return the vector of a query; None if the model knows nothing of its script."""

    def passages(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """Return the vector of each text; None if the model knows nothing of its script."""


class OnnxEncoder:
    """Encoder by a model in a folder."""

    def __init__(self, folder: Path, name: str, *, is_ours: bool = False) -> None:
        self.model = described(folder, name, is_ours=is_ours)
        self._tokens = _tokenizer(folder, self.model)
        self._session = _session(folder / MODEL_FILE, name)
        self._inputs = [one.name for one in self._session.get_inputs()]
        if unknown := set(self._inputs) - {_IDS, *_OTHER_INPUTS}:
            raise SemanticModelError(name, f"{MODEL_FILE} has unknown inputs: {min(unknown)}")

    def query(self, text: str) -> Vector | None:
        """Return the vector of a query; see `Encoder`."""
        return self._vector(self.model.query_prefix, text)

    def passages(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return the vector of each text; see `Encoder`."""
        return [self._vector(self.model.passage_prefix, text) for text in texts]

    def _vector(self, prefix: str, text: str) -> Vector | None:
        try:
            # A tokenizer takes no half of a surrogate pair.
            ids = self._tokens(prefix, text[:MAX_CHARACTERS].encode(errors="replace").decode())
            if not ids:
                return None
            tokens = np.array([ids], np.int64)
            given = {
                name: tokens if name == _IDS else np.full_like(tokens, _OTHER_INPUTS[name])
                for name in self._inputs
            }
            output = np.asarray(self._session.run(None, given)[0])
        except Exception as error:  # the libraries have no base class of their errors
            raise SemanticModelError(self.model.name, f"it failed: {_short(error)}") from error
        with np.errstate(all="ignore"):
            return unit_vector(self._pooled(output), self.model)

    def _pooled(self, output: Any) -> Any:
        if output.ndim == _TOKEN_AXES and self.model.pooling != "none":
            return output[0].mean(axis=0) if self.model.pooling == "mean" else output[0, 0]
        return output[0] if output.ndim > 1 else output


def measured(encoder: Encoder) -> SentenceModel:
    """Return the model of an encoder with the cosines of unrelated texts."""
    queries = [encoder.query(question) for question, _ in _UNRELATED]
    passages = encoder.passages([text for _, text in _UNRELATED])
    rows = [vector for vector in (*queries, *passages) if vector is not None]
    if len(rows) < 2 * len(_UNRELATED):
        raise SemanticModelError(encoder.model.name, "it makes no vectors of English texts")
    cosines = np.array(rows[: len(_UNRELATED)]) @ np.array(rows[len(_UNRELATED) :]).T
    deviation = max(0.001, float(cosines.std()))
    return replace(encoder.model, unrelated=(round(float(cosines.mean()), 4), round(deviation, 4)))


def unit_vector(values: Any, model: SentenceModel) -> Vector:
    """Return an output of a model as a vector of length 1."""
    # What is too large for 32 bits becomes infinite.
    with np.errstate(all="ignore"):
        vector = np.asarray(values, np.float32)
        if vector.shape != (model.dimensions,):
            raise SemanticModelError(
                model.name, f"its output has the shape {vector.shape}, not ({model.dimensions},)"
            )
        length = float(np.linalg.norm(vector))
    if not np.isfinite(length) or not length:
        raise SemanticModelError(model.name, "its output is not finite, or zero")
    return vector / length


def quantized(vector: Vector) -> bytes:
    """Return a vector as whole numbers of 8 bits, the greatest of which is 127."""
    greatest = float(np.abs(vector).max()) or 1.0
    return np.round(vector * (_GREATEST / greatest)).astype(np.int8).tobytes()


def described(folder: Path, name: str, *, is_ours: bool = False) -> SentenceModel:
    """Return the model in a folder, by its description and the hashes of its files."""
    with _opened(folder / DESCRIPTION_FILE, name) as opened:
        content = opened.read()
    values = _description(content, name)
    expected = values.pop("sha256", {})
    total = hashlib.sha256(content)
    weights = [WEIGHTS_FILE] if (folder / WEIGHTS_FILE).exists() else []
    tokenizer = (PIECES_FILE, SCORES_FILE) if _has_pieces(folder) else (TOKENIZER_FILE,)
    for file in (MODEL_FILE, *weights, *tokenizer):
        found = expected.get(file) if is_ours else None
        if found is None:
            with _opened(folder / file, name) as opened:
                found = hashlib.file_digest(opened, "sha256").hexdigest()
        if found != expected.get(file, found):
            raise SemanticModelError(
                name,
                f"{file} does not have the hash in {DESCRIPTION_FILE}",
                "remove it, and install it again",
            )
        total.update(bytes.fromhex(found))
    try:
        lists = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
        return SentenceModel(name, total.hexdigest(), **{**values, **lists})
    except (TypeError, ValueError) as error:
        raise SemanticModelError(name, f"{DESCRIPTION_FILE}: {error}") from error


@contextmanager
def _opened(file: Path, name: str) -> Iterator[BufferedReader]:
    """Lend a file of a model, opened for reading."""
    try:
        if not file.is_file():
            raise SemanticModelError(name, f"{file} is missing, or not a regular file")
        if file.stat().st_size > MAX_FILE_BYTES:
            raise SemanticModelError(name, f"{file.name} is larger than 2 GB")
        with file.open("rb") as opened:
            yield opened
    except OSError as error:
        raise SemanticModelError(name, f"{file}: {reason_of(error)}") from error


def _description(content: bytes, name: str) -> dict[str, Any]:
    try:
        values = json.loads(content)
    except ValueError as error:
        raise SemanticModelError(name, f"{DESCRIPTION_FILE} is not JSON ({error})") from error
    if not isinstance(values, dict) or "dimensions" not in values:
        raise SemanticModelError(name, f'{DESCRIPTION_FILE} has no "dimensions"')
    for key, value in values.items():
        if key not in _TYPES:
            raise SemanticModelError(
                name,
                f'{DESCRIPTION_FILE} has the unknown key "{key[:40]}"',
                "if the model is newer than this software, upgrade",
            )
        kind, words = _TYPES[key]
        if not isinstance(value, kind) or isinstance(value, bool):
            raise SemanticModelError(
                name, f'{DESCRIPTION_FILE}: the value of "{key}" should be {words}'
            )
    return values


def _has_pieces(folder: Path) -> bool:
    return (folder / PIECES_FILE).is_file()


def _tokenizer(folder: Path, model: SentenceModel) -> Any:
    """Return a function from a prefix and a text to tokens, none if its script is unknown."""
    has_pieces = _has_pieces(folder)
    file, make = (PIECES_FILE, _pieces) if has_pieces else (TOKENIZER_FILE, _tokens)
    try:
        return make(folder / file, model.max_tokens)
    except Exception as error:  # the libraries have no base class of their errors
        raise SemanticModelError(model.name, f"{file}: {_short(error)}") from error


class Pieces:
    """Tokenizer that divides a text into its most likely pieces (Kudo 2018), as SentencePiece does.

    SentencePiece itself would take half a second and 57 MB for the 250,000 pieces of e5. Here they
    are the keys of a trie. Another file has numbers of 32 bits: the tokens of the beginning, of the
    end and of what is unknown, and the length of the longest piece in characters; then the token of
    each piece, by its place in the trie; and then the logarithms of their probabilities, as floats.
    """

    def __init__(self, trie: Path, scores: Path) -> None:
        from marisa_trie import Trie

        self._trie = Trie()
        self._trie.mmap(str(trie))
        head, self._tokens, self._scores = array("i"), array("i"), array("f")
        with scores.open("rb") as file:
            head.fromfile(file, 4)
            for values in (self._tokens, self._scores):
                values.fromfile(file, len(self._trie))
        self.first, self.last, self.unknown, self._longest = head
        self.blank = self._tokens[self._trie[BLANK]]
        self._rare = min(self._scores) - _PENALTY

    def __call__(self, text: str) -> list[int]:
        """Return the tokens of a text; unknown characters in a row are one."""
        text = _normalized(text)
        end = len(text)
        best = [0.0] + [float("-inf")] * end  # score of the best pieces up to each position
        last = [(0, 0)] * (end + 1)  # where the last one of them begins, and its token
        for begin in range(end):
            score = best[begin]
            unknown = score + self._rare
            if unknown > best[begin + 1]:
                best[begin + 1], last[begin + 1] = unknown, (begin, self.unknown)
            ahead = text[begin : begin + self._longest]
            for piece, key in self._trie.iter_prefixes_with_ids(ahead):
                after, with_piece = begin + len(piece), score + self._scores[key]
                if with_piece > best[after]:
                    best[after], last[after] = with_piece, (begin, self._tokens[key])
        found: list[int] = []
        while end:
            end, token = last[end]
            if token != self.unknown or found[-1:] != [token]:
                found.append(token)
        return found[::-1]


def _normalized(text: str) -> str:
    """Return a text as SentencePiece normalizes it for XLM-RoBERTa, a blank before each word."""
    parts = text.translate(_REWRITTEN).split(_WIDE_TILDE)
    words = _WIDE_TILDE.join(unicodedata.normalize("NFKC", part) for part in parts).split()
    return "".join(f"{BLANK}{word}" for word in words)


def _pieces(file: Path, max_tokens: int) -> Any:
    pieces = Pieces(file, file.with_name(SCORES_FILE))

    def ids(prefix: str, text: str) -> list[int]:
        before, found = pieces(prefix), pieces(prefix + text)
        is_known = found and _is_known(found[len(before) :], pieces.unknown, pieces.blank)
        return [pieces.first, *found[: max_tokens - 2], pieces.last] if is_known else []

    return ids


def _tokens(file: Path, max_tokens: int) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    # The file may cut at another length, or fill up to one.
    tokenizer.enable_truncation(max_tokens)
    tokenizer.no_padding()
    named = getattr(tokenizer.model, "unk_token", None)
    unknown = tokenizer.token_to_id(named) if named else None
    blank = tokenizer.token_to_id(BLANK)

    def ids(prefix: str, text: str) -> list[int]:
        own = tokenizer.encode(text, add_special_tokens=False).ids
        found: list[int] = tokenizer.encode(prefix + text).ids
        return found if _is_known(own, unknown, blank) else []

    return ids


def _is_known(tokens: Sequence[int], unknown: int | None, blank: int | None) -> bool:
    telling = [token for token in tokens if token != blank]
    return unknown is None or telling.count(unknown) <= _MOST_UNKNOWN * len(telling)


def _session(file: Path, name: str) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # Threads that spin while they wait would halve the rate of two processes.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Errors are reported by exceptions; warnings about a graph help nobody.
    options.log_severity_level = 4
    try:
        # Of a file's content it would keep a copy. It opens no file outside the folder.
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library has no base class of its errors
        raise SemanticModelError(name, f"{MODEL_FILE}: {_short(error)}") from error


def _short(error: Exception) -> str:
    """Return the beginning of a library's message."""
    return " ".join(str(error).split())[:200]
