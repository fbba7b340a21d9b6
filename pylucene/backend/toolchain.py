"""Requirements of the machine, checked before anything is downloaded."""

import importlib.util

from . import platforms
from .errors import BuildError


def require() -> None:
    """Check that this machine can build PyLucene.

    Raises:
        BuildError: no wheel can be built for this machine or its Python, or ensurepip is missing.
    """
    platforms.here()
    if importlib.util.find_spec("ensurepip") is None:
        raise BuildError(
            "PyLucene needs Python's ensurepip module: install it "
            "(Debian/Ubuntu: apt install python3-venv)"
        )
