"""Marks of tests that hold on some systems only; docs/platforms.md says what differs."""

import ctypes
import sys

import pytest

ON_WINDOWS = sys.platform == "win32"


def _is_wine() -> bool:
    return sys.platform == "win32" and hasattr(ctypes.WinDLL("ntdll"), "wine_get_version")


enforces_limits = pytest.mark.skipif(_is_wine(), reason="Wine enforces no limits of jobs")

names_lock_holders = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux tells who holds a lock"
)
has_modes = pytest.mark.skipif(ON_WINDOWS, reason="Windows has no permission bits")
has_pipes_as_files = pytest.mark.skipif(ON_WINDOWS, reason="Windows has no pipes in folders")
replaces_open_files = pytest.mark.skipif(
    ON_WINDOWS, reason="Windows neither changes, moves nor deletes files that Java has mapped"
)
limits_names = pytest.mark.skipif(
    ON_WINDOWS, reason="to Windows a name that is too long is one that does not exist"
)
