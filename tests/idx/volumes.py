"""Volumes in memory, where the machine allows to mount them."""

import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.programs import run
from tests.systems import ON_WINDOWS

MOUNT: Final = ("mount",)
UNMOUNT: Final = ("umount",)


def mount(folder: Path, size: str) -> Path:
    """Mount a volume of a size, such as ``1m``, at an empty folder; skip the test if it fails."""
    if ON_WINDOWS:
        pytest.skip("Windows mounts no volumes in memory")
    folder.mkdir(parents=True, exist_ok=True)
    mounted = run(*MOUNT, "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder, check=False)
    if mounted.returncode:
        pytest.skip(f"a volume cannot be mounted here: {mounted.stderr.strip()}")
    return folder


def enlarge(folder: Path, size: str) -> None:
    subprocess.run([*MOUNT, "-o", f"remount,size={size}", folder], check=True)


def unmount(folder: Path) -> None:
    """Leave the folder empty, as it was before."""
    subprocess.run([*UNMOUNT, folder], check=True)
