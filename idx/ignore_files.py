"""Ignore files: what a folder itself says is none of its documents."""

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from idx.patterns import Patterns

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


def ignore_rules(here: Path, within: str) -> Iterator[tuple[str, Patterns]]:
    """The rules of the ignore files in a folder; a file that is a link has none.

    Args:
        here: the folder.
        within: what the paths in it begin with.

    Raises:
        OSError: a file is there and cannot be read, or is too long.
    """
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
