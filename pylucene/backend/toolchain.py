"""Requirements of the machine, checked before anything is downloaded."""

import importlib.util
import sysconfig

from . import platforms
from .errors import BuildError


def require() -> None:
    """Check that this machine can build PyLucene.

    Raises:
        BuildError: the platform is not Linux with glibc, Python has no global interpreter lock, or
            ensurepip is missing.
    """
    platforms.here()
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise BuildError(
            "PyLucene needs a Python with the global interpreter lock: one without it has no "
            "stable ABI"
        )
    if importlib.util.find_spec("ensurepip") is None:
        raise BuildError(
            "PyLucene needs Python's ensurepip module: install it "
            "(Debian/Ubuntu: apt install python3-venv)"
        )
