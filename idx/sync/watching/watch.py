"""Continuous sync of an index with changing folders.

Events only say where to look; each sync then compares the actual files. So merged, duplicate or
late events do no harm, and an occasional complete sync finds changes without an event.
"""

import os
import time
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from idx.errors import SourceFileError, message
from idx.extraction.types import CHANGED, VANISHED
from idx.sync.events import Event, MissingFolder, NotIndexed, Problem, Watching
from idx.sync.interruption import Kept
from idx.sync.plan import SyncOptions
from idx.sync.synchronize import synchronize
from idx.sync.watching.folder_events import FolderWatch
from shared.backends import holds_index
from shared.errors import ClusterUnreachableError, PassingError
from shared.files.access import identity, is_folder

_QUIET_SECONDS: Final = 0.3
"""Quiet period after a change before a sync, in seconds."""

_MAX_DELAY_SECONDS: Final = 5.0
"""Maximum delay of a sync while changes continue, in seconds."""

_MAX_SINGLE_CHANGES: Final = 200
"""Number of changes above which their folders are synchronized instead, or everything."""

_FULL_SYNC_AFTER_CHANGES_SECONDS: Final = 20.0
"""Delay of a complete sync after the last changes, in seconds."""

_FULL_SYNC_DURING_CHANGES_SECONDS: Final = 300.0
"""Maximum interval between complete syncs while changes continue, in seconds."""

_FULL_SYNC_IDLE_SECONDS: Final = 600.0
"""Interval between complete syncs without changes, in seconds."""

_FULL_SYNC_UNWATCHED_SECONDS: Final = 60.0
"""Interval between complete syncs if not all folders can be watched, in seconds."""

_WRITE_RETRY_SECONDS: Final = 5.0
"""Delay before the next attempt after an error that may pass, in seconds."""


@dataclass(slots=True)
class _Due:
    """Pending changes and due times, on the clock of `time.monotonic`.

    Attributes:
        paths: changed files and folders.
        first: time of the first change.
        last: time of the last change.
        full_sync_at: time at which the next complete sync is due.
        last_full_sync: time of the last complete sync.
        retry_at: time before which no sync may run.
    """

    paths: set[Path] = field(default_factory=set)
    first: float = 0.0
    last: float = 0.0
    full_sync_at: float = 0.0
    last_full_sync: float = 0.0
    retry_at: float = 0.0

    def add(self, changed: set[Path], now: float) -> None:
        if changed:
            self.first = self.first if self.paths else now
            self.last = now
            self.paths |= changed

    def are_due(self, now: float) -> bool:
        is_long = now - self.first >= _MAX_DELAY_SECONDS
        return bool(self.paths) and (is_long or now - self.last >= _QUIET_SECONDS)


def keep_synchronized(
    folders: Sequence[Path], options: SyncOptions, kept: Kept
) -> Generator[Event, None, None]:
    """Synchronize, then follow every change until interrupted.

    The watch waits for missing folders, for another writer to release the index, for space on a
    full disk, and for a cluster that is busy, rebuilds the index or is down.

    Args:
        folders: the folders, absolute.
        options: the options of each sync.
        kept: counts of the documents committed by the run.

    Yields:
        The events of each sync, and `Watching` after the first. A lasting `Problem` or
        `MissingFolder` is yielded once.

    Raises:
        SourceFileError: a path is not a folder.
        IndexFolderError: the index cannot be used; the subclass gives the reason.
    """
    for path in folders:
        # Path.exists would raise an error if the path is unreachable.
        if os.path.exists(path) and not is_folder(path):  # noqa: PTH110
            raise SourceFileError(path, "is not a folder; only folders can be watched")
    with closing(FolderWatch(folders, options)) as watch:
        yield from _WatchRun(folders, options, watch, kept).run()


class _WatchRun:
    """Loop of `keep_synchronized`, with its state."""

    def __init__(
        self, folders: Sequence[Path], options: SyncOptions, watch: FolderWatch, kept: Kept
    ) -> None:
        self._folders = folders
        self._options = options
        self._watch = watch
        self._kept = kept
        self._due = _Due()
        self._identities: list[tuple[int, int] | None] = []
        self._reported: set[str] = set()

    def run(self) -> Iterator[Event]:
        due, watch = self._due, self._watch
        while True:
            now = time.monotonic()
            try:
                if now < due.retry_at:
                    pass
                elif now >= due.full_sync_at:
                    yield from self._sync_everything()
                elif due.are_due(now):
                    yield from self._sync_changes()
            except PassingError as error:
                if isinstance(error, ClusterUnreachableError) and not due.last_full_sync:
                    # Rather a wrong address than an outage.
                    raise
                if self._is_new(problem := Problem(message(error)), set()):
                    yield problem
                due.retry_at = time.monotonic() + _WRITE_RETRY_SECONDS
            due.add(watch.wait(), time.monotonic())
            if self._identities != [_identity(folder) for folder in self._folders]:
                due.full_sync_at = 0
            elif watch.is_lost:
                due.full_sync_at = min(due.full_sync_at, time.monotonic() + _MAX_DELAY_SECONDS)

    def _sync_everything(self) -> Iterator[Event]:
        due, watch = self._due, self._watch
        # Recorded before the sync, so that a folder replaced during it is detected.
        self._identities = [_identity(folder) for folder in self._folders]
        watch.renew()
        lasting: set[str] = set()
        if watch.obstacle and self._is_new(problem := Problem(watch.obstacle), lasting):
            yield problem
        yield from self._synchronized(lasting)
        self._reported = lasting
        # An index that vanishes later ends the watch.
        if holds_index(self._options.index_path):
            self._options = replace(self._options, create=False)
        now = time.monotonic()
        if not due.last_full_sync:
            yield Watching(sum(identity is not None for identity in self._identities))
        due.paths = set()
        due.last_full_sync = now
        due.full_sync_at = now + (
            _FULL_SYNC_UNWATCHED_SECONDS if watch.obstacle else _FULL_SYNC_IDLE_SECONDS
        )

    def _sync_changes(self) -> Iterator[Event]:
        due = self._due
        paths = due.paths
        if len(paths) > _MAX_SINGLE_CHANGES:
            paths = {path.parent for path in paths}
        if len(paths) > _MAX_SINGLE_CHANGES or not paths.isdisjoint(self._folders):
            yield from self._sync_everything()
        else:
            self._watch.follow(paths)
            yield from self._synchronized(set(), paths)
        due.paths = set()
        latest = max(time.monotonic(), due.last_full_sync + _FULL_SYNC_DURING_CHANGES_SECONDS)
        due.full_sync_at = min(time.monotonic() + _FULL_SYNC_AFTER_CHANGES_SECONDS, latest)

    def _synchronized(
        self, lasting: set[str], changed: Collection[Path] | None = None
    ) -> Iterator[Event]:
        """Synchronize and yield the new events."""
        with closing(synchronize(self._folders, self._options, self._kept, changed)) as events:
            for event in events:
                if self._is_new(event, lasting):
                    yield event

    def _is_new(self, event: Event, lasting: set[str]) -> bool:
        """Check whether an event is new; add every problem, new or not, to `lasting`."""
        if isinstance(event, NotIndexed) and event.reason in (CHANGED, VANISHED):
            # The next sync examines the file again.
            return False
        if isinstance(event, Problem | MissingFolder):
            lasting.add(event.message)
            is_new = event.message not in self._reported
            self._reported.add(event.message)
            return is_new
        return True


def _identity(folder: Path) -> tuple[int, int] | None:
    """Return the identity of a folder, which changes if it is replaced; None if unlistable."""
    return identity(folder) if os.access(folder, os.R_OK | os.X_OK) else None
