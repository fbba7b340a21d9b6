"""Sentence models by name: where their files are, and what encodes with them."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from shared.errors import ExtraMissingError, SemanticModelError
from shared.semantic.sentence_model import SentenceModel
from shared.settings.defaults import DEFAULT_SENTENCE_MODEL, MODEL_CACHE_VARIABLE

if TYPE_CHECKING:
    from shared.semantic.encoder import Encoder

EXTRA: Final = "semantic"

_LIBRARIES: Final = ("numpy", "onnxruntime", "tokenizers")


def missing_library() -> str | None:
    """Return the import name of a library that is not installed, without importing any."""
    return next((library for library in _LIBRARIES if find_spec(library) is None), None)


def check_extra(feature: str) -> None:
    """Check that the libraries are installed.

    Args:
        feature: the command or function that needs them.

    Raises:
        ExtraMissingError: one is not installed.
    """
    if library := missing_library():
        raise ExtraMissingError(feature, EXTRA, library)


def cache_folder() -> Path:
    """Return the folder of converted and downloaded models, in the user's cache folder."""
    if named := os.environ.get(MODEL_CACHE_VARIABLE):
        return Path(named).absolute()
    import platformdirs

    return platformdirs.user_cache_path("mcp-lucene", appauthor=False) / "models"


def needs_preparation(name: str) -> bool:
    """Return whether a model has to be converted, or downloaded before, which takes a while.

    Args:
        name: ``minilm`` or a folder.
    """
    if name != DEFAULT_SENTENCE_MODEL or missing_library():
        return False
    from shared.semantic import minilm

    return not minilm.is_converted(cache_folder())


def install(name: str) -> "Encoder":
    """Return the encoder of a model, which is converted or downloaded if it has to be.

    Args:
        name: ``minilm`` or a folder.

    Raises:
        SemanticModelError: the model is missing, damaged, unsafe or unsuitable.
        ExtraMissingError: a library is not installed.
    """
    check_extra("a sentence model")
    if name == DEFAULT_SENTENCE_MODEL:
        from shared.semantic import minilm

        if not minilm.is_converted(cache_folder()):
            minilm.convert_into(cache_folder())
    return _encoder(name)


def encoder_of(model: SentenceModel) -> "Encoder":
    """Return the encoder of the model that an index was embedded with.

    Raises:
        SemanticModelError: the model is missing or damaged, or is another one by now.
        ExtraMissingError: a library is not installed.
    """
    check_extra("search by meaning")
    encoder = _encoder(model.name)
    if not encoder.model.makes_same_vectors(model):
        raise SemanticModelError(
            model.name,
            "its files are not those that the index was embedded with",
            "embed the index again",
        )
    return encoder


def _encoder(name: str) -> "Encoder":
    """Return the encoder of a model that is there."""
    from shared.semantic.encoder import OnnxEncoder

    if name == DEFAULT_SENTENCE_MODEL:
        from shared.semantic import minilm

        folder = minilm.folder(cache_folder())
        if not minilm.is_converted(cache_folder()):
            if not minilm.is_installed():
                raise SemanticModelError(
                    name, f"it is not in the cache {cache_folder()}", "install it"
                )
            minilm.convert_into(cache_folder())
    else:
        folder = Path(name)
        if not folder.is_dir():
            raise SemanticModelError(name, "there is no such folder")
    return OnnxEncoder(folder, name)
