"""The platforms that bundles are made for, and the Python inside each."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Platform:
    """A platform of bundles."""

    name: str
    system: str
    wheels: str
    classifier: str
    sha256: str
    python: str = "bin/python3.13"
    library: str = "lib/python3.13"


PYTHON: Final = "3.13"

ARTIFACT: Final = ("org.bytedeco", "cpython", "3.13.5-1.5.12")
"""Group, name and version of a CPython that runs from any folder. Its 3.14 has no use yet:
chardetng-py publishes wheels of it for Linux on x86-64 only."""

PLATFORMS: Final = (
    Platform(
        name="linux-x86_64",
        system="linux",
        # That of the glibc which this Python needs.
        wheels="x86_64-manylinux_2_35",
        classifier="linux-x86_64",
        sha256="50ad91aa0baa57f0235bb666b87d8bf2a44e215d28c250de1030502906af143b",
    ),
    Platform(
        name="windows-x64",
        system="win32",
        wheels="x86_64-pc-windows-msvc",
        classifier="windows-x86_64",
        sha256="cfe5502ffa7ea369be707b6d88bf68344732a7800450665080fb4267c01bfeae",
        python="python.exe",
        library="lib",
    ),
    Platform(
        name="macos-arm64",
        system="darwin",
        wheels="aarch64-apple-darwin",
        classifier="macosx-arm64",
        sha256="b9ccb29cafe9c0f9bf341fa1573ac0f112d3557c13c398115ab91926091fdc0a",
    ),
    Platform(
        name="macos-x86_64",
        system="darwin",
        wheels="x86_64-apple-darwin",
        classifier="macosx-x86_64",
        sha256="0c79e881075b8d7752be384a429a8b53d14ba00d939a7d04074deb1b1d3db19c",
    ),
)
"""Linux on Arm is missing: the newest such CPython for it before 3.14 is 3.12.1, which lacks fixes
of the standard library, among them one of zipfile (CVE-2024-0450)."""
