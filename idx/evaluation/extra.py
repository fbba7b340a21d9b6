"""Check for the libraries of the optional extra for evaluation."""

from importlib.util import find_spec
from typing import Final

from shared.errors import ExtraMissingError

LIBRARIES: Final = ("ir_measures", "matplotlib", "numpy", "pytrec_eval")


def check_extra() -> None:
    """Check for the libraries before any lengthy work.

    Raises:
        ExtraMissingError: a library is not installed.
    """
    for library in LIBRARIES:
        if find_spec(library) is None:
            raise ExtraMissingError("idx eval", "evaluation", library)
