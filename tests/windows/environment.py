"""Windows' CPython under Wine, with the project and all that it depends on.

Everything is pinned: CPython, as Maven has it, by the hash below; the wheels by those of
``requirements.txt``; the tools that fetch and build the rest by those of PyLucene's build. It is in
``build/windows``, and made anew when one of these files changes.

Wine 8 lacks `ProcessPrng`, and this CPython the DLL of the stable ABI; both are built here.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / "build" / "windows"
PYTHON: Final = FOLDER / "python" / "python.exe"
PREFIX: Final = FOLDER / "prefix"

_WINE: Final = shutil.which("wine") or ""
_HERE: Final = Path(__file__).parent
_REQUIREMENTS: Final = ROOT / "requirements.txt"
_TOOLS: Final = ROOT / "pylucene" / "requirements" / "tools.txt"
_PACKAGES: Final = PYTHON.parent / "lib" / "site-packages"
_READY: Final = FOLDER / "ready"

_CPYTHON: Final = ("org.bytedeco", "cpython", "3.11.3-1.5.9", "windows-x86_64")
_CPYTHON_HASH: Final = "3263a50b256447bb7b9e604d6587627e419891370fc33b94469e6a06ff4de834"
"""Artifact of a CPython that runs from a folder, and its SHA-256. Newer ones ask Wine 8 for the
kind of processor in a way that ends them."""

_FETCH: Final = """
import sys
from pathlib import Path
from jgo.maven import MavenContext
repository, group, name, version, classifier = sys.argv[1:]
context = MavenContext(repo_cache=Path(repository), local_repos=[], timeout=60)
print(context.project(group, name).at_version(version).artifact(classifier).resolve())
"""

_MARKERS: Final = {
    "sys_platform": "win32",
    "platform_system": "Windows",
    "os_name": "nt",
    "platform_machine": "AMD64",
    "python_version": "3.11",
    "python_full_version": "3.11.3",
    "implementation_name": "cpython",
    "platform_python_implementation": "CPython",
    "extra": "",
}

_WINDOWS_WHEELS: Final = (
    *("--platform=win_amd64", "--python-version=3.11", "--implementation=cp"),
    *("--only-binary=:all:", "--no-deps"),
)

_EXPORT: Final = re.compile(rb"__imp_(_?Py\w+)\0")


def ensure() -> None:
    """Make the environment unless it is there.

    Raises:
        SystemExit: Wine is missing, or CPython has another hash.
        subprocess.CalledProcessError: a step failed; its output says why.
    """
    if not _WINE:
        sys.exit("Wine is missing; on Debian: apt install wine wine64")
    key = _key()
    if _READY.exists() and _READY.read_text("ascii") == key:
        return
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    tools = FOLDER / "tools"
    venv.create(tools, with_pip=True)
    python = tools / "bin" / "python"
    _run(python, "-m", "pip", "install", "-q", "--require-hashes", "--no-deps", "-r", _TOOLS)
    _unpack_python(python)
    _install_packages(python)
    _make_prefix()
    zig = next(tools.glob("lib/python*/site-packages/ziglang/zig"))
    _build_libraries(zig)
    _install_project()
    _READY.write_text(key, "ascii")


def environment() -> dict[str, str]:
    """Return the variables of processes under Wine."""
    return {
        "WINEPREFIX": str(PREFIX),
        "WINEARCH": "win64",
        "WINEDEBUG": "-all",
        # No debugger of Wine prints the registers of a process that fails.
        "WINEDLLOVERRIDES": "winedbg.exe=d",
    }


def on_windows(path: Path) -> str:
    """Return a path of this machine as Wine's drive Z has it."""
    return "Z:" + str(path).replace("/", "\\")


def run(*arguments: str) -> Iterator[str]:
    """Run the environment's Python in the root of the project.

    Its streams are pipes, since this CPython does not start with the files of other systems.

    Yields:
        The lines that it prints.

    Raises:
        subprocess.CalledProcessError: it failed.
    """
    command = [_WINE, str(PYTHON), *arguments]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdin is not None
        process.stdin.close()
        assert process.stdout is not None
        for line in process.stdout:
            yield line.decode(errors="replace").rstrip()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)


def _key() -> str:
    inputs = (Path(__file__), *sorted(_HERE.glob("*.c")), _REQUIREMENTS, _TOOLS)
    digest = hashlib.sha256()
    for file in (*inputs, ROOT / "pyproject.toml"):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _run(*command: str | Path) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def _unpack_python(python: Path) -> None:
    jar = Path(_run(python, "-I", "-c", _FETCH, FOLDER / "maven", *_CPYTHON).splitlines()[-1])
    if (found := hashlib.sha256(jar.read_bytes()).hexdigest()) != _CPYTHON_HASH:
        sys.exit(f"{jar.name} has the hash {found}, not {_CPYTHON_HASH}")
    with zipfile.ZipFile(jar) as archive:
        archive.extractall(FOLDER / "unpacked")
    (FOLDER / "unpacked" / "org" / "bytedeco" / "cpython" / _CPYTHON[-1]).rename(PYTHON.parent)


def _install_packages(python: Path) -> None:
    """Install what the project and its tests depend on, for Windows."""
    wanted = FOLDER / "requirements.txt"
    wanted.write_text("\n".join(_requirements()), "ascii")
    pip = (python, "-m", "pip", "install", "-q", "--target", _PACKAGES)
    _run(*pip, *_WINDOWS_WHEELS, "--require-hashes", "-r", wanted)
    wheel = next((ROOT / "dist").glob("pylucene-*-win_amd64.whl"), None)
    if wheel is None:
        option = "--config-settings=platform=win_amd64"
        build = ("-m", "pip", "wheel", "-q", "--no-deps", option, "-w", FOLDER / "wheels")
        _run(python, *build, ROOT / "pylucene")
        wheel = next((FOLDER / "wheels").glob("pylucene-*.whl"))
    _run(*pip, *_WINDOWS_WHEELS, wheel)


def _requirements() -> Iterator[str]:
    """Yield the requirements of the project that concern Windows, with their hashes."""
    for line in _REQUIREMENTS.read_text("utf-8").replace("\\\n", " ").splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        requirement, *hashes = line.split(" --hash=")
        parsed = Requirement(requirement.strip())
        if parsed.marker is None or parsed.marker.evaluate(_MARKERS):
            parsed.marker = None
            yield " ".join([str(parsed), *(f"--hash={each.strip()}" for each in hashes)])


def _make_prefix() -> None:
    for command in (("wineboot", "-i"), ("winecfg", "-v", "win10")):
        subprocess.run(
            [_WINE, *command],
            env=os.environ | environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )


def _build_libraries(zig: Path) -> None:
    compiler = (zig, "cc", "-target", "x86_64-windows-gnu", "-shared", "-O1")
    system = PREFIX / "drive_c" / "windows" / "system32"
    source = _HERE / "bcryptprimitives.c"
    _run(*compiler, "-o", system / "bcryptprimitives.dll", source, "-ladvapi32")
    library = (PYTHON.parent / "libs" / "python311.lib").read_bytes()
    names = sorted({name.decode() for name in _EXPORT.findall(library)})
    with tempfile.TemporaryDirectory() as folder:
        exports = Path(folder, "python3.def")
        lines = ["LIBRARY python3", "EXPORTS", *(f"  {name}=python311.{name}" for name in names)]
        exports.write_text("\n".join(lines) + "\n", "ascii")
        entry = ("-nostdlib", "-Wl,--entry=DllMainCRTStartup")
        target = PYTHON.parent / "python3.dll"
        _run(*compiler, *entry, "-o", target, _HERE / "python3.c", exports)


def _install_project() -> None:
    """Install the programs, and have them run the sources of this folder."""
    wheels = FOLDER / "project"
    hatchling = (sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory")
    subprocess.run([*hatchling, wheels], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    wheel = on_windows(next(wheels.iterdir()))
    for _ in run("-m", "pip", "install", "--no-index", "--no-deps", wheel):
        pass
    for package in ("idx", "server", "shared"):
        shutil.rmtree(_PACKAGES / package)
    (_PACKAGES / "project.pth").write_text(f"{on_windows(ROOT)}\n", "utf-8")
