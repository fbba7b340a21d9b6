"""A CPython of another platform, with the packages that the project and its tests depend on.

Everything is pinned: CPython, as Maven has it, by a hash; the wheels by those of
``requirements.txt``; the tools that fetch and build the rest by those of PyLucene's build.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement

ROOT: Final = Path(__file__).parents[2]

_HERE: Final = Path(__file__).parent
_REQUIREMENTS: Final = ROOT / "requirements.txt"
_TOOLS: Final = ROOT / "pylucene" / "requirements" / "tools.txt"

_CPYTHON: Final = ("org.bytedeco", "cpython", "3.11.3-1.5.9")
"""Artifact of CPythons that run from a folder. Newer ones ask Wine 8 for the kind of processor in a
way that ends them."""

_FETCH: Final = """
import sys
from pathlib import Path
from jgo.maven import MavenContext
repository, group, name, version, classifier = sys.argv[1:]
context = MavenContext(repo_cache=Path(repository), local_repos=[], timeout=60)
print(context.project(group, name).at_version(version).artifact(classifier).resolve())
"""

_MARKERS: Final = {
    "python_version": "3.11",
    "python_full_version": "3.11.3",
    "implementation_name": "cpython",
    "platform_python_implementation": "CPython",
    "extra": "",
}

_BUILT: Final = ("pylucene", "pycld2")

_PIP: Final = ("-m", "pip", "--quiet", "--disable-pip-version-check")
_WHEELS: Final = (
    *("--python-version=3.11", "--implementation=cp", "--only-binary=:all:", "--no-deps"),
)


Command = tuple[str | Path, ...]


@dataclass(frozen=True)
class Target:
    """A platform that the tests run on."""

    folder: Path
    classifier: str
    sha256: str
    site_packages: Path
    tags: tuple[str, ...]
    tag: str
    markers: Mapping[str, str]
    left_out: frozenset[str]

    @property
    def python(self) -> Path:
        """The folder of CPython."""
        return self.folder / "python"

    @property
    def zig(self) -> Path:
        """The compiler among the tools."""
        return next(self.folder.glob("tools/lib/python*/site-packages/ziglang/zig"))


def key(target: Target, module: str) -> str:
    """Return a hash of all that an environment is made of."""
    digest = hashlib.sha256()
    inputs = (Path(__file__), Path(module), *sorted(_HERE.glob("*.c")), _REQUIREMENTS, _TOOLS)
    for file in (*inputs, ROOT / "pyproject.toml", *_wheels(target, ROOT / "dist")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def make(target: Target) -> None:
    """Make the environment: the tools, CPython and the packages, but not the project."""
    shutil.rmtree(target.folder, ignore_errors=True)
    target.folder.mkdir(parents=True)
    tools = target.folder / "tools"
    venv.create(tools, with_pip=True)
    python = tools / "bin" / "python"
    run(python, *_PIP, "install", "--require-hashes", "--no-deps", "-r", _TOOLS)
    _unpack_python(target, python)
    _install(target, python)


def run(*command: str | Path) -> str:
    """Run a program of this machine, and return what it prints."""
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def download_source(target: Target, requirement: str, sha256: str) -> Path:
    """Download a source distribution, and return its folder."""
    listed = target.folder / "source.txt"
    listed.write_text(f"{requirement} --hash=sha256:{sha256}", "ascii")
    folder = target.folder / "sources"
    run(
        *(target.folder / "tools" / "bin" / "python", *_PIP, "download", "--no-deps"),
        *("--no-binary=:all:", "--no-build-isolation", "--require-hashes"),
        *("--dest", folder, "-r", listed),
    )
    (archive,) = folder.glob("*.tar.gz")
    shutil.unpack_archive(archive, folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def build_project(target: Target) -> Path:
    """Build the project's wheel, and return it; once it is installed, `point_to_sources`."""
    wheels = target.folder / "project"
    hatchling = (sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory")
    subprocess.run([*hatchling, wheels], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    return next(wheels.iterdir())


def point_to_sources(target: Target, root: str) -> None:
    """Have the installed programs run the sources of this folder, which there has another name."""
    for package in ("idx", "server", "shared"):
        shutil.rmtree(target.site_packages / package)
    (target.site_packages / "project.pth").write_text(f"{root}\n", "utf-8")


def _unpack_python(target: Target, python: Path) -> None:
    artifact = (*_CPYTHON, target.classifier)
    jar = Path(run(python, "-I", "-c", _FETCH, target.folder / "maven", *artifact).splitlines()[-1])
    if (found := hashlib.sha256(jar.read_bytes()).hexdigest()) != target.sha256:
        sys.exit(f"{jar.name} has the hash {found}, not {target.sha256}")
    unpacked = target.folder / "unpacked"
    with zipfile.ZipFile(jar) as archive:
        archive.extractall(unpacked)
    (unpacked / "org" / "bytedeco" / "cpython" / target.classifier).rename(target.python)


def _install(target: Target, python: Path) -> None:
    wanted = target.folder / "requirements.txt"
    wanted.write_text("\n".join(_requirements(target)), "ascii")
    platforms = [f"--platform={tag}" for tag in target.tags]
    pip: Command = (
        *(python, *_PIP, "install", "--target", target.site_packages),
        *(*platforms, *_WHEELS),
    )
    run(*pip, "--require-hashes", "-r", wanted)
    wheels = _wheels(target, ROOT / "dist")
    if not wheels:
        folder = target.folder / "wheels"
        option = f"--config-settings=platform={target.tag}"
        run(python, *_PIP, "wheel", "--no-deps", option, "-w", folder, ROOT / "pylucene")
        build = (sys.executable, "-m", "deployment.pycld2", folder, target.tag)
        environ = os.environ | {"PYTHONPATH": str(ROOT / "pylucene")}
        subprocess.run(build, cwd=ROOT, env=environ, check=True)
        wheels = _wheels(target, folder)
    run(*pip, *wheels)


def _wheels(target: Target, folder: Path) -> list[Path]:
    """The wheels of a folder that are built here, and not in requirements.txt with their hashes."""
    return [wheel for name in _BUILT for wheel in folder.glob(f"{name}-*-{target.tag}.whl")]


def _requirements(target: Target) -> Iterator[str]:
    """Yield the requirements of the project that concern a platform, with their hashes."""
    for requirement, hashes in _pins():
        if requirement.name in target.left_out or requirement.name in _BUILT:
            continue
        if requirement.marker is None or requirement.marker.evaluate(_MARKERS | {**target.markers}):
            requirement.marker = None
            yield f"{requirement}{hashes}"


def _pins() -> Iterator[tuple[Requirement, str]]:
    for line in re.sub(r"\\\n", " ", _REQUIREMENTS.read_text("utf-8")).splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            requirement, *hashes = line.split(" --hash=")
            yield (
                Requirement(requirement.strip()),
                "".join(f" --hash={each.strip()}" for each in hashes),
            )
