"""Ahead-of-time cache that makes Lucene start in a third of the time.

JDK 25 can record the classes that a run loaded, linked and profiled, and start the next run with
them (JEP 483, JEP 514, JEP 515). `shared.maintenance.train_startup` makes the cache; the first
program that runs without one has it made in the background. Without it everything works, only more
slowly.
"""

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import lucene

from shared.system import BACKGROUND_OPTIONS

_RETRY_SECONDS: Final = 24 * 60 * 60
"""Time after which training is tried again that was begun and left no cache."""

_trainings: Final[list[subprocess.Popen[bytes]]] = []
"""The trainings that this process has started, which go on when it ends."""


def path() -> Path:
    """Return the path of the cache of this environment, whether it exists or not.

    It lies in the environment, or in the user's cache folder if the environment belongs to another
    user. The name contains a hash of Lucene's jars, so that a cache trained for other jars is never
    used; the virtual machine itself refuses one that another version of it wrote.
    """
    # Resolved: through a link the environment is the same, and Java accepts its cache.
    jars = sorted(Path(jar).resolve() for jar in lucene.CLASSPATH.split(os.pathsep))
    state = [(str(jar), jar.stat().st_size, jar.stat().st_mtime_ns) for jar in jars]
    name = f"lucene-{hashlib.sha256(repr(state).encode()).hexdigest()[:16]}.aot"
    cache = Path(sys.prefix) / "share" / "mcp-lucene" / name
    if cache.is_file() or _can_be_written(cache.parent):
        return cache
    import platformdirs  # most environments can be written

    # A folder for each environment, since training deletes the older caches beside the new one.
    environment = hashlib.sha256(sys.prefix.encode()).hexdigest()[:16]
    return platformdirs.user_cache_path("mcp-lucene", appauthor=False) / environment / name


def _can_be_written(folder: Path) -> bool:
    there = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if sys.platform == "win32":
        # There os.access knows nothing of the rights of users.
        try:
            os.close(os.open(there / f".{os.getpid()}", os.O_CREAT | os.O_EXCL | os.O_TEMPORARY))
        except OSError:
            return False
    return os.access(there, os.W_OK)


def options() -> tuple[str, ...]:
    """Return the options of the virtual machine that use the cache; empty if there is no cache."""
    cache = path()
    return (f"-XX:AOTCache={cache}",) if cache.is_file() else ()


def train_in_background() -> None:
    """Have the cache made by another process, unless there is one or it is being made.

    The process takes about five seconds at the lowest priority, and goes on when this one ends. If
    it fails, the next attempt is a day later; where no file can be written there is none.
    """
    cache = path()
    if cache.is_file():
        return
    try:
        _mark_as_begun(cache.with_suffix(".training"))
        training = subprocess.Popen(
            [sys.executable, "-P", "-m", "shared.maintenance.train_startup", "--quiet"],
            cwd=cache.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **BACKGROUND_OPTIONS,
        )
    except OSError:
        # Another process has begun, or nothing can be written: programs work without a cache.
        return
    # Python warns of a process that runs when its object is gone.
    _trainings.append(training)


def _mark_as_begun(mark: Path) -> None:
    """Create the file that keeps other processes from training."""
    mark.parent.mkdir(parents=True, exist_ok=True)
    if mark.exists() and time.time() - mark.stat().st_mtime > _RETRY_SECONDS:
        mark.unlink()
    mark.touch(exist_ok=False)
