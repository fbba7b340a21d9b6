"""Selections: the patterns of the user and the folders that they apply to."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from idx.crawl.ignore_files import Rules
from shared.files.patterns import Patterns


@dataclass(frozen=True, slots=True)
class Choice:
    """Patterns that apply in a folder: its own and those of the folders above it.

    Attributes:
        wanted: patterns of which a file must match one; None for all files.
        unwanted: patterns of files and folders to skip.
    """

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
        """Check whether a file matches the patterns to include, if there are any."""
        if self.wanted is None:
            return True
        above, patterns = self.wanted
        return bool(patterns.verdict(path.removeprefix(above)))

    def skips(self, path: str) -> bool:
        """Check whether a file, or a folder ending with a slash, is skipped."""
        return any(patterns.verdict(path.removeprefix(above)) for above, patterns in self.unwanted)


@dataclass(frozen=True, slots=True)
class Selection:
    """Selection of the files of a folder.

    Attributes:
        include: patterns as in a ``.gitignore``; if there are any, only files that match one.
        exclude: patterns as in a ``.gitignore``; matching files and folders are skipped.
        hidden: whether files and folders whose name begins with a dot are included.
        follow_links: whether symbolic links are followed.
        allow_secrets: absolute paths of files that are included although they are secrets.
    """

    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    hidden: bool = False
    follow_links: bool = False
    allow_secrets: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Selections:
    """Selections of files for all folders.

    Attributes:
        general: the selection from options, environment variables and the configuration file.
        own: the patterns of individual folders, by their real path.
    """

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
