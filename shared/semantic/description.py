"""Folder of a sentence model: its files, and the description of what they need.

A folder has ``model.onnx``, ``tokenizer.json`` (of the library tokenizers) and ``mcp-lucene.json``,
for example::

    {"dimensions": 384, "pooling": "mean", "max_tokens": 512, "languages": [],
     "query_prefix": "query: ", "passage_prefix": "passage: "}
"""

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from shared.errors import SemanticModelError
from shared.messages import reason_of
from shared.semantic.sentence_model import SentenceModel

MODEL_FILE: Final = "model.onnx"
TOKENIZER_FILE: Final = "tokenizer.json"
DESCRIPTION_FILE: Final = "mcp-lucene.json"

_MAX_BYTES: Final = 2_000_000_000
"""Maximum size of a file, in bytes; the format of ONNX files allows 2 GB."""

_KEYS: Final = {
    "dimensions": int,
    "query_prefix": str,
    "passage_prefix": str,
    "pooling": str,
    "max_tokens": int,
    "languages": list,
}
"""Keys of a description with the types of their values."""


def describe(folder: Path, name: str) -> tuple[SentenceModel, bytes]:
    """Return the model in a folder, and its ONNX file.

    Args:
        folder: the folder.
        name: the model as it was named.

    Raises:
        SemanticModelError: a file is missing or too large, or the description is wrong.
    """
    contents = {file: _read(folder / file, name) for file in _files()}
    values = _description(contents[DESCRIPTION_FILE], name)
    total = hashlib.sha256()
    for content in contents.values():
        total.update(hashlib.sha256(content).digest())
    try:
        languages = tuple(map(str, values.pop("languages", [])))
        model = SentenceModel(name, total.hexdigest(), languages=languages, **values)
    except (TypeError, ValueError) as error:
        raise SemanticModelError(name, f"{DESCRIPTION_FILE}: {error}") from error
    return model, contents[MODEL_FILE]


def _files() -> tuple[str, ...]:
    return MODEL_FILE, TOKENIZER_FILE, DESCRIPTION_FILE


def _read(file: Path, name: str) -> bytes:
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise SemanticModelError(name, f"{file.name} is larger than 2 GB")
        return file.read_bytes()
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
        if key not in _KEYS:
            raise SemanticModelError(name, f'{DESCRIPTION_FILE} has the unknown key "{key[:40]}"')
        if not isinstance(value, _KEYS[key]) or isinstance(value, bool):
            expected = {int: "a whole number", str: "a text", list: "a list"}[_KEYS[key]]
            raise SemanticModelError(
                name, f'{DESCRIPTION_FILE}: the value of "{key}" should be {expected}'
            )
    return values
