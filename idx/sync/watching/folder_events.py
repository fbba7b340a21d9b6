"""Notification of changes in folders, through watchfiles.

Each folder of the crawl is watched individually. The library's own recursion would follow links out
of a folder, watch folders excluded from the index, and stop silently at the first folder without
read permission.
"""

import os
import sys
import time
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from watchfiles import Change, watch
from watchfiles.main import FileChange

from idx.crawl.ignore_files import IGNORE_FILES
from idx.crawl.subtrees import Scopes
from idx.crawl.walk import Crawl
from idx.sync.plan import SyncOptions
from idx.sync.synchronize import is_new
from idx.sync.targets import part_of, resolve
from shared.files.access import is_folder
from shared.messages import decodable, quantity
from shared.model.folders import IndexedFolders
from shared.reading.searcher import Searcher

_STEP_MILLISECONDS: Final = 50
"""Interval at which the library polls the notifications of the system, in milliseconds."""

_MAX_GROUP_MILLISECONDS: Final = 500
"""Maximum time for grouping successive changes, in milliseconds."""

_TIMEOUT_MILLISECONDS: Final = 100
"""Timeout of the wait for a change, in milliseconds."""

_POLL_MILLISECONDS: Final = 2_000
"""Polling interval in milliseconds, used if polling is forced for lack of system notifications."""

_MAX_WATCH_ATTEMPTS: Final = 3
"""Maximum number of attempts to start a watch while folders appear or vanish."""

_UNDECODABLE: Final = "Unable to decode path"
"""Error text of the library for a name that is not UTF-8; it reports nothing afterwards."""

_Feed = Generator[set[FileChange], None, None]


class FolderWatch:
    """Watch of folders for changes.

    Args:
        folders: the folders, absolute.
        options: options of the syncs that handle the changes.

    Attributes:
        is_lost: whether changes may have gone unnoticed since the last `renew`.
        obstacle: the reason, in words, that not all folders are watched; None if all are.
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

        Raises:
            IndexFolderError: the index cannot be used; the subclass gives the reason.
        """
        self.close()
        self._noticed.clear()
        self._appeared.clear()
        self.is_lost = False
        self.obstacle = None
        self._watch(frozenset(self._wanted(None)))

    def follow(self, changed: Collection[Path]) -> None:
        """Watch new folders as well, and continue to watch the others.

        Args:
            changed: paths returned by `wait`, where folders may have appeared or vanished.

        Raises:
            IndexFolderError: the index cannot be used; the subclass gives the reason.
        """
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
        """Return the changes up to the next quiet moment; empty if there are none."""
        if self._feed is None:
            time.sleep(_TIMEOUT_MILLISECONDS / 1000)
        elif not self._noticed:
            self._note(self._next(self._feed))
        noticed, self._noticed = self._noticed, set()
        return noticed

    def close(self) -> None:
        """Stop watching."""
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
            folder = source.folder.path
            crawl = Crawl(
                folder,
                options.selections.selection_for(folder),
                source.scopes,
                own=options.selections.within(folder),
                avoid=options.index_path,
            )
            for _ in crawl:
                pass
            scopes = None if source.scopes is None else Scopes(source.scopes)
            for path in crawl.folders:
                if scopes is None or scopes.holds(path):
                    yield (folder / path).as_posix()

    def _watch(self, folders: frozenset[str]) -> None:
        """Watch exactly these folders."""
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
                self.obstacle = (
                    f"{quantity(len(names), 'folder')} cannot be watched: {_reason(error)}; the "
                    "system's limits are fs.inotify.max_user_watches and "
                    "fs.inotify.max_user_instances, which sysctl can raise"
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
        self._noticed.update(_place(Path(path)) for _, path in changes)


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
    """Yield the folders that lie in no other one."""
    last = None
    for folder in sorted(folders):
        if last is None or not folder.startswith(f"{last.rstrip('/')}/"):
            last = folder
            yield folder


def _reason(error: Exception) -> str:
    """Return an error message of the library without its paths and internal names."""
    return str(error).partition(" about")[0].rstrip(".")


def _place(path: Path) -> Path:
    """Return the path to examine: the folder of an ignore file, which affects everything below."""
    return path.parent if path.name in IGNORE_FILES else path
