"""The files of a folder: the walk, and listings that are read through descriptors of folders."""

import errno
import os
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any, Final, NamedTuple

from idx.crawl.patterns import Choice, Rules, Selection, ignore_rules, is_ignored
from idx.errors import SourceFileError
from shared.files.access import (
    OWN,
    Identity,
    identity,
    identity_of,
    is_lock_file,
    lies_in,
    opened_beneath,
    opened_folder,
    refuse_too_long,
)
from shared.files.location import OUTSIDE_ROOTS, KnownFolder, Target, opened, resolve_links
from shared.files.patterns import check
from shared.files.secret_files import is_allowed_secret, is_inside_secret, is_secret
from shared.messages import reason_of
from shared.system import LISTING, FolderEntry, entries, is_hidden, status_of_part


@dataclass(frozen=True, slots=True)
class Start:
    """Starting folder of a walk, from which everything is opened; `at` prefixes its files."""

    folder: KnownFolder
    real: str
    descriptor: int
    at: str

    def beneath(self, path: str) -> str:
        """Return the path relative to the start, where "." is the start itself."""
        return path[len(self.at) :].rstrip("/") or "."


class Entry(NamedTuple):
    """File or folder found in a listing; the identity of a link is that of its target."""

    name: str
    is_folder: bool
    is_hidden: bool
    size: int
    modified_ns: int
    other_volume: bool
    identity: Identity
    target: Target | None


@dataclass(frozen=True, slots=True)
class Listing:
    """Listing of a folder: its selected entries by name; `is_empty` counts all of them."""

    identity: Identity
    is_empty: bool
    entries: Sequence[Entry]
    errors: Sequence[tuple[str, OSError]]
    rules: Rules


def _examine(found: FolderEntry, path: str, volume: int) -> Entry | None:
    """Return the state of a file or folder, or None for anything else.

    `path` contains no link but itself.
    """
    target = resolve_links(path) if found.is_symlink() else None
    status = found.stat(follow_symlinks=False) if target is None else target.status
    is_folder = S_ISDIR(status.st_mode)
    if not (is_folder or S_ISREG(status.st_mode)):
        return None
    return Entry(
        found.name,
        is_folder,
        is_hidden(found.name, status),
        status.st_size,
        status.st_mtime_ns,
        status.st_dev != volume,
        identity_of(status),
        target,
    )


class Scopes:
    """Parts of a folder that a run covers."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)
        self._above = frozenset(parent for path in self._paths for parent in _parents(path))

    def holds(self, path: str) -> bool:
        """Check whether a path is one of the parts or lies in one."""
        return path in self._paths or any(parent in self._paths for parent in _parents(path))

    def lead_through(self, path: str) -> bool:
        """Check whether a path leads to one of the parts, is one, or lies in one."""
        return path in self._above or self.holds(path)


def _parents(path: str) -> Iterable[str]:
    """Yield the folders that contain a path, innermost first."""
    end = path.rfind("/")
    while end > 0:
        path = path[:end]
        yield path
        end = path.rfind("/")


_NAME_REASON: Final = "is a secret by its name"

_MAX_NESTED_LINKS: Final = 3
"""Maximum number of nested links on the way to a folder.

Without a limit, ten folders that link to each other would be listed millions of times.
"""


class FoundFile(NamedTuple):
    """File found in a folder; `folder`, which it is opened from, may be the target of a link."""

    path: str
    size: int
    modified_ns: int
    other_volume: bool
    folder: KnownFolder
    beneath: str


@dataclass(frozen=True, slots=True)
class _Inherited:
    """State that a folder inherits from those above it."""

    start: Start
    choice: Choice
    is_allowed: bool
    rules: Rules = field(default_factory=list)
    folders: frozenset[Identity] = frozenset()
    links: int = 0


@dataclass(slots=True)
class Crawl:
    """Walk through a folder and its subfolders, in the order of names.

    Iterate over it to get the files; the other attributes are complete at the end. `unknown` are
    paths of which nothing is known, nor of anything below them; `secrets` what was skipped for that
    alone. `is_empty` says that there was no file at all, selected or not; within scopes, that the
    folder has no entries, like a mount point without a mount.

    `own` patterns to exclude are added to those of the selection, but can give nothing back; `own`
    patterns to include replace those of the selection. The folder `avoid`, the index, is skipped
    under any path or link. With `roots`, files outside all of them are skipped, and no link is
    followed.
    """

    folder: Path
    selection: Selection
    scopes: Sequence[str] | None = None
    without: frozenset[str] = frozenset()
    own: Mapping[str, Selection] = field(default_factory=dict)
    avoid: Path | None = None
    roots: Collection[Identity] | None = None
    own_files: Collection[Identity] = ()
    errors: list[SourceFileError] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    is_empty: bool = True
    folders: list[str] = field(default_factory=list)
    secrets: list[tuple[FoundFile, str]] = field(default_factory=list)
    _volume: int = 0
    _avoided: Identity | None = None
    _real: str = ""
    _parts: Scopes | None = field(init=False)

    def __post_init__(self) -> None:
        for selection in (self.selection, *self.own.values()):
            check([*selection.include, *selection.exclude])
        self._parts = None if self.scopes is None else Scopes(self.scopes)

    def __iter__(self) -> Iterator[FoundFile]:
        self._avoided = None if self.avoid is None else identity(self.avoid)
        self._real = os.path.realpath(self.folder)
        try:
            with opened_folder(self.folder) as descriptor:
                yield from self._walk_all(descriptor)
        except OSError as error:
            self._note("", _reason("cannot be listed", error))

    def _walk_all(self, descriptor: int) -> Iterator[FoundFile]:
        here_is = identity_of(os.fstat(descriptor))
        self._volume, _ = here_is
        start = Start(KnownFolder(self.folder, here_is), self._real, descriptor, "")
        is_allowed = self.roots is None or lies_in(descriptor, self.roots)
        inherited = _Inherited(start, Choice().narrowed("", self.selection), is_allowed)
        # A stack of generators, because folders may be nested more deeply than Python's recursion
        # limit.
        walks = [self._walk("", inherited)]
        try:
            while walks:
                found = next(walks[-1], None)
                if found is None:
                    walks.pop()
                elif isinstance(found, FoundFile):
                    yield found
                else:
                    walks.append(found)
        finally:
            for walk in reversed(walks):
                walk.close()

    def _walk(self, within: str, inherited: _Inherited) -> Generator[Any, None, None]:
        try:
            listing = self._list(within, inherited.start)
        except OSError as error:
            # A folder that vanished since its parent was listed is gone with all its files.
            if not within or not isinstance(error, FileNotFoundError):
                self._note(within.rstrip("/"), _reason("cannot be listed", error))
            return
        if listing.identity == self._avoided:
            if not within:
                self._note("", "is the index itself; name the folder of your documents")
            return
        if listing.identity in inherited.folders:
            # A link led back to a folder that contains this one.
            return
        is_allowed = inherited.is_allowed or listing.identity in (self.roots or ())
        if not is_allowed and (self._parts is None or self._parts.holds(within.rstrip("/"))):
            self._note(within.rstrip("/"), OUTSIDE_ROOTS)
            return
        if not within:
            # If the walk is limited to scopes, any other entry proves that the folder is present.
            self.is_empty = self._parts is None or listing.is_empty
        self.folders.append(within.rstrip("/"))
        for path, reason in listing.errors:
            self._note(path, _reason("cannot be examined", reason))
        here_above = replace(
            inherited,
            choice=inherited.choice.narrowed(within, self.own.get(within.rstrip("/"))),
            is_allowed=is_allowed,
            rules=[*inherited.rules, *listing.rules],
            folders=inherited.folders | {listing.identity},
        )
        yield from self._entries(within, listing.entries, here_above)

    def _list(self, within: str, start: Start) -> Listing:
        """List a folder; links are skipped unless they are to be followed."""
        refuse_too_long(self.folder, within)
        follow_links = self.selection.follow_links and self.roots is None
        selected = []
        errors = []
        with opened_beneath(start.descriptor, start.beneath(within), LISTING) as here:
            # This fails if the folder can be listed but its entries cannot be examined.
            identity = identity_of(status_of_part(here, "."))
            found = sorted(entries(here), key=lambda entry: entry.name)
            rules = [*ignore_rules(here, {entry.name for entry in found}, within)]
            # Entries are examined through the descriptor of the folder, so before it is closed.
            for each in found:
                path = within + each.name
                if not self._is_in_scope(path):
                    continue
                try:
                    if each.is_symlink() and not follow_links:
                        continue
                    entry = _examine(each, f"{start.real}/{path[len(start.at) :]}", self._volume)
                except OSError as error:
                    # The entry has vanished, or it is a dangling or circular link.
                    if error.errno not in (errno.ENOENT, errno.ELOOP):
                        errors.append((path, error))
                    continue
                if entry is not None:
                    selected.append(entry)
        return Listing(identity, not found, selected, errors, rules)

    def _entries(
        self, within: str, entries: Iterable[Entry], inherited: _Inherited
    ) -> Generator[Any, None, None]:
        for entry in entries:
            path = within + entry.name
            self.is_empty = self.is_empty and entry.is_folder
            if self._is_skipped(entry, path, inherited):
                continue
            if reason := self._secret(entry, path):
                self.secrets.append((_found(entry, path, inherited), reason))
                continue
            if entry.is_folder and entry.target is None:
                yield self._walk(f"{path}/", inherited)
            elif entry.is_folder and entry.target is not None:
                yield from self._walk_link_target(entry.target, f"{path}/", inherited)
            elif not inherited.is_allowed:
                self._note(path, OUTSIDE_ROOTS)
            else:
                yield _found(entry, path, inherited)

    def _walk_link_target(
        self, target: Target, within: str, inherited: _Inherited
    ) -> Generator[Any, None, None]:
        if inherited.links == _MAX_NESTED_LINKS:
            return
        folder = target.as_folder()
        try:
            with opened(folder) as descriptor:
                start = Start(folder, str(folder.path), descriptor, within)
                yield self._walk(within, replace(inherited, start=start, links=inherited.links + 1))
        except OSError as error:
            self._note(within.rstrip("/"), _reason("cannot be listed", error))

    def _is_in_scope(self, path: str) -> bool:
        return path not in self.without and (self._parts is None or self._parts.lead_through(path))

    def _is_skipped(self, entry: Entry, path: str, inherited: _Inherited) -> bool:
        slash = "/" if entry.is_folder else ""
        # An ignore file cannot include what the user excludes.
        return (
            (entry.is_hidden and not self.selection.hidden)
            or (not entry.is_folder and is_lock_file(entry.name))
            or inherited.choice.skips(path + slash)
            or (bool(inherited.rules) and is_ignored(path + slash, inherited.rules))
            or not (entry.is_folder or inherited.choice.takes(path))
        )

    def _secret(self, entry: Entry, path: str) -> str | None:
        if entry.identity in self.own_files:
            return OWN
        slash = "/" if entry.is_folder else ""
        is_one = is_secret(entry.name + slash) or (
            entry.target is not None
            and is_inside_secret(entry.target.path.as_posix() + slash, Path(self._real).as_posix())
        )
        if not is_one:
            return None
        allowed = () if entry.is_folder else self.selection.allow_secrets
        return None if is_allowed_secret(self.folder / path, allowed) else _NAME_REASON

    def _note(self, path: str, reason: str) -> None:
        self.unknown.append(path)
        self.errors.append(SourceFileError(self.folder / path, reason))


def _found(entry: Entry, path: str, inherited: _Inherited) -> FoundFile:
    folder, beneath = inherited.start.folder, inherited.start.beneath(path)
    if entry.target is not None:
        folder, beneath = entry.target.folder, entry.target.name
    return FoundFile(path, entry.size, entry.modified_ns, entry.other_volume, folder, beneath)


def _reason(what: str, error: OSError) -> str:
    return f"{what}: {reason_of(error)}"
