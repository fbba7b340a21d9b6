"""CPython of 64-bit Arm under qemu-user, with the project and its packages, in ``build/arm``.

It is made anew when something that it is made of changes. The C library is Debian's for cross
compilation. This CPython looks for zlib, which no wheel has as a library by itself, and which is
compiled here.

`python` is a script that starts the real program under qemu, since a kernel that was not told of
qemu cannot start it; programs of this machine, such as `sh`, are started as they are. For the same
reason Java cannot make a start-up cache, which it does by another process.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.elsewhere import packages
from tests.elsewhere.packages import ROOT, Target
from tests.systems import SLOW

_FOLDER: Final = ROOT / "build" / "arm"
_SYSTEM: Final = _FOLDER / "system"
_READY: Final = _FOLDER / "ready"
_QEMU: Final = shutil.which("qemu-aarch64") or ""
_LIBRARIES: Final = Path("/usr/aarch64-linux-gnu/lib")

_TARGET: Final = Target(
    folder=_FOLDER,
    classifier="linux-arm64",
    sha256="c98d023d4f79bdae2fb8973443324e48bb39e5b8f149a24e9d0317eb165d7925",
    site_packages=_FOLDER / "python" / "lib" / "python3.11" / "site-packages",
    tags=tuple(f"manylinux{version}_aarch64" for version in ("2014", "_2_17", "_2_28", "_2_34")),
    tag="manylinux_2_17_aarch64",
    markers={
        "sys_platform": "linux",
        "platform_system": "Linux",
        "os_name": "posix",
        "platform_machine": "aarch64",
    },
    # It has no wheel for this processor; what needs it is the evaluation.
    left_out=frozenset({"pytrec-eval-terrier"}),
)
_PYTHON: Final = _TARGET.python / "bin" / "python"

_ZLIB: Final = (
    "pyminizip==0.2.6",
    "0a954dd2a65fd72c8b827b83fb806fb4f301075a6ec43e207d3345ab15843a7a",
)
"""A source distribution that contains zlib, and its SHA-256."""


def ensure() -> None:
    """Make the environment unless it is there."""
    if not (_QEMU and (_LIBRARIES / "libstdc++.so.6").exists()):
        sys.exit(
            "qemu or the C library for 64-bit Arm is missing; on Debian: "
            "apt install qemu-user libc6-arm64-cross libstdc++6-arm64-cross"
        )
    key = packages.key(_TARGET, __file__)
    if _READY.exists() and _READY.read_text("ascii") == key:
        return
    packages.make(_TARGET)
    _make_starter()
    _build_zlib()
    packages.run(_PYTHON, "-m", "ensurepip", "--default-pip")
    wheel = packages.build_project(_TARGET)
    packages.run(_PYTHON, "-m", "pip", "install", "--no-index", "--no-deps", "--quiet", wheel)
    packages.point_to_sources(_TARGET, str(ROOT))
    _READY.write_text(key, "ascii")


def run(*arguments: str) -> Iterator[str]:
    """Run the environment's Python in the root of the project."""
    command = (str(_PYTHON), *arguments)
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | {SLOW: "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            yield line.rstrip()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)


def _make_starter() -> None:
    real = _PYTHON.with_name("python3.11")
    real.chmod(0o755)
    # They are copies of the real program.
    for name in ("python", "python3"):
        _PYTHON.with_name(name).unlink(missing_ok=True)
    _PYTHON.write_text(f'#!/bin/sh\nexec {_QEMU} -0 {_PYTHON} -L {_SYSTEM} {real} "$@"\n', "utf-8")
    _PYTHON.chmod(0o755)
    (_SYSTEM / "lib").mkdir(parents=True)
    for library in (*_LIBRARIES.iterdir(), _TARGET.python / "libffi.so.6"):
        (_SYSTEM / "lib" / library.name).symlink_to(library)


def _build_zlib() -> None:
    options = ("-target", "aarch64-linux-gnu.2.17", "-shared", "-fPIC", "-O2", "-w")
    zlib = next(packages.download_source(_TARGET, *_ZLIB).glob("zlib-*"))
    library = _SYSTEM / "lib" / "libz.so.1"
    zlib_options = ("-DHAVE_UNISTD_H", "-DHAVE_STDARG_H", "-Wl,-soname,libz.so.1")
    packages.run(_TARGET.zig, "cc", *options, *zlib_options, "-o", library, *zlib.glob("*.c"))
