"""The home of OpenSearch nodes, made of the jars of jars.lock.toml: downloaded once per machine."""

import hashlib
import shutil
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import platformdirs

LOCK: Final = Path(__file__).with_name("jars.lock.toml")
ENVIRONMENT: Final = Path(__file__).with_name(".venv")

VERSION: Final = "3.8.0"

_PLUGINS: Final = {
    "transport-netty4": ("org.opensearch.transport.Netty4ModulePlugin", ""),
    "analysis-common": (
        "org.opensearch.analysis.common.CommonAnalysisModulePlugin",
        "lang-painless",
    ),
    "lang-painless": ("org.opensearch.painless.PainlessModulePlugin", ""),
    "reindex": ("org.opensearch.index.reindex.ReindexModulePlugin", ""),
}
"""The class of each module of OpenSearch, and the module that it extends."""


class UnavailableError(Exception):
    """The jars of OpenSearch cannot be had on this machine."""


@dataclass(frozen=True)
class Jar:
    """A locked jar, and the folder of the home that it belongs into."""

    folder: str
    group: str
    name: str
    version: str
    sha256: str

    @property
    def coordinates(self) -> str:
        return f"{self.group}:{self.name}:{self.version}"

    def path(self, repository: Path) -> Path:
        """Return its place in a local Maven repository."""
        folder = repository.joinpath(*self.group.split("."), self.name, self.version)
        return folder / f"{self.name}-{self.version}.jar"


def home() -> Path:
    """Return the folder of OpenSearch, which every user can read, making it at first.

    Raises:
        UnavailableError: a jar cannot be downloaded, or is not the locked one.
    """
    cache = platformdirs.user_cache_path("mcp-lucene") / "opensearch"
    digest = hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]
    made = cache / f"home-{VERSION}-{digest}"
    if made.is_dir():
        return made
    jars = [Jar(**entry) for entry in tomllib.loads(LOCK.read_text())["jars"]]
    repository = cache / "maven"
    _download([jar for jar in jars if not jar.path(repository).exists()], repository)
    unfinished = cache / f"home-{VERSION}-{digest}.new"
    shutil.rmtree(unfinished, ignore_errors=True)
    for jar in jars:
        file = jar.path(repository)
        if hashlib.sha256(file.read_bytes()).hexdigest() != jar.sha256:
            file.unlink()
            raise UnavailableError(f"{jar.coordinates} is not the locked file, and was removed")
        (unfinished / jar.folder).mkdir(parents=True, exist_ok=True)
        (unfinished / jar.folder / file.name).hardlink_to(file)
    (unfinished / "bin").mkdir()
    for name, (plugin, extended) in _PLUGINS.items():
        (unfinished / "modules" / name / "plugin-descriptor.properties").write_text(
            f"description={name}\nversion={VERSION}\nname={name}\nclassname={plugin}\n"
            f"java.version=21\nopensearch.version={VERSION}\ncustom.foldername=\n"
            f"extended.plugins={extended}\nhas.native.controller=false\n"
        )
    unfinished.rename(made)
    return made


def _download(jars: list[Jar], repository: Path) -> None:
    if not jars:
        return
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        raise UnavailableError("make opensearch has not installed jgo, which downloads them")
    repository.mkdir(parents=True, exist_ok=True)
    script = Path(__file__).with_name("download.py")
    files = map(str, (python, "-I", script, repository))
    command = [*files, *(jar.coordinates for jar in jars)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UnavailableError(done.stderr.strip().splitlines()[-1])
