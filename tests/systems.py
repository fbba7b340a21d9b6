"""Marks of tests that hold on some systems only; docs/platforms.md says what differs."""

import ctypes
import signal
import stat
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ON_WINDOWS = sys.platform == "win32"

STOPS = (
    []
    if sys.platform == "win32"
    else [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)]
)
"""The signals that stop a program, and the exit codes of one that heeds them."""

SLOW = "MCP_LUCENE_SLOW"
"""Variable that is set where programs take many times as long as elsewhere."""

WINE_WARNING = "OpenJDK 64-Bit Server VM warning: Attempt to "
"""Beginning of the warnings about calls that Wine lacks, which each start of Java prints."""


def _is_wine() -> bool:
    return sys.platform == "win32" and hasattr(ctypes.WinDLL("ntdll"), "wine_get_version")


keeps_open_files_in_place = pytest.mark.skipif(
    not ON_WINDOWS or _is_wine(), reason="only Windows moves no folder with an open file"
)
is_in_time = pytest.mark.skipif(_is_wine(), reason="Wine takes longer than it may last")
names_long_paths = pytest.mark.skipif(
    _is_wine(), reason="Wine 8 names no open folder whose path has more than 260 characters"
)
enforces_limits = pytest.mark.skipif(_is_wine(), reason="Wine enforces no limits of jobs")


def without_wine(errors: str) -> str:
    """Return what a program wrote to stderr, without Java's complaints about Wine."""
    return "".join(
        line for line in errors.splitlines(keepends=True) if not line.startswith(WINE_WARNING)
    )


def has_mode(path: Path, mode: int) -> bool:
    """Return whether a file has these permission bits; Windows has none, and all is well."""
    return ON_WINDOWS or stat.S_IMODE(path.stat().st_mode) == mode


evaluates = pytest.mark.skipif(
    find_spec("pytrec_eval") is None or find_spec("numpy") is None,
    reason="the packages of idx eval have no wheels for this platform, or do not run on it",
)
embeds = pytest.mark.skipif(
    find_spec("numpy") is None, reason="NumPy, which search by meaning needs, does not run here"
)
starts_without_locale = pytest.mark.skipif(
    not str(Path(__file__)).isascii(),
    reason="without a locale Python cannot start from a folder with letters beyond ASCII",
)
names_lock_holders = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux tells who holds a lock"
)
has_modes = pytest.mark.skipif(ON_WINDOWS, reason="Windows has no permission bits")
has_pipes_as_files = pytest.mark.skipif(ON_WINDOWS, reason="Windows has no pipes in folders")
replaces_open_files = pytest.mark.skipif(
    ON_WINDOWS, reason="Windows neither changes, moves nor deletes files that Java has mapped"
)
uses_a_unix_shell = pytest.mark.skipif(ON_WINDOWS, reason="Windows has no /bin/sh")
limits_names = pytest.mark.skipif(
    ON_WINDOWS, reason="to Windows a name that is too long is one that does not exist"
)
gives_sockets_as_files = pytest.mark.skipif(ON_WINDOWS, reason="to Windows sockets are no files")
reads_proc = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc")
has_terminals = pytest.mark.skipif(ON_WINDOWS, reason="Windows has no terminals like POSIX")
sends_signals = pytest.mark.skipif(ON_WINDOWS, reason="Windows sends no signals to processes")
makes_links = pytest.mark.skipif(
    ON_WINDOWS, reason="Windows lets only some users make links, and Wine makes none"
)
limits_processes = pytest.mark.skipif(ON_WINDOWS, reason="Windows has no limits of the shell")
locks_files_by_leases = pytest.mark.skipif(ON_WINDOWS, reason="Windows has no leases of files")
