"""Sentence models by name: where their files are, and what encodes with them."""

import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from shared.errors import ExtraMissingError, SemanticModelError
from shared.semantic import keep_to_one_thread
from shared.semantic.sentence_model import SentenceModel
from shared.semantic.served import ServedEncoder, installed, server_of
from shared.settings.current import sentence_model
from shared.settings.defaults import DEFAULT_SENTENCE_MODEL, MODEL_CACHE_VARIABLE, VARIABLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.semantic.encoder import Encoder

EXTRA: Final = "semantic"

HUB_PREFIX: Final = "hub:"
"""Beginning of the name of a model of the Hugging Face Hub."""

PACKAGES: Final = {DEFAULT_SENTENCE_MODEL: "mcp_lucene_e5", "english": "mcp_lucene_english"}
"""Packages that consist of a model, by the model's name."""

_LIBRARIES: Final = ("numpy", "onnxruntime", "marisa_trie")


def missing_library() -> str | None:
    """Return the import name of a library that is not installed, without importing any."""
    return next((library for library in _LIBRARIES if find_spec(library) is None), None)


def is_usable(name: str) -> bool:
    """Check whether a model that is a package can be used, without importing anything."""
    return missing_library() is None and find_spec(PACKAGES[name]) is not None


def check_extra(feature: str) -> None:
    """Check that the libraries are installed."""
    if library := missing_library():
        raise ExtraMissingError(feature, EXTRA, library)


def cache_folder() -> Path:
    """Return the folder of downloaded models, in the user's cache folder."""
    if named := os.environ.get(MODEL_CACHE_VARIABLE):
        return Path(named).absolute()
    import platformdirs

    return platformdirs.user_cache_path("mcp-lucene", appauthor=False) / "models"


def needs_preparation(name: str) -> bool:
    """Check whether a model has to be downloaded, which takes a while."""
    if missing_library() or not name.startswith(HUB_PREFIX):
        return False
    from shared.semantic import hub

    return hub.downloaded(cache_folder(), name) is None


def is_named(model: SentenceModel, name: str) -> bool:
    """Check whether a name means a model; one of the hub without a revision means all of them."""
    return model.name == name or (
        name.startswith(HUB_PREFIX) and "@" not in name and model.name.startswith(f"{name}@")
    )


def install(name: str) -> SentenceModel:
    """Return a model that can be used; one of the hub is downloaded if it has to be.

    It is ``e5``, ``english``, a folder, ``hub:OWNER/NAME[@REVISION]``, or an address with a model's
    name, ``URL#MODEL``, whose server is asked for a vector.
    """
    check_extra("a sentence model")
    from shared.semantic.encoder import described, measured

    if server_of(name):
        return measured(installed(name))
    if name == DEFAULT_SENTENCE_MODEL:
        return described(_folder(name), name)
    if name.startswith(HUB_PREFIX):
        from shared.semantic import hub

        name = hub.download_into(cache_folder(), name)
    return measured(_encoder(name))


def check_allowed(model: SentenceModel, named: str | None = None) -> None:
    """Check that the user of this machine wants the model of an index, which may be anyone's.

    Packages and the models in the cache are this user's; a folder or a server that only the index
    names is not touched.
    """
    is_ours = model.name in PACKAGES or model.name.startswith(HUB_PREFIX)
    if is_ours or model.name in {named, sentence_model()}:
        return
    server = server_of(model.name)
    would = f"texts would be sent to {server.host}" if server else "it would be read"
    raise SemanticModelError(
        model.name,
        f"{would}, which only the index names",
        f"if that is right, set {VARIABLES['semantic']}, or the setting semantic, to this model",
    )


def encoder_of(model: SentenceModel) -> "Encoder":
    """Return the encoder of the model that an index was embedded with."""
    check_extra("search by meaning")
    if server_of(model.name):
        return ServedEncoder(model)
    encoder = _encoder(model.name)
    if not encoder.model.makes_same_vectors(model):
        raise SemanticModelError(
            model.name,
            "its files are not those that the index was embedded with",
            "embed the index again: idx semantic on",
        )
    return encoder


def prepare_worker() -> None:
    """Leave the machine to those who work with it."""
    keep_to_one_thread()
    if hasattr(os, "nice"):
        os.nice(10)


def stored_vectors_of(model: SentenceModel, texts: "Sequence[str]") -> list[bytes]:
    """Return the vectors of texts as they are stored; none of a text without one."""
    encoder = _kept_encoder(model)
    from shared.semantic.encoder import quantized

    return [b"" if one is None else quantized(one) for one in encoder.passages(texts)]


_kept_encoder: Final = cache(encoder_of)


def _encoder(name: str) -> "Encoder":
    from shared.semantic.encoder import OnnxEncoder

    is_ours = name in PACKAGES or name.startswith(HUB_PREFIX)
    return OnnxEncoder(_folder(name), name, is_ours=is_ours)


def _folder(name: str) -> Path:
    """Return the folder of a model that is there."""
    if name in PACKAGES:
        package = find_spec(PACKAGES[name])
        if package and package.submodule_search_locations:
            return Path(package.submodule_search_locations[0])
        extra = EXTRA if name == DEFAULT_SENTENCE_MODEL else name
        raise ExtraMissingError(f"the sentence model {name}", extra, PACKAGES[name])
    if name.startswith(HUB_PREFIX):
        from shared.semantic import hub

        there = hub.downloaded(cache_folder(), name)
        if there is None:
            raise SemanticModelError(
                name,
                f"it is not in the cache {cache_folder()}",
                "switch search by meaning on again, which downloads it",
            )
        return there
    if not Path(name).is_dir():
        raise SemanticModelError(
            name,
            "there is no such model or folder",
            f"name one of: {', '.join(PACKAGES)}, a folder, hub:OWNER/NAME, or URL#MODEL",
        )
    return Path(name)
