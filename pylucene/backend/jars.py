"""The jars of jgo.lock.toml and the headers of CPython: downloaded once, and checked by sha256.

Jars are checked every time. The headers are pinned, so that none need be installed and all builds
use the same.
"""

import hashlib
import shutil
import tempfile
import tomllib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from . import cache
from .compiler import Headers
from .console import BuildError, run, say
from .platforms import Platform
from .source import ROOT

HEADERS = ROOT / "requirements" / "headers.toml"

_DOWNLOAD = Path(__file__).with_name("inside") / "download.py"


@dataclass(frozen=True)
class Artifact:
    """One locked Maven artifact; the classifier tells apart files of one version."""

    group: str
    name: str
    version: str
    sha256: str
    classifier: str = ""

    @property
    def coordinates(self) -> str:
        """The artifact as Maven writes it, `group:name:version` and `:classifier` if it has one."""
        parts = (self.group, self.name, self.version, self.classifier)
        return ":".join(part for part in parts if part)

    @property
    def path(self) -> Path:
        """Where the jar is, or will be, in the cache: the layout of every Maven repository."""
        folder = Path(*self.group.split("."), self.name, self.version)
        stem = "-".join(part for part in (self.name, self.version, self.classifier) if part)
        return cache.folder() / "maven" / folder / f"{stem}.jar"


def locked(lockfile: Path = ROOT / "jgo.lock.toml") -> list[Artifact]:
    """Read the lock file: every artifact the wheel bundles, dependencies included."""
    with lockfile.open("rb") as file:
        entries = tomllib.load(file)["dependencies"]
    return [Artifact(e["groupId"], e["artifactId"], e["version"], e["sha256"]) for e in entries]


def ensure(python: Path, artifacts: Sequence[Artifact]) -> None:
    """Download what the cache does not hold, and check all of it.

    Call it with the cache locked.
    """
    missing = [artifact for artifact in artifacts if not _intact(artifact)]
    if missing:
        say(f"downloading {len(missing)} jars")
        coordinates = [artifact.coordinates for artifact in missing]
        run(
            (python, "-I", _DOWNLOAD, cache.folder() / "maven", *coordinates),
            "a jar could not be downloaded: the words above say which and why",
        )
    for artifact in missing:
        verify(artifact)


def verify(artifact: Artifact) -> None:
    """Check a downloaded jar; one that is not the locked one is removed."""
    found = _sha256(artifact.path)
    if found != artifact.sha256:
        artifact.path.unlink()
        raise BuildError(
            f"{artifact.path.name} is not the locked file and was removed: its sha256 is "
            f"{found}, the pinned one is {artifact.sha256}"
        )


def _intact(artifact: Artifact) -> bool:
    """Whether the cache holds the jar; the rest of a broken download is removed."""
    if artifact.path.exists() and _sha256(artifact.path) != artifact.sha256:
        artifact.path.unlink()
    return artifact.path.exists()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def headers(python: Path, platform: Platform) -> Headers:
    """Download the headers for a platform unless they are in the cache already.

    Call it with the cache locked.
    """
    with HEADERS.open("rb") as file:
        pinned = tomllib.load(file)["windows" if platform.system == "win32" else "unix"]
    members = {name: pinned.pop(name) for name in ("headers", "library") if name in pinned}
    artifact = Artifact(**pinned)
    folder = cache.folder() / "headers" / artifact.sha256
    if not folder.exists():
        ensure(python, [artifact])
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
