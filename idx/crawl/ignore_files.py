"""Ignore files: what a folder itself says is none of its documents."""

import errno
import os
from collections.abc import Collection, Iterator
from stat import S_ISREG
from typing import Final

from idx.crawl.descriptors import READING, open_beneath
from idx.crawl.patterns import Patterns

IGNORE_FILES: Final = (".gitignore", ".idxignore")
"""Files whose patterns take away from the folder they lie in, in the syntax of git."""

_LARGEST_IGNORE_FILE: Final = 100_000
"""Characters of an ignore file; one that is longer was not written by a person."""

Rules = list[tuple[str, Patterns]]
"""Patterns with the folder they hold for, as a beginning of paths; the outermost first."""


def is_ignored(path: str, rules: Rules) -> bool:
    """Whether a path is left out: the innermost file with a pattern for it decides, as in git.

    Args:
        path: relative to the folder that was crawled, with slashes, a folder's with one at its end.
        rules: of all folders that it lies in.
    """
    for above, patterns in reversed(rules):
        verdict = patterns.verdict(path.removeprefix(above))
        if verdict is not None:
            return verdict
    return False


def ignore_rules(
    folder: int, names: Collection[str], within: str
) -> Iterator[tuple[str, Patterns]]:
    """The rules of the ignore files in a folder; what is a link or not a file has none.

    Args:
        folder: a descriptor of the folder.
        names: of what is in it.
        within: what the paths in it begin with.

    Raises:
        OSError: a file is there and cannot be read, or is too long.
    """
    for name in IGNORE_FILES:
        if name not in names or (text := _text(folder, name)) is None:
            continue
        if len(text) > _LARGEST_IGNORE_FILE:
            # With a part of the patterns, files would be taken that somebody keeps out.
            limit = f"{name} has more than {_LARGEST_IGNORE_FILE:,} characters"
            raise OSError(errno.EFBIG, limit)
        yield within, Patterns(text.split("\n"))


def _text(folder: int, name: str) -> str | None:
    """The beginning of an ignore file; None where there is none to be read."""
    try:
        descriptor = open_beneath(folder, name, READING)
    except OSError as error:
        # It vanished meanwhile, or is a link, or a socket.
        if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENXIO):
            return None
        raise
    try:
        if not S_ISREG(os.fstat(descriptor).st_mode):
            return None
        # Names in it are spelled as the system spells those of files.
        with os.fdopen(
            descriptor, encoding="utf-8-sig", errors="surrogateescape", closefd=False
        ) as stream:
            return stream.read(_LARGEST_IGNORE_FILE + 1)
    finally:
        os.close(descriptor)
