"""Selection of files by options, ignore files and what is never indexed."""

import errno
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from stat import S_ISREG
from typing import Final

from shared.files.access import opened_beneath
from shared.files.patterns import Patterns
from shared.system import READING

IGNORE_FILES: Final = (".gitignore", ".idxignore")
"""Names of ignore files, whose patterns use the syntax of git and apply to their folder."""

_MAX_IGNORE_FILE_BYTES: Final = 100_000  # of an ignore file; no person writes a longer one

Rules = list[tuple[str, Patterns]]
"""Patterns, each with the prefix of the paths that they apply to; outermost folder first."""


def is_ignored(path: str, rules: Rules) -> bool:
    """Check whether a path is ignored; as in git, the innermost file with a match decides.

    The path of a folder ends with a slash.
    """
    for above, patterns in reversed(rules):
        verdict = patterns.verdict(path.removeprefix(above))
        if verdict is not None:
            return verdict
    return False


def ignore_rules(
    folder: int, names: Collection[str], within: str
) -> Iterator[tuple[str, Patterns]]:
    """Yield the rules of the ignore files in a folder; links and special files are skipped."""
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
    try:
        with opened_beneath(folder, name, READING) as descriptor:
            if not S_ISREG(os.fstat(descriptor).st_mode):
                return None
            # Decoded like file names, so that patterns match names that are not UTF-8.
            with os.fdopen(
                descriptor, encoding="utf-8-sig", errors="surrogateescape", closefd=False
            ) as stream:
                return stream.read(_MAX_IGNORE_FILE_BYTES + 1)
    except OSError as error:
        # It has vanished, or it is a link or a socket.
        if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENXIO):
            return None
        raise


@dataclass(frozen=True, slots=True)
class Choice:
    """Patterns that apply in a folder: its own and those of the folders above it."""

    wanted: tuple[str, Patterns] | None = None
    unwanted: Rules = field(default_factory=list)

    def narrowed(self, within: str, selection: "Selection | None") -> "Choice":
        """Return the choice for a folder, which may have its own patterns."""
        if selection is None:
            return self
        return Choice(
            (within, Patterns(selection.include)) if selection.include else self.wanted,
            [*self.unwanted, (within, Patterns(selection.exclude))],
        )

    def takes(self, path: str) -> bool:
        if self.wanted is None:
            return True
        above, patterns = self.wanted
        return bool(patterns.verdict(path.removeprefix(above)))

    def skips(self, path: str) -> bool:
        """Check whether a file, or a folder ending with a slash, is skipped."""
        return any(patterns.verdict(path.removeprefix(above)) for above, patterns in self.unwanted)


@dataclass(frozen=True, slots=True)
class Selection:
    """Selection of the files of a folder by patterns as in a ``.gitignore``."""

    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    hidden: bool = False
    follow_links: bool = False
    allow_secrets: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Selections:
    general: Selection
    own: Mapping[str, Selection]

    def selection_for(self, folder: Path) -> Selection:
        """Return the selection for a folder, under any of its paths.

        The folder's own patterns to include replace the general ones; its patterns to exclude are
        added to the general ones.
        """
        own = self.own.get(os.path.realpath(folder), Selection())
        return replace(
            self.general,
            include=own.include or self.general.include,
            exclude=(*self.general.exclude, *own.exclude),
        )

    def within(self, folder: Path) -> dict[str, Selection]:
        """Return the patterns of folders within a folder, by their relative path with slashes."""
        here = Path(os.path.realpath(folder))
        return {
            Path(path).relative_to(here).as_posix(): selection
            for path, selection in self.own.items()
            if here in Path(path).parents
        }
