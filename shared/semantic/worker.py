"""Work of a process that embeds passages; it imports no Java."""

import os
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from shared.semantic.models import encoder_of
from shared.semantic.passages import key_of
from shared.semantic.sentence_model import SentenceModel

if TYPE_CHECKING:
    from shared.semantic.encoder import Encoder


def prepare() -> None:
    """Keep NumPy from starting a thread for each core, with memory for each."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def values_of(model: SentenceModel, passages: Sequence[str]) -> list[bytes]:
    """Return the value of each passage as it is stored: its key and, if it has one, its vector.

    Args:
        model: the model of the index.
        passages: the passages.

    Raises:
        SemanticModelError: the model is missing or failed.
        ExtraMissingError: a library is not installed.
    """
    encoder = _encoder(model)
    from shared.semantic.vectors import quantized

    vectors = encoder.passages(passages)
    return [
        key_of(passage) + (b"" if vector is None else quantized(vector))
        for passage, vector in zip(passages, vectors, strict=True)
    ]


@cache
def _encoder(model: SentenceModel) -> "Encoder":
    return encoder_of(model)
