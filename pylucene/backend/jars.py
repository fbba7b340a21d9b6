"""The jars of jgo.lock.toml: downloaded once, and checked against their sha256 every time."""

import hashlib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import cache
from .console import BuildError, run, say
from .source import ROOT

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
