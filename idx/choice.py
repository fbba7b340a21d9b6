"""Choices: the patterns of the user that hold in a folder."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from idx.ignore_files import Rules
from idx.patterns import Patterns

if TYPE_CHECKING:
    from idx.crawl import Selection


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
