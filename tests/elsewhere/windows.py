"""Windows' CPython under Wine, with the project and all that it depends on, in ``build/windows``.

It is made anew when something that it is made of changes. Wine 8 lacks `ProcessPrng`, and this
CPython the DLL of the stable ABI; both are built here.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from deployment.bundle.python import write_stable_abi
from tests.elsewhere import packages
from tests.elsewhere.packages import ROOT, Target

_FOLDER: Final = ROOT / "build" / "windows"
_PREFIX: Final = _FOLDER / "prefix"
_READY: Final = _FOLDER / "ready"
_WINE: Final = shutil.which("wine") or ""
_HERE: Final = Path(__file__).parent

_TARGET: Final = Target(
    folder=_FOLDER,
    classifier="windows-x86_64",
    sha256="3263a50b256447bb7b9e604d6587627e419891370fc33b94469e6a06ff4de834",
    site_packages=_FOLDER / "python" / "lib" / "site-packages",
    tags=("win_amd64",),
    tag="win_amd64",
    markers={
        "sys_platform": "win32",
        "platform_system": "Windows",
        "os_name": "nt",
        "platform_machine": "AMD64",
    },
    # NumPy calls functions of complex numbers that Wine 8 lacks, which ends the process.
    left_out=frozenset({"bm25s", "contourpy", "ir-measures", "matplotlib", "numpy", "scipy"}),
)
_PYTHON: Final = _TARGET.python / "python.exe"


def ensure() -> None:
    """Make the environment unless it is there."""
    if not _WINE:
        sys.exit("Wine is missing; on Debian: apt install wine wine64")
    key = packages.key(_TARGET, __file__)
    if _READY.exists() and _READY.read_text("ascii") == key:
        return
    packages.make(_TARGET)
    _make_prefix()
    _build_libraries()
    wheel = _on_windows(packages.build_project(_TARGET))
    for _ in run("-m", "pip", "install", "--no-index", "--no-deps", wheel):
        pass
    packages.point_to_sources(_TARGET, _on_windows(ROOT))
    _READY.write_text(key, "ascii")


def run(*arguments: str) -> Iterator[str]:
    """Run the environment's Python in the root of the project.

    Its streams are pipes, since this CPython does not start with the files of other systems.
    """
    command = [_WINE, str(_PYTHON), *arguments]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=_environment(),
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


def _environment() -> dict[str, str]:
    return os.environ | {
        "WINEPREFIX": str(_PREFIX),
        "WINEARCH": "win64",
        "WINEDEBUG": "-all",
        # No debugger of Wine prints the registers of a process that fails.
        "WINEDLLOVERRIDES": "winedbg.exe=d",
    }


def _on_windows(path: Path) -> str:
    """Return a path of this machine as Wine's drive Z has it."""
    return "Z:" + str(path).replace("/", "\\")


def _make_prefix() -> None:
    for command in (("wineboot", "-i"), ("winecfg", "-v", "win10")):
        subprocess.run(
            [_WINE, *command],
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )


def _build_libraries() -> None:
    compiler = (_TARGET.zig, "cc", "-target", "x86_64-windows-gnu", "-shared", "-O1")
    system = _PREFIX / "drive_c" / "windows" / "system32"
    source = _HERE / "bcryptprimitives.c"
    packages.run(*compiler, "-o", system / "bcryptprimitives.dll", source, "-ladvapi32")
    import_library = _TARGET.python / "libs" / "python311.lib"
    write_stable_abi(import_library, _TARGET.python / "python3.dll", _TARGET.zig)
