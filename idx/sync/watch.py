"""Continuous sync of an index with changing folders.

Events only say where to look; each sync then compares the actual files. So merged, duplicate or
late events do no harm, and an occasional complete sync finds changes without an event.
"""

import os
import sys
import time
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from watchfiles import Change, watch
from watchfiles.main import FileChange

from idx.crawl.patterns import IGNORE_FILES
from idx.crawl.walk import Scopes
from idx.errors import SourceFileError, message
from idx.extraction.types import CHANGED, VANISHED
from idx.sync.comparison import crawl_of
from idx.sync.events import Event, Kept, MissingFolder, NotIndexed, Problem, Watching
from idx.sync.plan import SyncOptions
from idx.sync.synchronize import is_new, synchronize
from idx.sync.targets import part_of, resolve
from shared.backends import holds_index
from shared.errors import ClusterUnreachableError, PassingError
from shared.files.access import identity, is_folder
from shared.messages import decodable, quantity
from shared.model.folders import IndexedFolders
from shared.reading.searcher import Searcher

_STEP_MILLISECONDS: Final = 50  # between polls of the notifications of the system
_MAX_GROUP_MILLISECONDS: Final = 500  # for grouping successive changes
_TIMEOUT_MILLISECONDS: Final = 100  # of the wait for a change
_POLL_MILLISECONDS: Final = 2_000  # between polls of folders where there are no notifications

_MAX_WATCH_ATTEMPTS: Final = 3  # attempts to start a watch while folders appear or vanish

_UNDECODABLE: Final = "Unable to decode path"
"""Error text of the library for a name that is not UTF-8; it reports nothing afterwards."""

_Feed = Generator[set[FileChange], None, None]


class FolderWatch:
    """Watch of folders for changes.

    `is_lost` says whether changes may have gone unnoticed since the last `renew`; `obstacle`, in
    words, why not all folders are watched.
    """

    def __init__(self, folders: Sequence[Path], options: SyncOptions) -> None:
        self._folders = folders
        self._options = options
        self._feed: _Feed | None = None
        self._watched: frozenset[str] = frozenset()
        self._appeared: set[str] = set()
        self._noticed: set[Path] = set()
        self.is_lost = False
        self.obstacle: str | None = None

    def renew(self) -> None:
        """Watch all folders that the crawl currently covers.

        Earlier changes may have gone unnoticed; later ones do not.
        """
        self.close()
        self._noticed.clear()
        self._appeared.clear()
        self.is_lost = False
        self.obstacle = None
        self._watch(frozenset(self._wanted(None)))

    def follow(self, changed: Collection[Path]) -> None:
        """Watch new folders as well, and continue to watch the others; nothing goes unnoticed."""
        places = {path for path in changed if is_folder(path) or path.as_posix() in self._watched}
        scopes = Scopes(path.as_posix() for path in places)
        appeared, self._appeared = self._appeared, set()
        # A folder may be created inside a new one before the new one is watched.
        for _ in range(_MAX_WATCH_ATTEMPTS):
            if not places or self._feed is None:
                return
            wanted = frozenset(self._wanted(places))
            is_new = not wanted <= self._watched or not wanted.isdisjoint(appeared)
            wanted |= {path for path in self._watched if not scopes.holds(path)}
            if not is_new:
                self._watched = wanted
                return
            appeared = set()
            before = self._feed
            self._watch(wanted)
            # Both watches overlap for a moment, so that no change is missed.
            self._note(self._next(before))
            before.close()
            self.is_lost = self.is_lost or self._feed is None
        # Further folders will be found by a sync, but not be watched.
        self.is_lost = True

    def wait(self) -> set[Path]:
        if self._feed is None:
            time.sleep(_TIMEOUT_MILLISECONDS / 1000)
        elif not self._noticed:
            self._note(self._next(self._feed))
        noticed, self._noticed = self._noticed, set()
        return noticed

    def close(self) -> None:
        if self._feed is not None:
            self._feed.close()
        self._feed = None
        self._watched = frozenset()

    def _wanted(self, changed: Collection[Path] | None) -> Iterator[str]:
        """Yield the folders that a sync lists."""
        options = self._options
        known = IndexedFolders()
        if not is_new(options):
            with Searcher(options.index_path, program="batch") as searcher:
                known = searcher.folders()
        # The prefixes of new folders, which depend on existing ids, do not matter here.
        sources = resolve(self._folders, known, lambda _: False)
        if changed is not None:
            sources = part_of(sources, changed)
        for source in sources.sources:
            crawl = crawl_of(source, options)
            for _ in crawl:
                pass
            scopes = None if source.scopes is None else Scopes(source.scopes)
            for path in crawl.folders:
                if scopes is None or scopes.holds(path):
                    yield (source.folder.path / path).as_posix()

    def _watch(self, folders: frozenset[str]) -> None:
        self._feed = None
        self._watched = folders
        names = {path for path in folders if decodable(path) == path}
        if names != folders:
            self.obstacle = (
                f"{quantity(len(folders - names), 'folder')} cannot be watched, because names are "
                f"not UTF-8, such as {decodable(min(folders - names))}"
            )
        for _ in range(_MAX_WATCH_ATTEMPTS):
            if not names:
                return
            feed = _begin(names)
            try:
                self._note(next(feed))
            except (FileNotFoundError, PermissionError):
                names = {path for path in names if os.access(path, os.R_OK | os.X_OK)}
            except (OSError, RuntimeError) as error:
                if _UNDECODABLE in str(error):
                    break
                # The library's message without its paths and internal names.
                reason = str(error).partition(" about")[0].rstrip(".")
                self.obstacle = (
                    f"{quantity(len(names), 'folder')} cannot be watched: {reason}; the system's "
                    "limits are fs.inotify.max_user_watches and fs.inotify.max_user_instances, "
                    "which sysctl can raise"
                )
                return
            else:
                self._feed = feed
                return
        self.is_lost = True

    def _next(self, feed: _Feed) -> set[FileChange]:
        try:
            return next(feed)
        except RuntimeError:
            # The cause is a name that is not UTF-8, or another error that stops the library.
            self.is_lost = True
            self.close()
            return set()

    def _note(self, changes: set[FileChange]) -> None:
        self._appeared.update(
            Path(path).as_posix() for change, path in changes if change is Change.added
        )
        for path in (Path(path) for _, path in changes):
            # An ignore file affects everything below its folder.
            self._noticed.add(path.parent if path.name in IGNORE_FILES else path)


def _begin(folders: Collection[str]) -> _Feed:
    """Start a watch of folders that yields empty sets between changes.

    Linux watches each folder by itself. Elsewhere the outermost ones are watched as a whole, which
    takes one handle, and lets the folders in them be renamed on Windows.
    """
    is_by_itself = sys.platform == "linux"
    return watch(
        *(folders if is_by_itself else _outermost(folders)),
        watch_filter=None,
        debounce=_MAX_GROUP_MILLISECONDS,
        step=_STEP_MILLISECONDS,
        rust_timeout=_TIMEOUT_MILLISECONDS,
        yield_on_timeout=True,
        poll_delay_ms=_POLL_MILLISECONDS,
        recursive=not is_by_itself,
        ignore_permission_denied=False,
    )


def _outermost(folders: Collection[str]) -> Iterable[str]:
    last = None
    for folder in sorted(folders):
        if last is None or not folder.startswith(f"{last.rstrip('/')}/"):
            last = folder
            yield folder


_QUIET_SECONDS: Final = 0.3  # quiet period after a change before a sync
_MAX_DELAY_SECONDS: Final = 5.0  # of a sync while changes continue

_MAX_SINGLE_CHANGES: Final = 200  # above it, their folders are synchronized, or everything

_FULL_SYNC_AFTER_CHANGES_SECONDS: Final = 20.0  # from the last changes to a complete sync
_FULL_SYNC_DURING_CHANGES_SECONDS: Final = 300.0  # between complete syncs while changes continue
_FULL_SYNC_IDLE_SECONDS: Final = 600.0  # between complete syncs without changes
_FULL_SYNC_UNWATCHED_SECONDS: Final = 60.0  # the same if not all folders can be watched

_WRITE_RETRY_SECONDS: Final = 5.0  # before the next attempt after an error that may pass


def keep_synchronized(
    folders: Sequence[Path], options: SyncOptions, kept: Kept
) -> Generator[Event, None, None]:
    """Synchronize, then follow every change until interrupted.

    The watch waits for missing folders, for another writer to release the index, for space on a
    full disk, and for a cluster that is busy, rebuilds the index or is down. A lasting `Problem` or
    `MissingFolder` is yielded once.
    """
    for path in folders:
        # Path.exists would raise an error if the path is unreachable.
        if os.path.exists(path) and not is_folder(path):  # noqa: PTH110
            raise SourceFileError(path, "is not a folder; only folders can be watched")
    with closing(FolderWatch(folders, options)) as watch:
        yield from _WatchRun(folders, options, watch, kept).run()


@dataclass(slots=True)
class _WatchRun:
    """Run of a watch, with pending changes and due times on the clock of `time.monotonic`."""

    folders: Sequence[Path]
    options: SyncOptions
    watch: FolderWatch
    kept: Kept
    _changed: set[Path] = field(default_factory=set)
    _first_change: float = 0.0
    _last_change: float = 0.0
    _full_sync_at: float = 0.0
    _last_full_sync: float = 0.0
    _retry_at: float = 0.0
    _identities: list[tuple[int, int] | None] = field(default_factory=list)
    _reported: set[str] = field(default_factory=set)

    def run(self) -> Iterator[Event]:
        while True:
            now = time.monotonic()
            is_long = now - self._first_change >= _MAX_DELAY_SECONDS
            is_quiet = now - self._last_change >= _QUIET_SECONDS
            try:
                if now < self._retry_at:
                    pass
                elif now >= self._full_sync_at:
                    yield from self._sync_everything()
                elif self._changed and (is_long or is_quiet):
                    yield from self._sync_changes()
            except PassingError as error:
                if isinstance(error, ClusterUnreachableError) and not self._last_full_sync:
                    # Rather a wrong address than an outage.
                    raise
                if self._is_new(problem := Problem(message(error)), set()):
                    yield problem
                self._retry_at = time.monotonic() + _WRITE_RETRY_SECONDS
            self._wait()

    def _wait(self) -> None:
        changed, now = self.watch.wait(), time.monotonic()
        if changed:
            self._first_change = self._first_change if self._changed else now
            self._last_change = now
            self._changed |= changed
        if self._identities != [_identity(folder) for folder in self.folders]:
            self._full_sync_at = 0
        elif self.watch.is_lost:
            self._full_sync_at = min(self._full_sync_at, now + _MAX_DELAY_SECONDS)

    def _sync_everything(self) -> Iterator[Event]:
        watch = self.watch
        # Recorded before the sync, so that a folder replaced during it is detected.
        self._identities = [_identity(folder) for folder in self.folders]
        watch.renew()
        lasting: set[str] = set()
        if watch.obstacle and self._is_new(problem := Problem(watch.obstacle), lasting):
            yield problem
        yield from self._synchronized(lasting)
        self._reported = lasting
        # An index that vanishes later ends the watch.
        if holds_index(self.options.index_path):
            self.options = replace(self.options, create=False)
        now = time.monotonic()
        if not self._last_full_sync:
            yield Watching(sum(identity is not None for identity in self._identities))
        self._changed = set()
        self._last_full_sync = now
        self._full_sync_at = now + (
            _FULL_SYNC_UNWATCHED_SECONDS if watch.obstacle else _FULL_SYNC_IDLE_SECONDS
        )

    def _sync_changes(self) -> Iterator[Event]:
        paths = self._changed
        if len(paths) > _MAX_SINGLE_CHANGES:
            paths = {path.parent for path in paths}
        if len(paths) > _MAX_SINGLE_CHANGES or not paths.isdisjoint(self.folders):
            yield from self._sync_everything()
        else:
            self.watch.follow(paths)
            yield from self._synchronized(set(), paths)
        self._changed = set()
        latest = max(time.monotonic(), self._last_full_sync + _FULL_SYNC_DURING_CHANGES_SECONDS)
        self._full_sync_at = min(time.monotonic() + _FULL_SYNC_AFTER_CHANGES_SECONDS, latest)

    def _synchronized(
        self, lasting: set[str], changed: Collection[Path] | None = None
    ) -> Iterator[Event]:
        with closing(synchronize(self.folders, self.options, self.kept, changed)) as events:
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
