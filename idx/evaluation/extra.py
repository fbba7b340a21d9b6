"""The libraries that only an evaluation needs, which are an extra of the distribution."""

from importlib.util import find_spec
from typing import Final

from shared.errors import ExtraMissingError

LIBRARIES: Final = ("ir_measures", "matplotlib", "numpy", "pytrec_eval")


def check_extra() -> None:
    """Look for the libraries, before anything that takes time.

    Raises:
        ExtraMissingError: one is not installed.
    """
    for library in LIBRARIES:
        if find_spec(library) is None:
            raise ExtraMissingError("idx eval", "evaluation", library)
