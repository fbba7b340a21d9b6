"""The build backend of PyLucene: the hooks that PEP 517 describes.

It runs on the standard library alone. What it needs beyond that goes into an environment of
its own (`environment`), so a frontend has nothing to install before it.
"""

import sys
from pathlib import Path

# An older pip looks at requires-python only after it has asked the backend.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit("pylucene: error: PyLucene needs Python 3.11 or newer, not " + sys.version.split()[0])

from . import archive, wheel
from .console import one_sentence
from .wheel import ConfigSettings

__all__ = ["build_sdist", "build_wheel"]


def build_wheel(
    wheel_directory: str,
    config_settings: ConfigSettings | None = None,
    metadata_directory: str | None = None,  # noqa: ARG001 - part of the hook, never given to us
) -> str:
    """Put the wheel into `wheel_directory`, built now or taken from the cache.

    Returns:
        The file name of the wheel.

    Raises:
        SystemExit: it cannot be built; its text is one sentence that says why.
    """
    with one_sentence():
        return wheel.obtain(wheel.parse_options(config_settings), Path(wheel_directory)).name


def build_sdist(sdist_directory: str, config_settings: ConfigSettings | None = None) -> str:
    """Put the source distribution into `sdist_directory`; its wheel is the wheel of this folder.

    Returns:
        The file name of the source distribution.

    Raises:
        SystemExit: an option is unknown or the file cannot be written; its text says why.
    """
    with one_sentence():
        wheel.parse_options(config_settings)
        return archive.write_sdist(Path(sdist_directory)).name
