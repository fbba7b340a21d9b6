"""The files of a folder that are documents: all, less what is hidden, secret or ignored.

Nothing that is found in a folder can widen what is taken from it: an ignore file only takes
away, and a link that leads out of the folder is not followed unless the user asks for it.
"""

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any, Final

from idx.patterns import Patterns, check
from idx.scopes import Scopes
from shared.errors import SourceFileError

IGNORE_FILES: Final = (".gitignore", ".idxignore")
"""Files whose patterns take away from the folder they lie in, in the syntax of git."""

SECRETS: Final = (
    *(".env*", ".netrc", ".pgpass", ".htpasswd", ".git-credentials", ".aws/", ".ssh/", ".gnupg/"),
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.pem", "*.key", "*.ppk", "*.p8"),
    *("*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdb", "*.kdbx", "*.agilekeychain", "*.gpg"),
    ".git/",
)
"""Private keys, key stores, password files and repositories: never documents. Capitals are no
difference."""

_SECRETS: Final = Patterns(SECRETS)

_LARGEST_IGNORE_FILE: Final = 100_000
"""Characters of an ignore file; one that is longer was not written by a person."""


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


Rules = list[tuple[str, Patterns]]
"""Patterns with the folder they hold for, as a beginning of paths; the outermost first."""


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
    errors: list[SourceFileError] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    is_empty: bool = True
    folders: list[str] = field(default_factory=list)
    _volume: int = 0
    _parts: Scopes | None = field(init=False)

    def __post_init__(self) -> None:
        for selection in (self.selection, *self.own.values()):
            check([*selection.include, *selection.exclude])
        self._parts = None if self.scopes is None else Scopes(self.scopes)

    def __iter__(self) -> Iterator[FoundFile]:
        """Walk; every iteration is a new one."""
        choice = _Choice().narrowed("", self.selection)
        # Folders may be nested more deeply than calls.
        walks = [self._walk("", choice, [], frozenset())]
        while walks:
            found = next(walks[-1], None)
            if found is None:
                walks.pop()
            elif isinstance(found, FoundFile):
                yield found
            else:
                walks.append(found)

    def _walk(
        self, within: str, choice: _Choice, rules: Rules, parents: frozenset[tuple[int, int]]
    ) -> Iterator[Any]:
        """The files in a folder, named by the beginning of their paths, and walks below it."""
        here = self.folder / within
        try:
            status = here.stat()
            with os.scandir(here) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
            rules = [*rules, *_ignore_rules(here, within)]
        except OSError as error:
            # A folder that vanished since its parent was listed is gone with all that was in it.
            if not within or not isinstance(error, FileNotFoundError):
                self._note(within.rstrip("/"), error, "cannot be listed")
            return
        if not within:
            self._volume = status.st_dev
            # Of parts, the rest of the folder tells that it is there.
            self.is_empty = self._parts is None or not entries
        identity = (status.st_dev, status.st_ino)
        if identity in parents:
            # A link led back to a folder that this one lies in.
            return
        parents |= {identity}
        self.folders.append(within.rstrip("/"))
        choice = choice.narrowed(within, self.own.get(within.rstrip("/")))
        for entry in entries:
            path = within + entry.name
            found = self._look_at(entry, path)
            if found is None:
                continue
            is_folder = S_ISDIR(found.st_mode)
            self.is_empty = self.is_empty and is_folder
            if self._is_left_out(entry.name, path, choice, rules, is_folder=is_folder):
                continue
            if is_folder:
                yield self._walk(f"{path}/", choice, rules, parents)
            elif choice.takes(path):
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
                self._note(path, error, "cannot be looked at")
            return None
        return status if S_ISDIR(status.st_mode) or S_ISREG(status.st_mode) else None

    def _is_left_out(
        self, name: str, path: str, choice: _Choice, rules: Rules, *, is_folder: bool
    ) -> bool:
        slash = "/" if is_folder else ""
        # What the user and the list of secrets take away, no file in the folder gives back.
        return (
            (name[0] == "." and not self.selection.hidden)
            or bool(_SECRETS.verdict(name.lower() + slash))
            or choice.leaves_out(path + slash)
            or (bool(rules) and _is_ignored(path + slash, rules))
        )

    def _note(self, path: str, error: OSError, what: str) -> None:
        self.unknown.append(path)
        reason = f"{what}: {error.strerror or error}"
        self.errors.append(SourceFileError(self.folder / path, reason))


def _is_ignored(path: str, rules: Rules) -> bool:
    """What the innermost ignore file with a pattern for the path says, as git does it."""
    for above, patterns in reversed(rules):
        verdict = patterns.verdict(path.removeprefix(above))
        if verdict is not None:
            return verdict
    return False


def _ignore_rules(here: Path, within: str) -> Iterator[tuple[str, Patterns]]:
    """The rules of the ignore files in a folder."""
    for name in IGNORE_FILES:
        file = here / name
        if not file.is_file() or file.is_symlink():
            continue
        try:
            # Names in it are spelled as the system spells those of files.
            with file.open(encoding="utf-8-sig", errors="surrogateescape") as stream:
                text = stream.read(_LARGEST_IGNORE_FILE + 1)
        except FileNotFoundError:
            # It vanished meanwhile.
            continue
        if len(text) > _LARGEST_IGNORE_FILE:
            # With a part of the patterns, files would be taken that somebody keeps out.
            limit = f"{name} has more than {_LARGEST_IGNORE_FILE:,} characters"
            raise OSError(errno.EFBIG, limit)
        yield within, Patterns(text.split("\n"))
