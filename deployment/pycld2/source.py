"""The source distribution of pycld2: its pin, what of it is compiled, and its metadata."""

import re
from pathlib import Path
from typing import Final

from backend.environment import Environment
from backend.errors import BuildError

REQUIREMENTS: Final = Path(__file__).with_name("requirements.txt")

LABEL: Final = "abi3"
"""The local part of the version: installers prefer such a wheel to the published ones, and the
package index takes none, so that nobody takes it for one of its authors."""


def download(environment: Environment, folder: Path) -> Path:
    """Download and unpack it.

    Args:
        environment: the build environment of PyLucene.
        folder: where to.

    Returns:
        The folder of the sources.

    Raises:
        BuildError: it could not be downloaded, or has another hash than the pinned one.
    """
    return environment.download_source(REQUIREMENTS, folder)


def compiled(source: Path) -> list[Path]:
    """Return the files that its setup.py compiles, which are not all.

    Raises:
        BuildError: setup.py names them in another way than expected.
    """
    text = (source / "setup.py").read_text("utf-8")
    files = [source / "cld2" / "internal" / name for name in re.findall(r'"(\w+\.cc)"', text)]
    files += [source / name for name in re.findall(r'"(bindings/\w+\.cc)"', text)]
    if len(files) < len(re.findall(r"\w+\.cc\b", text)) or not all(map(Path.is_file, files)):
        raise BuildError(f"the files that {source.name} compiles are not where they were")
    return files


def metadata(source: Path, licence: str) -> tuple[str, str]:
    """Return the version of the wheels, and their file METADATA.

    Args:
        source: the folder of the sources.
        licence: a file of licences that the wheels have beside its own.

    Raises:
        BuildError: the metadata is not as expected.
    """
    text = (source / "PKG-INFO").read_text("utf-8")
    version = source.name.removeprefix("pycld2-")
    own = "\nLicense-File: LICENSE\n"
    if f"\nVersion: {version}\n" not in text or own not in text:
        raise BuildError(f"{source.name} has other metadata than expected")
    labelled = f"{version}+{LABEL}"
    text = text.replace(f"\nVersion: {version}\n", f"\nVersion: {labelled}\n", 1)
    return labelled, text.replace(own, f"{own}License-File: {licence}\n", 1)
