"""What the machine must have, checked before anything is downloaded."""

import importlib.util
import os
import shlex
import shutil
import sys
import sysconfig
from pathlib import Path

from .errors import BuildError


def require() -> str:
    """Check that this machine can compile PyLucene.

    Returns:
        The command of the C++ compiler: CXX, else the one Python was built with, else g++
        or clang++.

    Raises:
        BuildError: the platform is not Linux, or the compiler, Python's headers or ensurepip
            are missing.
    """
    if sys.platform != "linux":
        raise BuildError(f"PyLucene can be built on Linux only for now, not on {sys.platform}")
    compiler = _compiler()
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        raise BuildError(
            "PyLucene needs the headers of Python (Python.h): install them "
            "(Debian/Ubuntu: apt install python3-dev; Fedora: dnf install python3-devel)"
        )
    if importlib.util.find_spec("ensurepip") is None:
        raise BuildError(
            "PyLucene needs Python's ensurepip module: install it "
            "(Debian/Ubuntu: apt install python3-venv)"
        )
    return compiler


def _compiler() -> str:
    chosen = os.environ.get("CXX", "").strip()
    if chosen and not _exists(chosen):
        raise BuildError(f"the C++ compiler that CXX names, {chosen!r}, is not on the PATH")
    # A Python built elsewhere may name a compiler that this machine does not have.
    for command in (chosen, sysconfig.get_config_var("CXX") or "", "g++", "clang++"):
        if _exists(command):
            return command
    raise BuildError(
        "PyLucene needs a C++ compiler: install g++ "
        "(Debian/Ubuntu: apt install g++; Fedora: dnf install gcc-c++)"
    )


def _exists(command: str) -> bool:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BuildError(
            f"the command of the C++ compiler, {command!r}, cannot be read ({error}): set CXX to "
            "another one"
        ) from error
    return bool(words) and shutil.which(words[0]) is not None
