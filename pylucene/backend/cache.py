"""The folder that keeps wheels, build environments and jars from one build to the next."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .console import BuildError, say


def folder() -> Path:
    """The cache folder: `pylucene` in XDG_CACHE_HOME or in ~/.cache; it may not exist yet."""
    home = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG specification tells to ignore a path that is not absolute.
    return (home if home.is_absolute() else Path.home() / ".cache") / "pylucene"


@contextmanager
def locked() -> Iterator[None]:
    """Hold the cache for one build, so that builds at the same time share their work."""
    import fcntl  # elsewhere than on Linux the build ends before, with a sentence

    path = folder() / "lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.open("w")
    except OSError as error:
        raise BuildError(
            f"the cache folder {path.parent} cannot be written ({error.strerror}): "
            "set XDG_CACHE_HOME to a folder that can"
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another build to end")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def place(source: Path, target_folder: Path) -> Path:
    """Copy a file into a folder so that it appears there whole or not at all."""
    target_folder.mkdir(parents=True, exist_ok=True)
    target = target_folder / source.name
    with tempfile.TemporaryDirectory(dir=target_folder, prefix=".") as temporary:
        shutil.copyfile(source, Path(temporary) / source.name).replace(target)
    return target
