"""Progress of a long run, shown on stderr if it is a terminal."""

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from shared.maintenance.upkeep import Step

Item = TypeVar("Item")


def counted(items: Iterable[Item], name: str) -> Iterator[Item]:
    """Pass items on and show their number; silent if stderr is not a terminal."""
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


def shown(steps: Iterable["Step"]) -> Iterator["Step"]:
    """Pass on the steps of a run and show its progress; silent if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield from steps
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    with Progress(
        *columns,
        TimeRemainingColumn(elapsed_when_finished=True),
        console=Console(stderr=True),
        transient=True,
    ) as progress:
        task = progress.add_task("")
        for step in steps:
            total = max(step.total, step.done)
            progress.update(task, description=step.activity, completed=step.done, total=total)
            yield step
