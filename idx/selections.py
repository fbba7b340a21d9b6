"""Which files are taken of which folder: the general patterns, and those of remembered folders."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from idx.crawl import Selection


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
