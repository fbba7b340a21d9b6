"""What somebody who may write into a folder puts in the place of its files and folders."""

import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shared import Searcher

MARKER: Final = "zanzibar"  # stands in every file outside the folder, and in none within it


@dataclass(frozen=True)
class Swap:
    """One thing that takes the place of another."""

    name: str
    victim: str
    replacement: Callable[[Path, Path], None]


def _link(victim: str) -> Callable[[Path, Path], None]:
    return lambda place, outside: place.symlink_to(outside / victim)


def _device(place: Path, _outside: Path) -> None:
    os.mknod(place, stat.S_IFCHR | 0o600, os.makedev(1, 5))


_UP: Final = "../../../outside/inner/file.txt"

SWAPS: Final = (
    Swap("file-to-link", "inner/file.txt", _link("inner/file.txt")),
    Swap("file-to-relative-link", "inner/file.txt", lambda place, _: place.symlink_to(_UP)),
    Swap("folder-to-link", "inner", _link("inner")),
    Swap("parent-to-link", "", _link("")),
    Swap("file-to-pipe", "inner/file.txt", lambda place, _: os.mkfifo(place)),
    *(
        [Swap("file-to-device", "inner/file.txt", _device)]
        # Others may not make one.
        if os.geteuid() == 0
        else []
    ),
)

REASONS: Final = {
    "file-to-pipe": "is not a regular file",
    "file-to-device": "is not a regular file",
}
"""Why a file that was swapped is not read, where it is not that there is a link."""

A_LINK: Final = (
    "cannot be read: it, or a folder above it, was replaced by a link, which is not followed"
)


def prepare(folder: Path, count: int) -> tuple[Path, list[tuple[Swap, Path]]]:
    """A folder `papers` with files to be swapped, and one `outside` with others."""
    outside = folder / "outside"
    (outside / "inner").mkdir(parents=True)
    (outside / "inner" / "file.txt").write_text(f"# {MARKER}\n\nthe key to {MARKER}")
    (outside / "inner" / "other.md").write_text(f"# {MARKER}")
    (folder / "replaced").mkdir()
    victims = []
    for number in range(count):
        swap = SWAPS[number % len(SWAPS)]
        place = folder / "papers" / f"{swap.name}-{number:04d}"
        (place / "inner").mkdir(parents=True)
        (place / "inner" / "file.txt").write_text(f"text number {number}")
        victims.append((swap, place))
    return outside, victims


def put(swap: Swap, place: Path, outside: Path) -> Path:
    """Swap; returns where what was there is now."""
    away = outside.parent / "replaced" / place.name
    victim = place / swap.victim
    victim.rename(away)
    swap.replacement(victim, outside)
    return away


def put_back(swap: Swap, place: Path, away: Path) -> None:
    victim = place / swap.victim
    victim.unlink()
    away.rename(victim)


def assert_nothing_leaked(index: Path, titles: Sequence[str] = (MARKER,)) -> None:
    """No word of the files outside is in an index."""
    with Searcher(index) as searcher:
        assert searcher.search(MARKER).totalHits == 0
        shown = str(searcher.documents(limit=10_000).documents)
    assert not [title for title in titles if title in shown]
