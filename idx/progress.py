"""Progress of a long run, on stderr, and only where somebody watches it."""

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from shared.optimize import Merging

Item = TypeVar("Item")


def counted(items: Iterable[Item], name: str) -> Iterator[Item]:
    """Pass items on and show how many there were; silent if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.completed:,} " + name), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(name, total=None)
        for item in items:
            yield item
            progress.advance(task)


def merged(merging: Iterable["Merging"]) -> Iterator["Merging"]:
    """Pass on how far a merge is and show it; silent if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield from merging
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("Merging", total=None)
        for state in merging:
            progress.update(
                task,
                description=f"Merging {state.segments:,} segments",
                completed=state.bytes_written,
                total=max(state.bytes_before, state.bytes_written),
            )
            yield state
