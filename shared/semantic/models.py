"""Sentence models by name: where their files are, and what encodes with them."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from shared.errors import ExtraMissingError, SemanticModelError
from shared.semantic.sentence_model import SentenceModel
from shared.semantic.served import ServedEncoder, installed, server_of
from shared.settings.current import sentence_model
from shared.settings.defaults import DEFAULT_SENTENCE_MODEL, MODEL_CACHE_VARIABLE, VARIABLES

if TYPE_CHECKING:
    from shared.semantic.encoder import Encoder

EXTRA: Final = "semantic"

HUB_PREFIX: Final = "hub:"
"""Beginning of the name of a model of the Hugging Face Hub."""

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
        name: the model, as for `install`.
    """
    if missing_library():
        return False
    if name.startswith(HUB_PREFIX):
        from shared.semantic import hub

        folder = hub.pinned_folder(cache_folder(), name)
        return folder is None or not folder.is_dir()
    if name != DEFAULT_SENTENCE_MODEL:
        return False
    from shared.semantic import minilm

    return not minilm.is_converted(cache_folder())


def is_named(model: SentenceModel, name: str) -> bool:
    """Check whether a name means a model; one of the hub without a revision means all of them."""
    return model.name == name or (
        name.startswith(HUB_PREFIX) and "@" not in name and model.name.startswith(f"{name}@")
    )


def install(name: str) -> "Encoder":
    """Return the encoder of a model, which is converted or downloaded if it has to be.

    Args:
        name: ``minilm``, a folder, ``hub:OWNER/NAME[@REVISION]``, or an address with a model's
            name, ``URL#MODEL``, whose server is asked for a vector.

    Raises:
        SemanticModelError: the model is missing, damaged, unsafe or unsuitable, or its server does
            not answer.
        ExtraMissingError: a library is not installed.
    """
    check_extra("a sentence model")
    if server_of(name):
        return installed(name)
    if name == DEFAULT_SENTENCE_MODEL:
        from shared.semantic import minilm

        if not minilm.is_converted(cache_folder()):
            minilm.convert_into(cache_folder())
    if name.startswith(HUB_PREFIX):
        from shared.semantic import hub

        name = hub.download_into(cache_folder(), name)
    return _encoder(name)


def check_allowed(model: SentenceModel, named: str | None = None) -> None:
    """Check that the user of this machine wants the model of an index, which may be anyone's.

    The models in the cache are compared with their hashes; a folder or a server that only the index
    names is not touched.

    Args:
        model: the model of an index.
        named: the model that the user has named just now; None for none.

    Raises:
        SemanticModelError: only the index names it.
    """
    is_cached = model.name == DEFAULT_SENTENCE_MODEL or model.name.startswith(HUB_PREFIX)
    if is_cached or model.name in {named, sentence_model()}:
        return
    server = server_of(model.name)
    would = f"texts would be sent to {server.host}" if server else "it would be read"
    raise SemanticModelError(
        model.name,
        f"{would}, which only the index names",
        f"if that is right, set {VARIABLES['semantic']}, or the setting semantic, to this model",
    )


def encoder_of(model: SentenceModel) -> "Encoder":
    """Return the encoder of the model that an index was embedded with.

    Raises:
        SemanticModelError: the model is missing or damaged, or is another one by now.
        ExtraMissingError: a library is not installed.
    """
    check_extra("search by meaning")
    if server_of(model.name):
        return ServedEncoder(model)
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
    elif name.startswith(HUB_PREFIX):
        from shared.semantic import hub

        there = hub.pinned_folder(cache_folder(), name)
        if there is None or not there.is_dir():
            raise SemanticModelError(
                name,
                f"it is not in the cache {cache_folder()}",
                "switch search by meaning on again, which downloads it",
            )
        folder = there
    else:
        folder = Path(name)
        if not folder.is_dir():
            raise SemanticModelError(name, "there is no such folder")
    return OnnxEncoder(folder, name)
