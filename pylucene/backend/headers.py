"""The headers of CPython, pinned, so that none need be installed and all builds use the same."""

import shutil
import tempfile
import tomllib
import zipfile
from pathlib import Path, PurePosixPath

from . import cache, jars
from .compiler import Headers
from .jars import Artifact
from .platforms import Platform
from .source import ROOT

PINNED = ROOT / "requirements" / "headers.toml"


def ensure(python: Path, platform: Platform) -> Headers:
    """Download the headers for a platform unless they are in the cache already.

    Call it with the cache locked.
    """
    with PINNED.open("rb") as file:
        pinned = tomllib.load(file)["windows" if platform.system == "win32" else "unix"]
    members = {name: pinned.pop(name) for name in ("headers", "library") if name in pinned}
    artifact = Artifact(**pinned)
    folder = cache.folder() / "headers" / artifact.sha256
    if not folder.exists():
        jars.ensure(python, [artifact])
        _unpack(artifact.path, tuple(members.values()), folder)
    library = members.get("library")
    python3 = folder / PurePosixPath(library).name if library else None
    return Headers(folder / "include", python3)


def _unpack(jar: Path, members: tuple[str, ...], folder: Path) -> None:
    """Unpack the headers into `include` and a library beside it, whole or not at all."""
    include, *libraries = members
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(dir=folder.parent, prefix=".") as temporary,
        zipfile.ZipFile(jar) as archive,
    ):
        unpacked = Path(temporary) / folder.name
        for name in archive.namelist():
            if name.endswith("/"):
                continue
            if name.startswith(include):
                target = unpacked / "include" / name.removeprefix(include)
            elif name in libraries:
                target = unpacked / PurePosixPath(name).name
            else:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(name))
        shutil.move(unpacked, folder)
