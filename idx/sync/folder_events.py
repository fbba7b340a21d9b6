"""Noticing changes in folders, by way of watchfiles.

Every folder whose files are wanted is watched by itself. The library's own recursion would follow
links out of a folder, watch what is left out of the index, and end without a word at the first
folder that may not be read.
"""

import os
import time
from collections.abc import Collection, Generator, Iterator, Sequence
from pathlib import Path
from typing import Final

from watchfiles import Change, watch
from watchfiles.main import FileChange

from idx.crawl.ignore_files import IGNORE_FILES
from idx.crawl.subtrees import Scopes
from idx.crawl.walk import Crawl
from idx.sync.synchronize import SyncOptions, is_new
from idx.sync.targets import part_of, resolve
from shared.files.access import is_folder
from shared.messages import decodable, quantity
from shared.model.folders import IndexedFolders
from shared.reading.searcher import Searcher

_STEP_MILLISECONDS: Final = 50
"""How often the library looks whether the system has told it something."""

_LONGEST_GROUP_MILLISECONDS: Final = 500
"""How long it goes on collecting while more and more happens."""

_TIMEOUT_MILLISECONDS: Final = 100
"""How long it waits for a change."""

_POLL_MILLISECONDS: Final = 2_000
"""How often it looks at every file if it is told to, where the system says nothing."""

_TRIES: Final = 3
"""How often a watch is begun anew because folders came or went at that moment."""

_UNDECODABLE: Final = "Unable to decode path"
"""What the library says of a name that is no UTF-8; it can tell nothing after it."""

_Feed = Generator[set[FileChange], None, None]


class FolderWatch:
    """What changes in folders.

    Args:
        folders: the folders, absolute.
        options: of the synchronizations that the changes are meant for.

    Attributes:
        is_lost: whether something went unnoticed since the last `renew`.
        obstacle: why not all folders are watched, in words; None if they are.
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
        """Watch all folders that are wanted now.

        What happened before may have gone unnoticed; what happens from now on does not.

        Raises:
            IndexFolderError: the index cannot be used; the class says why.
        """
        self.close()
        self._noticed.clear()
        self._appeared.clear()
        self.is_lost = False
        self.obstacle = None
        self._watch(frozenset(self._wanted(None)))

    def follow(self, changed: Collection[Path]) -> None:
        """Watch the folders that came, and all others as before.

        Args:
            changed: what `wait` returned: where folders may have come or gone.

        Raises:
            IndexFolderError: the index cannot be used; the class says why.
        """
        places = {path for path in changed if is_folder(path) or str(path) in self._watched}
        scopes = Scopes(map(str, places))
        appeared, self._appeared = self._appeared, set()
        # A folder may come into one that comes, before that one is watched.
        for _ in range(_TRIES):
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
            # Both watch for a moment, so that nothing falls between them.
            self._note(self._next(before))
            before.close()
            self.is_lost = self.is_lost or self._feed is None
        # Whatever else came will be found, but not be watched.
        self.is_lost = True

    def wait(self) -> set[Path]:
        """What changed until it was quiet for a moment; empty if nothing did."""
        if self._feed is None:
            time.sleep(_TIMEOUT_MILLISECONDS / 1000)
        elif not self._noticed:
            self._note(self._next(self._feed))
        noticed, self._noticed = self._noticed, set()
        return noticed

    def close(self) -> None:
        """Watch no longer."""
        if self._feed is not None:
            self._feed.close()
        self._feed = None
        self._watched = frozenset()

    def _wanted(self, changed: Collection[Path] | None) -> Iterator[str]:
        """The folders that a synchronization lists."""
        options = self._options
        known = IndexedFolders()
        if not is_new(options):
            with Searcher(options.index_path, program="batch") as searcher:
                known = searcher.folders()
        # The names of new folders, which other ids bear upon, do not matter here.
        sources = resolve(self._folders, known, lambda _: False)
        if changed is not None:
            sources = part_of(sources, changed)
        for source in sources.sources:
            folder = source.folder.path
            crawl = Crawl(
                folder,
                options.selections.of(folder),
                source.scopes,
                own=options.selections.within(folder),
                avoid=options.index_path,
            )
            for _ in crawl:
                pass
            scopes = None if source.scopes is None else Scopes(source.scopes)
            for path in crawl.folders:
                if scopes is None or scopes.holds(path):
                    yield str(folder / path)

    def _watch(self, folders: frozenset[str]) -> None:
        """Watch these folders, and no others."""
        self._feed = None
        self._watched = folders
        names = {path for path in folders if decodable(path) == path}
        if names != folders:
            self.obstacle = (
                f"{quantity(len(folders - names), 'folder')} cannot be watched, because names are "
                f"not UTF-8, such as {decodable(min(folders - names))}"
            )
        for _ in range(_TRIES):
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
            # A name that is no UTF-8, or whatever else the library cannot go on after.
            self.is_lost = True
            self.close()
            return set()

    def _note(self, changes: set[FileChange]) -> None:
        self._appeared.update(path for change, path in changes if change is Change.added)
        self._noticed.update(_place(Path(path)) for _, path in changes)


def _begin(folders: Collection[str]) -> _Feed:
    """Changes in folders, but not in folders within them; empty ones where nothing happened."""
    return watch(
        *folders,
        watch_filter=None,
        debounce=_LONGEST_GROUP_MILLISECONDS,
        step=_STEP_MILLISECONDS,
        rust_timeout=_TIMEOUT_MILLISECONDS,
        yield_on_timeout=True,
        poll_delay_ms=_POLL_MILLISECONDS,
        recursive=False,
        ignore_permission_denied=False,
    )


def _reason(error: Exception) -> str:
    """What the library says of an error, without the paths and its inner names."""
    return str(error).partition(" about")[0].rstrip(".")


def _place(path: Path) -> Path:
    """Where to look: an ignore file decides on everything beside and below it."""
    return path.parent if path.name in IGNORE_FILES else path
