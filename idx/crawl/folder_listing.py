"""Listings of folders: the entries and their states, read through a descriptor of the folder."""

import errno
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from stat import S_ISDIR, S_ISREG
from typing import NamedTuple

from idx.crawl.patterns import Rules, ignore_rules
from shared.files.access import Identity, identity_of, opened_beneath
from shared.files.location import KnownFolder, Target, resolve_links
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


def list_folder(
    start: Start,
    within: str,
    *,
    volume: int,
    is_wanted: Callable[[str], bool],
    follow_links: bool,
) -> Listing:
    """List a folder; links are skipped unless they are to be followed."""
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
            if not is_wanted(path):
                continue
            try:
                if each.is_symlink() and not follow_links:
                    continue
                entry = _examine(each, f"{start.real}/{path[len(start.at) :]}", volume)
            except OSError as error:
                # The entry has vanished, or it is a dangling or circular link.
                if error.errno not in (errno.ENOENT, errno.ELOOP):
                    errors.append((path, error))
                continue
            if entry is not None:
                selected.append(entry)
    return Listing(identity, not found, selected, errors, rules)


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
