"""Cache of readings in the folder of an index, by the picture of the page.

OCR takes seconds a page, and a page outlives its document: files move, are edited, and get another
page. A file holds the reading of one page by one program with some languages. Whatever the files
hold, they are only text for the index: they are read up to a limit and checked, and what is damaged
is a page that was not read yet. Java does not touch files that Lucene has not written.
"""

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Final

from shared import system
from shared.errors import IndexWriteError
from shared.files.cluster_path import is_cluster
from shared.files.content import read_regular, write_private
from shared.files.index_folder import holds_index
from shared.messages import reason_of
from shared.ocr.reading import MAX_STORED_BYTES, Reading, dump_reading, parse_reading

FOLDER: Final = "ocr"
"""Name of the cache in the index folder."""

MAX_CACHE_BYTES: Final = 200_000_000
"""Maximum size of a cache, in bytes: some 30,000 pages of text."""

_SHARE_KEPT: Final = 0.9
"""Share of that size which is kept when the cache is too large."""

_NAME: Final = re.compile(r"[0-9a-f]{64}-[0-9a-f]{16}")
_NEW: Final = re.compile(r"[0-9a-f]{16}\.new")
"""Names of readings, and of those that are being written."""

_OLD_SECONDS: Final = 3_600
"""Age at which a reading that is being written was left behind, in seconds."""

_OWNER_ONLY_FOLDER: Final = 0o700


@dataclass(frozen=True, slots=True)
class ReadingCache:
    """Cache of readings."""

    index: Path

    @property
    def _folder(self) -> Path:
        return self.index / FOLDER

    def get(self, page: str, engine: str) -> Reading | None:
        """Return the reading of a page; None if it is not cached."""
        return self._read(_name(page, engine))

    def latest(self, page: str) -> Reading | None:
        """Return the latest reading of a page by any program; None if there is none."""
        with suppress(OSError):
            found = sorted(
                (status.st_mtime_ns, name)
                for name, status in self._files()
                if name.startswith(page) and _NAME.fullmatch(name)
            )
            for _, name in reversed(found):
                if reading := self._read(name, is_used=False):
                    return reading
        return None

    def put(self, page: str, engine: str, reading: Reading) -> None:
        """Keep a reading, if there is an index, and the file system lets it."""
        stored = dump_reading(reading)
        if len(stored) > MAX_STORED_BYTES or not holds_index(self.index):
            return
        # A cache that cannot be written costs only time.
        with suppress(OSError):
            if not self._is_there():
                self._folder.mkdir(mode=_OWNER_ONLY_FOLDER)
            new = self._folder / f"{token_hex(8)}.new"
            # A link of the other name is replaced, not followed.
            write_private(new, self._folder / _name(page, engine), stored)

    def trim(self, max_bytes: int = MAX_CACHE_BYTES) -> None:
        """Delete what was not used for longest, down to a size in bytes, and what is left over."""
        with suppress(OSError):
            known = list(self._files())
            now = max((status.st_mtime for _, status in known), default=0)
            for name, status in known:
                if _NEW.fullmatch(name) and now - status.st_mtime > _OLD_SECONDS:
                    system.delete(self._folder / name)
            readings = [(status, name) for name, status in known if _NAME.fullmatch(name)]
            size = sum(status.st_size for status, _ in readings)
            if size <= max_bytes:
                return
            for status, name in sorted(readings, key=lambda each: each[0].st_mtime_ns):
                system.delete(self._folder / name)
                size -= status.st_size
                if size <= max_bytes * _SHARE_KEPT:
                    return

    def clear(self) -> None:
        """Delete all readings."""
        try:
            for name, _ in list(self._files()):
                if _NAME.fullmatch(name) or _NEW.fullmatch(name):
                    system.delete(self._folder / name)
        except FileNotFoundError:
            return
        except OSError as error:
            raise IndexWriteError(self.index, f"{FOLDER}: {reason_of(error)}") from error

    def _read(self, name: str, *, is_used: bool = True) -> Reading | None:
        file = self._folder / name
        try:
            if not self._is_there():
                return None
            reading = parse_reading(read_regular(file, MAX_STORED_BYTES))
        except (OSError, ValueError):
            return None
        if is_used:
            with suppress(OSError):
                os.utime(file)
        return reading

    def _is_there(self) -> bool:
        """Check whether there is a cache, which must not be a link to another folder."""
        try:
            status = self._folder.lstat()
        except FileNotFoundError:
            return False
        if not stat.S_ISDIR(status.st_mode):
            raise NotADirectoryError(self._folder)
        return True

    def _files(self) -> Iterator[tuple[str, os.stat_result]]:
        if not self._is_there():
            return
        with os.scandir(self._folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    yield entry.name, entry.stat(follow_symlinks=False)


def cache_of(index: Path) -> ReadingCache | None:
    """Return the cache of an index; None for one on a cluster, which has no folder."""
    return None if is_cluster(index) else ReadingCache(index)


def _name(page: str, engine: str) -> str:
    return f"{page}-{hashlib.sha256(engine.encode()).hexdigest()[:16]}"
