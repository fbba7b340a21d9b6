"""Ignore files: patterns of files that a folder excludes from the index."""

import errno
import os
from collections.abc import Collection, Iterator
from stat import S_ISREG
from typing import Final

from shared.files.access import open_beneath
from shared.files.patterns import Patterns
from shared.system import READING

IGNORE_FILES: Final = (".gitignore", ".idxignore")
"""Names of ignore files, whose patterns use the syntax of git and apply to their folder."""

_MAX_IGNORE_FILE_BYTES: Final = 100_000
"""Maximum size of an ignore file, in characters; no person writes a longer one."""

Rules = list[tuple[str, Patterns]]
"""Patterns, each with the prefix of the paths that they apply to; outermost folder first."""


def is_ignored(path: str, rules: Rules) -> bool:
    """Check whether a path is ignored; as in git, the innermost file with a match decides.

    Args:
        path: path relative to the crawled folder, with slashes; a folder's ends with a slash.
        rules: the rules of all folders that contain it.
    """
    for above, patterns in reversed(rules):
        verdict = patterns.verdict(path.removeprefix(above))
        if verdict is not None:
            return verdict
    return False


def ignore_rules(
    folder: int, names: Collection[str], within: str
) -> Iterator[tuple[str, Patterns]]:
    """Yield the rules of the ignore files in a folder; links and special files are skipped.

    Args:
        folder: a descriptor of the folder.
        names: the names of its entries.
        within: prefix of the paths of its entries.

    Raises:
        OSError: an ignore file cannot be read or is too long.
    """
    for name in IGNORE_FILES:
        if name not in names or (text := _text(folder, name)) is None:
            continue
        if len(text) > _MAX_IGNORE_FILE_BYTES:
            # Applying only a part of the patterns would index files that the folder's owner
            # excludes.
            limit = f"{name} has more than {_MAX_IGNORE_FILE_BYTES:,} characters"
            raise OSError(errno.EFBIG, limit)
        yield within, Patterns(text.split("\n"))


def _text(folder: int, name: str) -> str | None:
    """Return the beginning of an ignore file, or None if there is none to read."""
    try:
        descriptor = open_beneath(folder, name, READING)
    except OSError as error:
        # It has vanished, or it is a link or a socket.
        if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENXIO):
            return None
        raise
    try:
        if not S_ISREG(os.fstat(descriptor).st_mode):
            return None
        # Decoded like file names, so that patterns match names that are not UTF-8.
        with os.fdopen(
            descriptor, encoding="utf-8-sig", errors="surrogateescape", closefd=False
        ) as stream:
            return stream.read(_MAX_IGNORE_FILE_BYTES + 1)
    finally:
        os.close(descriptor)
