"""Listings of folders: what is in one, and in which state, as its descriptor shows it."""

import errno
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from stat import S_ISDIR, S_ISREG
from typing import NamedTuple

from idx.crawl.descriptors import LISTING, opened_beneath
from idx.crawl.ignore_files import Rules, ignore_rules
from idx.crawl.location import KnownFolder, Target, resolve_links
from shared.files.access import Identity, identity_of


@dataclass(frozen=True, slots=True)
class Start:
    """A folder that a walk opens everything from.

    Attributes:
        folder: the folder.
        real: its path without links.
        descriptor: of it.
        at: what the paths of files in it begin with.
    """

    folder: KnownFolder
    real: str
    descriptor: int
    at: str

    def beneath(self, path: str) -> str:
        """The way to a file or folder; "." is the start itself."""
        return path[len(self.at) :].rstrip("/") or "."


class Entry(NamedTuple):
    """A file or folder in a folder that was listed.

    Attributes:
        name: its name.
        is_folder: whether it is a folder.
        size: bytes.
        modified_ns: time of its last change, in nanoseconds since 1970.
        other_volume: whether it lies on another volume than the folder that is walked through.
        identity: of the file or folder itself, also at the end of a link.
        target: what it is a link to; None if it is not a link.
    """

    name: str
    is_folder: bool
    size: int
    modified_ns: int
    other_volume: bool
    identity: Identity
    target: Target | None


@dataclass(frozen=True, slots=True)
class Listing:
    """A folder that was listed.

    Attributes:
        identity: what it is known by.
        is_empty: whether there is nothing in it, wanted or not.
        entries: the wanted files and folders in it, by name.
        errors: what kept others from being looked at, with their paths.
        rules: the patterns of its ignore files.
    """

    identity: Identity
    is_empty: bool
    entries: Sequence[Entry]
    errors: Sequence[tuple[str, OSError]]
    rules: Rules


def list_folder(
    start: Start,
    within: str,
    *,
    volume: int,
    is_wanted: Callable[[str], bool],
    follow_links: bool,
) -> Listing:
    """List a folder.

    Args:
        start: where it is opened from.
        within: what the paths of files in it begin with.
        volume: the device of the folder that is walked through.
        is_wanted: whether a path is to be looked at.
        follow_links: whether links in it are followed, or else left out.

    Raises:
        OSError: it cannot be listed, or an ignore file in it cannot be read.
    """
    entries = []
    errors = []
    with opened_beneath(start.descriptor, start.beneath(within), LISTING) as here:
        # Fails where what is in it could be listed but not looked at.
        identity = identity_of(os.stat(".", dir_fd=here))
        with os.scandir(here) as listing:
            found = sorted(listing, key=lambda entry: entry.name)
        rules = [*ignore_rules(here, {entry.name for entry in found}, within)]
        # Before the folder is closed, since this goes by its descriptor.
        for each in found:
            path = within + each.name
            if not is_wanted(path):
                continue
            try:
                if each.is_symlink() and not follow_links:
                    continue
                entry = _look_at(each, f"{start.real}/{path[len(start.at) :]}", volume)
            except OSError as error:
                # It may have vanished meanwhile, or a link leads nowhere or to itself.
                if error.errno not in (errno.ENOENT, errno.ELOOP):
                    errors.append((path, error))
                continue
            if entry is not None:
                entries.append(entry)
    return Listing(identity, not found, entries, errors, rules)


def _look_at(found: os.DirEntry[str], path: str, volume: int) -> Entry | None:
    """The state of a file or folder; None for what is neither.

    Args:
        found: what the listing has of it.
        path: its path, on which no other link lies.
        volume: see `list_folder`.
    """
    target = resolve_links(path) if found.is_symlink() else None
    status = found.stat(follow_symlinks=False) if target is None else target.status
    is_folder = S_ISDIR(status.st_mode)
    if not (is_folder or S_ISREG(status.st_mode)):
        return None
    return Entry(
        found.name,
        is_folder,
        status.st_size,
        status.st_mtime_ns,
        status.st_dev != volume,
        identity_of(status),
        target,
    )
