"""Weights in the format of safetensors: a header in JSON, then the tensors as they are.

See https://github.com/huggingface/safetensors#format; the package would be one more of 1.4 MB for
these lines.
"""

import json
import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from shared.errors import SemanticModelError

_LENGTH_BYTES: Final = 8
"""Size of the length before the header, in bytes."""

_TYPES: Final = {"F32": "<f4", "I64": "<i8"}
"""NumPy's type of each type of elements that sentence models have."""


def read_tensors(content: bytes, name: str) -> Mapping[str, npt.NDArray[Any]]:
    """Return the tensors of a file by name, as views of its content.

    Args:
        content: the file.
        name: the name of the file, for messages.

    Raises:
        SemanticModelError: the file is cut short, or is not one of tensors of the known types.
    """
    try:
        length = int.from_bytes(content[:_LENGTH_BYTES], "little")
        begin = _LENGTH_BYTES + length
        header = json.loads(content[_LENGTH_BYTES:begin])
        header.pop("__metadata__", None)
        return {
            key: np.frombuffer(
                content,
                _TYPES[tensor["dtype"]],
                math.prod(tensor["shape"]),
                begin + tensor["data_offsets"][0],
            ).reshape(tensor["shape"])
            for key, tensor in header.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise SemanticModelError(
            name, "it is cut short, or has no tensors of safetensors"
        ) from error
