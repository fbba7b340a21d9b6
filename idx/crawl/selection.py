"""Selections: the patterns of the user, and where they hold."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from idx.crawl.ignore_files import Rules
from idx.crawl.patterns import Patterns


@dataclass(frozen=True, slots=True)
class Choice:
    """The patterns that hold in a folder: its own, and those of folders that it lies in.

    Attributes:
        wanted: only files that match these are taken; None for all.
        unwanted: what matches any of these is left out.
    """

    wanted: tuple[str, Patterns] | None = None
    unwanted: Rules = field(default_factory=list)

    def narrowed(self, within: str, selection: "Selection | None") -> "Choice":
        """The choice in a folder, which may have patterns of its own."""
        if selection is None:
            return self
        return Choice(
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
class Selection:
    """Which files of a folder are taken.

    Attributes:
        include: patterns as in a ``.gitignore``; if there are any, only files that match one.
        exclude: patterns as in a ``.gitignore``; files and folders that match are left out.
        hidden: whether files and folders whose name begins with a dot are taken.
        follow_links: whether symbolic links are followed.
        allow_secrets: absolute paths of files that are taken though they are secrets.
    """

    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    hidden: bool = False
    follow_links: bool = False
    allow_secrets: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Selections:
    """Which files are taken.

    Attributes:
        general: what the options, the variables and the configuration file say of all folders.
        own: the patterns of folders that have some of their own, by their real path.
    """

    general: Selection
    own: Mapping[str, Selection]

    def of(self, folder: Path) -> Selection:
        """Which files of a folder are taken, by whichever path it is named.

        What it includes of its own stands in place of what is included in general, and what it
        excludes is left out besides.
        """
        own = self.own.get(os.path.realpath(folder), Selection())
        return replace(
            self.general,
            include=own.include or self.general.include,
            exclude=(*self.general.exclude, *own.exclude),
        )

    def within(self, folder: Path) -> dict[str, Selection]:
        """The own patterns of folders that lie in a folder, by their path in it, with slashes."""
        here = os.path.join(os.path.realpath(folder), "")  # noqa: PTH118 - of a real path
        return {
            path.removeprefix(here): selection
            for path, selection in self.own.items()
            if path.startswith(here)
        }
