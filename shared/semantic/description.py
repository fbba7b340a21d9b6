"""Folder of a sentence model: its files, and the description of what they need.

A folder has ``model.onnx``, ``tokenizer.json`` (of the library tokenizers) and ``mcp-lucene.json``,
for example::

    {"dimensions": 384, "pooling": "mean", "max_tokens": 512, "languages": [],
     "query_prefix": "query: ", "passage_prefix": "passage: "}

A key ``sha256`` may have the hashes of the other two files, which are then compared.
"""

import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from shared.errors import SemanticModelError
from shared.messages import reason_of
from shared.semantic.sentence_model import SentenceModel

MODEL_FILE: Final = "model.onnx"
TOKENIZER_FILE: Final = "tokenizer.json"
DESCRIPTION_FILE: Final = "mcp-lucene.json"

FILES: Final = (MODEL_FILE, TOKENIZER_FILE, DESCRIPTION_FILE)
"""Names of the files of a folder."""

MAX_FILE_BYTES: Final = 2_000_000_000
"""Maximum size of a file, in bytes; the format of ONNX files allows 2 GB."""

_KEYS: Final = {
    "dimensions": int,
    "query_prefix": str,
    "passage_prefix": str,
    "pooling": str,
    "max_tokens": int,
    "languages": list,
    "sha256": dict,
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
    contents = {file: _read(folder / file, name) for file in FILES}
    values = _description(contents[DESCRIPTION_FILE], name)
    for file, expected in values.pop("sha256", {}).items():
        if hashlib.sha256(contents.get(file, b"")).hexdigest() != expected:
            raise SemanticModelError(
                name,
                f"{file[:80]} does not have the hash in {DESCRIPTION_FILE}",
                "remove it, and install it again",
            )
    total = hashlib.sha256()
    for content in contents.values():
        total.update(hashlib.sha256(content).digest())
    try:
        languages = tuple(map(str, values.pop("languages", [])))
        model = SentenceModel(name, total.hexdigest(), languages=languages, **values)
    except (TypeError, ValueError) as error:
        raise SemanticModelError(name, f"{DESCRIPTION_FILE}: {error}") from error
    return model, contents[MODEL_FILE]


def write_folder(target: Path, files: Mapping[str, bytes], name: str) -> None:
    """Write the files of a model into a folder, which appears with all of them or not at all.

    Args:
        target: the folder.
        files: the files by name.
        name: the model as it was named.

    Raises:
        SemanticModelError: the file system refuses to write.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".writing-") as temporary:
            made = Path(temporary) / "model"
            made.mkdir()
            for file, content in files.items():
                (made / file).write_bytes(content)
            try:
                made.rename(target)
            except OSError:
                # Another process was faster, or an earlier one was stopped and left a part.
                if not all((target / file).is_file() for file in files):
                    for file in files:
                        os.replace(made / file, target / file)  # noqa: PTH105 - an existing one, too
    except OSError as error:
        raise SemanticModelError(
            name, f"it cannot be written to {target} ({reason_of(error)})"
        ) from error


def _read(file: Path, name: str) -> bytes:
    try:
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):
            raise SemanticModelError(name, f"{file.name} is not a regular file")
        if status.st_size > MAX_FILE_BYTES:
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
            expected = {int: "a whole number", str: "a text", list: "a list", dict: "a table"}[
                _KEYS[key]
            ]
            raise SemanticModelError(
                name, f'{DESCRIPTION_FILE}: the value of "{key}" should be {expected}'
            )
    return values
