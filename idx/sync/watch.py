"""Keeping an index equal to folders while they change.

Events only say where to look: what is there then decides, as in any synchronization. So it does
not matter that events are merged, doubled, or late, and a look at everything now and then finds
what no event told.
"""

import os
import time
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from idx.errors import SourceFileError
from idx.extraction.types import CHANGED, VANISHED
from idx.sync.events import Event, MissingFolder, NotIndexed, Problem, Watching
from idx.sync.folder_events import FolderWatch
from idx.sync.interruption import Kept
from idx.sync.synchronize import SyncOptions, synchronize
from shared.errors import IndexLockedError, IndexWriteError
from shared.files import index_folder
from shared.files.access import identity, is_folder

_QUIET: Final = 0.3
"""Seconds in which nothing may happen before changes are looked at."""

_LONGEST_WAIT: Final = 5.0
"""Seconds after which they are looked at though more go on happening."""

_MANY: Final = 200
"""Changes from which on the folders they lie in are looked at instead, or everything."""

_AFTER_CHANGES: Final = 20.0
"""Seconds after the last changes when everything is looked at once more."""

_DURING_CHANGES: Final = 300.0
"""Seconds after which everything is looked at though changes have not ended."""

_WITHOUT_CHANGES: Final = 600.0
"""Seconds after which everything is looked at though nothing was noticed."""

_UNWATCHED: Final = 60.0
"""The same where not all folders can be watched."""

_RETRY: Final = 5.0
"""Seconds to wait when the index could not be written."""


@dataclass(slots=True)
class _Due:
    """What is to be looked at, and when; all times are those of `time.monotonic`.

    Attributes:
        paths: changed files and folders.
        first: when the first of them changed.
        last: when the last of them did.
        everything_at: when everything is looked at, changed or not.
        everything_was: when it was the last time.
        retry_at: before this time nothing is.
    """

    paths: set[Path] = field(default_factory=set)
    first: float = 0.0
    last: float = 0.0
    everything_at: float = 0.0
    everything_was: float = 0.0
    retry_at: float = 0.0

    def add(self, changed: set[Path], now: float) -> None:
        if changed:
            self.first = self.first if self.paths else now
            self.last = now
            self.paths |= changed

    def are_paths(self, now: float) -> bool:
        is_long = now - self.first >= _LONGEST_WAIT
        return bool(self.paths) and (is_long or now - self.last >= _QUIET)


def keep_synchronized(
    folders: Sequence[Path], options: SyncOptions, kept: Kept
) -> Generator[Event, None, None]:
    """Synchronize, then go on with every change, until interrupted.

    A folder that is missing is waited for, and so are a writer that holds the index and a full
    disk.

    Args:
        folders: the folders, absolute.
        options: how they are synchronized.
        kept: what is committed is counted in it.

    Yields:
        What happens in each synchronization, and `Watching` when the first one is done. A
        `Problem`, or a `MissingFolder`, that lasts is told once.

    Raises:
        SourceFileError: a path is not that of a folder.
        IndexFolderError: the index cannot be used; the class says why.
    """
    for path in folders:
        # Not Path.exists, which fails where nothing can be reached.
        if os.path.exists(path) and not is_folder(path):  # noqa: PTH110
            raise SourceFileError(path, "is not a folder; only folders can be watched")
    with closing(FolderWatch(folders, options)) as watch:
        yield from _Looking(folders, options, watch, kept).run()


class _Looking:
    """What `keep_synchronized` does, and remembers in between."""

    def __init__(
        self, folders: Sequence[Path], options: SyncOptions, watch: FolderWatch, kept: Kept
    ) -> None:
        self._folders = folders
        self._options = options
        self._watch = watch
        self._kept = kept
        self._due = _Due()
        self._identities: list[tuple[int, int] | None] = []
        self._told: set[str] = set()

    def run(self) -> Iterator[Event]:
        due, watch = self._due, self._watch
        while True:
            now = time.monotonic()
            try:
                if now < due.retry_at:
                    pass
                elif now >= due.everything_at:
                    yield from self._look_at_everything()
                elif due.are_paths(now):
                    yield from self._look_at_changes()
            except (IndexLockedError, IndexWriteError) as error:
                if self._is_news(problem := Problem(str(error)), set()):
                    yield problem
                due.retry_at = time.monotonic() + _RETRY
            due.add(watch.wait(), time.monotonic())
            if self._identities != [_identity(folder) for folder in self._folders]:
                due.everything_at = 0
            elif watch.is_lost:
                due.everything_at = min(due.everything_at, time.monotonic() + _LONGEST_WAIT)

    def _look_at_everything(self) -> Iterator[Event]:
        due, watch = self._due, self._watch
        # Another folder that takes the place of one from here on is found to be another.
        self._identities = [_identity(folder) for folder in self._folders]
        watch.renew()
        lasting: set[str] = set()
        if watch.obstacle and self._is_news(problem := Problem(watch.obstacle), lasting):
            yield problem
        yield from self._synchronized(lasting)
        self._told = lasting
        # An index that vanishes later ends the watch.
        if index_folder.holds_index(self._options.index_path):
            self._options = replace(self._options, create=False)
        now = time.monotonic()
        if not due.everything_was:
            yield Watching(sum(identity is not None for identity in self._identities))
        due.paths = set()
        due.everything_was = now
        due.everything_at = now + (_UNWATCHED if watch.obstacle else _WITHOUT_CHANGES)

    def _look_at_changes(self) -> Iterator[Event]:
        due = self._due
        paths = due.paths
        if len(paths) > _MANY:
            paths = {path.parent for path in paths}
        if len(paths) > _MANY or not paths.isdisjoint(self._folders):
            yield from self._look_at_everything()
        else:
            self._watch.follow(paths)
            yield from self._synchronized(set(), paths)
        due.paths = set()
        latest = max(time.monotonic(), due.everything_was + _DURING_CHANGES)
        due.everything_at = min(time.monotonic() + _AFTER_CHANGES, latest)

    def _synchronized(
        self, lasting: set[str], changed: Collection[Path] | None = None
    ) -> Iterator[Event]:
        """Synchronize, and tell what is news of it."""
        with closing(synchronize(self._folders, self._options, self._kept, changed)) as events:
            for event in events:
                if self._is_news(event, lasting):
                    yield event

    def _is_news(self, event: Event, lasting: set[str]) -> bool:
        """Whether an event is to be told; `lasting` gets all problems, those told before, too."""
        if isinstance(event, NotIndexed) and event.reason in (CHANGED, VANISHED):
            # What has become of the file is looked at next.
            return False
        if isinstance(event, Problem | MissingFolder):
            lasting.add(event.message)
            is_new = event.message not in self._told
            self._told.add(event.message)
            return is_new
        return True


def _identity(folder: Path) -> tuple[int, int] | None:
    """What tells a folder from another one in its place; None if it cannot be listed."""
    return identity(folder) if os.access(folder, os.R_OK | os.X_OK) else None
