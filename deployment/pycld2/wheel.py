"""Wheels of pycld2, compiled by Zig for the stable ABI, as PyLucene's are."""

import hashlib
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from backend import archive, cache, compiler, environment, jars
from backend.console import BuildError, say
from backend.environment import Environment
from backend.platforms import Platform
from backend.source import ROOT

REQUIREMENTS: Final = Path(__file__).with_name("requirements.txt")

LABEL: Final = "abi3"
"""The local part of the version: installers prefer such a wheel to the published ones, and the
package index takes none, so that nobody takes it for one of its authors."""


def download(environment: Environment, folder: Path) -> Path:
    """Download and unpack it."""
    return environment.download_source(REQUIREMENTS, folder)


def compiled(source: Path) -> list[Path]:
    """Return the files that its setup.py compiles, which are not all."""
    text = (source / "setup.py").read_text("utf-8")
    files = [source / "cld2" / "internal" / name for name in re.findall(r'"(\w+\.cc)"', text)]
    files += [source / name for name in re.findall(r'"(bindings/\w+\.cc)"', text)]
    if len(files) < len(re.findall(r"\w+\.cc\b", text)) or not all(map(Path.is_file, files)):
        raise BuildError(f"the files that {source.name} compiles are not where they were")
    return files


def metadata(source: Path, licence: str) -> tuple[str, str]:
    """Return the version of the wheels, and their file METADATA."""
    text = (source / "PKG-INFO").read_text("utf-8")
    version = source.name.removeprefix("pycld2-")
    own = "\nLicense-File: LICENSE\n"
    if f"\nVersion: {version}\n" not in text or own not in text:
        raise BuildError(f"{source.name} has other metadata than expected")
    labelled = f"{version}+{LABEL}"
    text = text.replace(f"\nVersion: {version}\n", f"\nVersion: {labelled}\n", 1)
    return labelled, text.replace(own, f"{own}License-File: {licence}\n", 1)


_TAG: Final = "cp311-abi3"

_FLAGS: Final = (
    *("-Icld2/internal", "-Icld2/public", "-Wno-narrowing"),
    # All that it uses beyond the stable ABI.
    "-DPyTuple_SET_ITEM=PyTuple_SetItem",
)

_COMPILER: Final = ROOT / "requirements" / "tools.txt"
_LICENCE: Final = ROOT / "licenses" / "LICENSE-mingw-w64.txt"
"""Of what the compiler links into modules for Windows."""


def obtain_all(platforms: Sequence[Platform], folder: Path) -> list[Path]:
    """Put wheels into a folder, from the cache where their inputs are known."""
    with cache.locked():
        kept = [_kept(platform) for platform in platforms]
        missing = [each for each in platforms if not any(_kept(each).glob("*.whl"))]
        if missing:
            _build(missing)
    wheels = [next(place.glob("*.whl")) for place in kept]
    return [cache.place(wheel, folder) for wheel in wheels]


def _kept(platform: Platform) -> Path:
    """The folder of the cache for a wheel, named after everything that decides its content."""
    digest = hashlib.sha256()
    ours = sorted(Path(__file__).parent.glob("*.py"))
    theirs = (Path(str(module.__file__)) for module in (compiler, archive))
    for file in (*ours, *theirs, REQUIREMENTS, jars.HEADERS, _COMPILER, _LICENCE):
        digest.update(file.read_bytes())
    digest.update(f"{platform.tag} {archive.epoch()}".encode())
    return cache.folder() / "pycld2" / digest.hexdigest()


def _build(platforms: Sequence[Platform]) -> None:
    made = environment.ensure()
    with tempfile.TemporaryDirectory(prefix="pycld2-") as temporary:
        say("downloading the sources of pycld2")
        sources = download(made, Path(temporary))
        for platform in platforms:
            say(f"compiling pycld2 for {platform.tag}")
            code = Path(temporary) / platform.tag
            cache.place(_compile(made, platform, sources, code), _kept(platform))


def _compile(made: Environment, platform: Platform, sources: Path, code: Path) -> Path:
    """Compile the sources in a folder of their own, and pack the wheel there."""
    for file in (*compiled(sources), *sources.glob("cld2/*/*.h")):
        copy = code / file.relative_to(sources)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    found = jars.headers(made.python, platform)
    module = made.compiler.build(code, "_pycld2", platform, found, _FLAGS)
    version, described = metadata(sources, _LICENCE.name)
    info = f"pycld2-{version}.dist-info"
    tag = f"{_TAG}-{platform.tag}"
    about = f"Wheel-Version: 1.0\nGenerator: mcp-lucene\nRoot-Is-Purelib: false\nTag: {tag}\n"
    files: dict[str, Path | bytes] = {
        "pycld2/__init__.py": sources / "pycld2" / "__init__.py",
        f"pycld2/{module.name}": module,
        f"{info}/METADATA": described.encode(),
        f"{info}/WHEEL": about.encode(),
        f"{info}/licenses/LICENSE": sources / "LICENSE",
        f"{info}/licenses/{_LICENCE.name}": _LICENCE,
    }
    target = code / f"pycld2-{version}-{tag}.whl"
    archive.write_wheel(target, files, f"{info}/RECORD")
    return target
