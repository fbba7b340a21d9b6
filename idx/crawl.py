"""The files of a folder that are documents: all, less what is hidden, secret or ignored.

Nothing that is found in a folder can widen what is taken from it: an ignore file only takes
away, and a link that leads out of the folder is not followed unless the user asks for it.
"""

import errno
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any, Final

from idx.ignore_files import Rules, ignore_rules, is_ignored
from idx.patterns import Patterns, check
from idx.scopes import Scopes
from idx.secret_files import is_secret, leads_to_secret
from shared.errors import SourceFileError
from shared.folder_access import identity

_MOST_LINKS: Final = 3
"""Links that lead to one folder, each in a folder behind the one before. Without a bound, ten
folders that link to each other would be listed millions of times."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which files of a folder are taken.

    Attributes:
        include: patterns as in a ``.gitignore``; if there are any, only files that match one.
        exclude: patterns as in a ``.gitignore``; files and folders that match are left out.
        hidden: whether files and folders whose name begins with a dot are taken.
        follow_links: whether symbolic links are followed.
    """

    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    hidden: bool = False
    follow_links: bool = False


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of a folder.

    Attributes:
        path: relative to the folder, with slashes.
        size: bytes.
        modified_ns: time of its last change, in nanoseconds since 1970.
        other_volume: whether it lies on another volume than the folder.
    """

    path: str
    size: int
    modified_ns: int
    other_volume: bool


@dataclass(frozen=True, slots=True)
class _Choice:
    """The patterns that hold in a folder: its own, and those of folders that it lies in.

    Attributes:
        wanted: only files that match these are taken; None for all.
        unwanted: what matches any of these is left out.
    """

    wanted: tuple[str, Patterns] | None = None
    unwanted: Rules = field(default_factory=list)

    def narrowed(self, within: str, selection: Selection | None) -> "_Choice":
        """The choice in a folder, which may have patterns of its own."""
        if selection is None:
            return self
        return _Choice(
            (within, Patterns(selection.include)) if selection.include else self.wanted,
            [*self.unwanted, (within, Patterns(selection.exclude))],
        )

    def takes(self, path: str) -> bool:
        """Whether a file is among those to take, if there are patterns of them."""
        if self.wanted is None:
            return True
        above, patterns = self.wanted
        return bool(patterns.verdict(path.removeprefix(above)))

    def leaves_out(self, path: str) -> bool:
        """Whether a file, or a folder with a slash at its end, is left out."""
        return any(patterns.verdict(path.removeprefix(above)) for above, patterns in self.unwanted)


@dataclass(frozen=True, slots=True)
class _Above:
    """What holds in a folder because of the folders that it lies in.

    Attributes:
        choice: the patterns of the user.
        rules: the patterns of ignore files.
        folders: their identities, by device and number.
        links: how many of them were entered through a link.
    """

    choice: _Choice
    rules: Rules = field(default_factory=list)
    folders: frozenset[tuple[int, int]] = frozenset()
    links: int = 0


@dataclass(slots=True)
class Crawl:
    """One walk through a folder and the folders in it, in the order of their names.

    Iterate over it to get the files; the other attributes are complete at the end.

    Args:
        folder: the folder, absolute.
        selection: which of its files are taken.
        scopes: files and folders within it, relative to it with slashes; only these are looked
            at. None for everything.
        without: files and folders within it that are not looked at.
        own: the patterns of folders within it that have some of their own, by path. What these
            leave out is left out besides, whatever they give back of it; what they include, if
            anything, stands in place of what the selection does.
        avoid: a folder that is not looked at, by whatever path or link it is come upon: the index.

    Attributes:
        errors: what could not be listed or looked at; its path within the folder is in
            `unknown`.
        unknown: paths of which nothing is known, and of nothing below them; "" is the folder.
        is_empty: whether there was not a single file, wanted or not; of a crawl of parts, whether
            the folder has nothing in it at all, as a mount point on which nothing is mounted.
        folders: paths of the folders that were listed; "" is the folder.

    Raises:
        ConfigurationError: a pattern of the selection is none.
    """

    folder: Path
    selection: Selection
    scopes: Sequence[str] | None = None
    without: frozenset[str] = frozenset()
    own: Mapping[str, Selection] = field(default_factory=dict)
    avoid: Path | None = None
    errors: list[SourceFileError] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    is_empty: bool = True
    folders: list[str] = field(default_factory=list)
    _volume: int = 0
    _avoided: tuple[int, int] | None = None
    _real: str = ""
    _parts: Scopes | None = field(init=False)

    def __post_init__(self) -> None:
        for selection in (self.selection, *self.own.values()):
            check([*selection.include, *selection.exclude])
        self._parts = None if self.scopes is None else Scopes(self.scopes)

    def __iter__(self) -> Iterator[FoundFile]:
        """Walk; every iteration is a new one."""
        self._avoided = None if self.avoid is None else identity(self.avoid)
        self._real = os.path.realpath(self.folder)
        above = _Above(_Choice().narrowed("", self.selection))
        # Folders may be nested more deeply than calls.
        walks = [self._walk("", above)]
        while walks:
            found = next(walks[-1], None)
            if found is None:
                walks.pop()
            elif isinstance(found, FoundFile):
                yield found
            else:
                walks.append(found)

    def _walk(self, within: str, above: _Above) -> Iterator[Any]:
        """The files in a folder, named by the beginning of their paths, and walks below it."""
        here = self.folder / within
        try:
            status = here.stat()
            with os.scandir(here) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
            rules = [*above.rules, *ignore_rules(here, within)]
        except OSError as error:
            # A folder that vanished since its parent was listed is gone with all that was in it.
            if not within or not isinstance(error, FileNotFoundError):
                self._note(within.rstrip("/"), _reason("cannot be listed", error))
            return
        here_is = (status.st_dev, status.st_ino)
        if here_is == self._avoided:
            if not within:
                self._note("", "is the index itself; name the folder of your documents")
            return
        if here_is in above.folders:
            # A link led back to a folder that this one lies in.
            return
        if not within:
            self._volume = status.st_dev
            # Of parts, the rest of the folder tells that it is there.
            self.is_empty = self._parts is None or not entries
        self.folders.append(within.rstrip("/"))
        choice = above.choice.narrowed(within, self.own.get(within.rstrip("/")))
        here_above = _Above(choice, rules, above.folders | {here_is}, above.links)
        yield from self._entries(within, entries, here_above)

    def _entries(
        self, within: str, entries: Iterable[os.DirEntry[str]], above: _Above
    ) -> Iterator[Any]:
        """What is in a folder that was listed: files, and walks of the folders in it."""
        for entry in entries:
            path = within + entry.name
            found = self._look_at(entry, path)
            if found is None:
                continue
            is_folder = S_ISDIR(found.st_mode)
            self.is_empty = self.is_empty and is_folder
            if self._is_left_out(entry, path, above, is_folder=is_folder):
                continue
            if is_folder:
                links = above.links + entry.is_symlink()
                if links <= _MOST_LINKS:
                    yield self._walk(f"{path}/", replace(above, links=links))
            elif above.choice.takes(path):
                other_volume = found.st_dev != self._volume
                yield FoundFile(path, found.st_size, found.st_mtime_ns, other_volume)

    def _look_at(self, entry: os.DirEntry[str], path: str) -> os.stat_result | None:
        """The state of a file or folder; None for what is neither, or not to be looked at."""
        if path in self.without or not (self._parts is None or self._parts.lead_through(path)):
            return None
        try:
            status = entry.stat(follow_symlinks=self.selection.follow_links)
        except OSError as error:
            # It may have vanished meanwhile, or a link leads nowhere or to itself.
            if error.errno not in (errno.ENOENT, errno.ELOOP):
                self._note(path, _reason("cannot be looked at", error))
            return None
        return status if S_ISDIR(status.st_mode) or S_ISREG(status.st_mode) else None

    def _is_left_out(
        self, entry: os.DirEntry[str], path: str, above: _Above, *, is_folder: bool
    ) -> bool:
        slash = "/" if is_folder else ""
        # What the user and the list of secrets take away, no file in the folder gives back.
        return (
            (entry.name[0] == "." and not self.selection.hidden)
            or is_secret(entry.name + slash)
            or above.choice.leaves_out(path + slash)
            or (bool(above.rules) and is_ignored(path + slash, above.rules))
            or (entry.is_symlink() and leads_to_secret(entry.path + slash, self._real))
        )

    def _note(self, path: str, reason: str) -> None:
        self.unknown.append(path)
        self.errors.append(SourceFileError(self.folder / path, reason))


def _reason(what: str, error: OSError) -> str:
    return f"{what}: {error.strerror or error}"
