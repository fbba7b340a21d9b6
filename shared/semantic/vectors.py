"""Vectors as they are stored: whole numbers of 8 bits, and comparisons with them.

A vector is multiplied so that its greatest component becomes 127, which the cosine does not notice:
against 32 bits, nothing is lost in the ranking (docs/measured/semantic.md).
"""

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from shared.errors import SemanticModelError
from shared.semantic.sentence_model import SentenceModel

_GREATEST: Final = 127

Vector: TypeAlias = npt.NDArray[np.float32]


def unit_vector(values: Any, model: SentenceModel) -> Vector:
    """Return an output of a model as a vector of length 1.

    Raises:
        SemanticModelError: it has another number of dimensions, or is not finite, or is zero.
    """
    # What is too large for 32 bits becomes infinite.
    with np.errstate(all="ignore"):
        vector = np.asarray(values, np.float32)
    if vector.shape != (model.dimensions,):
        raise SemanticModelError(
            model.name, f"its output has the shape {vector.shape}, not ({model.dimensions},)"
        )
    with np.errstate(all="ignore"):
        length = float(np.linalg.norm(vector))
    if not np.isfinite(length) or not length:
        raise SemanticModelError(model.name, "its output is not finite, or zero")
    return vector / length


def quantized(vector: Vector) -> bytes:
    """Return a vector as whole numbers of 8 bits, the greatest of which is 127."""
    greatest = float(np.abs(vector).max()) or 1.0
    return np.round(vector * (_GREATEST / greatest)).astype(np.int8).tobytes()


def unit_rows(stored: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
    """Return stored vectors, one a row, with length 1."""
    rows = stored.astype(np.float32)
    found: npt.NDArray[np.float32] = np.divide(rows, lengths_of(rows)[:, None])
    return found


def lengths_of(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return the lengths of stored vectors, one a row; 1 for one that is zero."""
    lengths: npt.NDArray[np.float32] = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return np.maximum(lengths, 1.0)


def signs(vectors: npt.NDArray[np.float32] | npt.NDArray[np.int8]) -> npt.NDArray[np.uint64]:
    """Return which components of vectors are positive, as bits, 64 in each number.

    Args:
        vectors: one vector a row.

    Returns:
        One vector a column, since columns of a few numbers are compared faster one after the other.
    """
    bits = np.packbits(vectors > 0, axis=1)
    missing = -bits.shape[1] % 8
    padded = np.ascontiguousarray(np.pad(bits, ((0, 0), (0, missing))))
    return np.ascontiguousarray(padded.view(np.uint64).T)
