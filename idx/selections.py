"""Which files are taken of which folder: the general patterns, and those of remembered folders."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from idx.crawl import Selection


@dataclass(frozen=True, slots=True)
class Selections:
    """Which files are taken.

    Attributes:
        general: of folders without patterns of their own.
        own: of those that have some, by their real path.
    """

    general: Selection
    own: Mapping[str, Selection]

    def of(self, folder: Path) -> Selection:
        """Which files of a folder are taken, by whichever path it is named."""
        return self.own.get(os.path.realpath(folder), self.general)

    def within(self, folder: Path) -> dict[str, Selection]:
        """The same of the folders that lie in a folder, by their path in it, with slashes."""
        here = os.path.join(os.path.realpath(folder), "")  # noqa: PTH118 - of a real path
        return {
            path.removeprefix(here): selection
            for path, selection in self.own.items()
            if path.startswith(here)
        }
