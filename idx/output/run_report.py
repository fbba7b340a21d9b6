"""Report of a run: a progress bar on a terminal, lines in a pipe, JSON for a program."""

import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import asdict
from typing import Any, Final, Literal

from idx.output.printing import say, tell, tell_json
from idx.output.run_problems import Problems
from idx.sync.events import (
    Deleted,
    Event,
    Finished,
    Indexed,
    NotIndexed,
    Planned,
    Recognized,
    Watching,
)
from shared.control_characters import visible_line
from shared.messages import quantity
from shared.model.failures import ERRORS

SECONDS_BETWEEN_LINES: Final = 10.0
"""Interval between progress lines if stderr is not a terminal, in seconds."""

Show = Callable[[Event], None]


Answer = Literal["text", "events", "none"]
"""Output of a run on stdout: lines of text, each event as JSON, or nothing."""


def report(events: Generator[Event, None, None], answer: Answer) -> Finished | None:
    """Consume the events of a run and show them.

    Args:
        events: the events; always closed, so that completed work is committed.
        answer: the output on stdout; problems are printed on stderr in any case.

    Returns:
        The last event; None if the run ended early.
    """
    last = None
    with closing(events), _display(answer) as show:
        for event in events:
            show(event)
            last = event
    return last if isinstance(last, Finished) else None


def print_event(event: Event) -> None:
    """Print an event as a line of JSON."""
    line = {"event": type(event).__name__.lower(), **asdict(event)}
    tell_json(line)


def print_answer(event: Event) -> None:
    """Print the plan and the result on stdout."""
    match event:
        case Planned():
            tell(plan_line(event))
        case Finished():
            tell(result_line(event))
        case _:
            pass


def print_news(event: Event) -> None:
    """Print the changes to the index, document by document."""
    match event:
        case Indexed():
            tell(f"{event.action} {event.source_document} ({quantity(event.chunks, 'chunk')})")
        case Deleted():
            tell(f"deleted {event.source_document}")
        case Watching():
            say(f"Watching {quantity(event.folders, 'folder')}; Ctrl-C ends it.")
        case _:
            pass


def plan_line(plan: Planned) -> str:
    """Return a plan on one line."""
    numbers = (
        f"{plan.add:,} to add, {plan.update:,} to update, {plan.delete:,} to delete, "
        f"{plan.skip:,} unchanged"
    )
    if plan.failed_before:
        numbers += f", {plan.failed_before:,} unreadable before (idx failures; again: --retry)"
    return f"Plan: {numbers}"


def result_line(end: Finished) -> str:
    """Return the result of a run on one line."""
    numbers = (
        f"Added {end.added:,}, updated {end.updated:,}, deleted {end.deleted:,}, "
        f"skipped {end.skipped:,}, failed {end.failed:,}"
    )
    if end.unsupported or end.empty:
        unsupported = quantity(end.unsupported, "unsupported file")
        numbers += f"; {unsupported}, {quantity(end.empty, 'empty file')}"
    if end.secrets:
        numbers += f"; {quantity(end.secrets, 'secret')} skipped (idx failures --secrets)"
    return f"{numbers}; {quantity(end.chunks, 'chunk')} in {end.seconds:.1f} s"


_ANSWERS: Final[dict[Answer, Show]] = {
    "text": print_answer,
    "events": print_event,
    "none": lambda _: None,
}


def _display(answer: Answer) -> AbstractContextManager[Show]:
    print_ = _ANSWERS[answer]
    # Lines of JSON on the same terminal would interrupt the progress bar.
    if answer != "events" and sys.stderr.isatty():
        return _terminal(print_)
    return _plain(print_)


@contextmanager
def _plain(print_: Show) -> Iterator[Show]:
    """Print lines only, with a progress line at intervals."""
    so_far, problems = _Progress(), Problems()
    told = time.monotonic()

    def show_and_count(event: Event) -> None:
        nonlocal told
        for line in problems.lines(event):
            say(line)
        print_(event)
        so_far.count(event)
        if time.monotonic() - told > SECONDS_BETWEEN_LINES:
            told = time.monotonic()
            say(so_far.line())

    with _unshown_warnings(problems):
        yield show_and_count


@contextmanager
def _terminal(print_: Show) -> Iterator[Show]:
    """Show a progress bar on stderr below the lines."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.table import Column

    so_far, problems = _Progress(), Problems()
    figures = Column(ratio=1, no_wrap=True, overflow="ellipsis")
    columns: tuple[Any, ...] = (
        BarColumn(bar_width=16),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False, table_column=figures),
    )
    console = Console(stderr=True)
    with (
        _unshown_warnings(problems),
        Progress(*columns, console=console, transient=True, expand=True) as progress,
    ):
        bar = progress.add_task("examining the folders", total=None)

        def show(event: Event) -> None:
            so_far.count(event)
            match event:
                case Planned():
                    progress.update(bar, total=event.add + event.update)
                case Recognized(pages=pages, total=total):
                    # From here on the bar shows pages.
                    progress.update(bar, total=total, completed=pages)
                case _:
                    pass
            if not so_far.pages_to_read:
                progress.update(bar, completed=so_far.files)
            progress.update(bar, description=so_far.figures())
            lines = [*problems.lines(event)]
            if lines or isinstance(event, Planned | Finished):
                # Stopped, because the bar would otherwise appear among the lines.
                progress.stop()
                for line in lines:
                    say(line)
                print_(event)
                if not isinstance(event, Finished):
                    progress.start()

        yield show


@contextmanager
def _unshown_warnings(problems: Problems) -> Iterator[None]:
    """Print the number of unshown warnings after an interruption."""
    try:
        yield
    except KeyboardInterrupt:
        for line in problems.rest():
            say(line)
        raise


class _Progress:
    """Progress of a run."""

    def __init__(self) -> None:
        self.files = 0
        self.pages_to_read = 0
        self._pages = 0
        self._total = 0
        self._bytes = 0
        self._chunks = 0
        self._failed = 0
        self._current = ""
        self._started = time.monotonic()

    def count(self, event: Event) -> None:
        """Update the progress with an event."""
        match event:
            case Planned():
                self._total = event.add + event.update
            case Indexed() | NotIndexed():
                self.files += event.container is None
                self._bytes += event.bytes
                self._current = visible_line(event.source_document)
                if isinstance(event, Indexed):
                    self._chunks += event.chunks
                else:
                    self._failed += event.kind in ERRORS
            case Deleted():
                self._current = visible_line(event.source_document)
            case Recognized():
                self._pages, self.pages_to_read = event.pages, event.total
            case _:
                pass

    def line(self) -> str:
        """Return the number of processed files and the figures."""
        return f"{self.files:,} of {quantity(self._total, 'file')}, {self.figures()}"

    def figures(self) -> str:
        """Return the amount of work done, the speed, the failures and the latest document."""
        seconds = max(time.monotonic() - self._started, 0.001)
        if self.pages_to_read:
            pages = quantity(self.pages_to_read, "page")
            read = f"OCR has read {self._pages:,} of {pages}"
            return f"{read}, {self._failed:,} failed  {self._current}"
        return (
            f"{quantity(self._chunks, 'chunk')}, {self._bytes / 1e6:,.1f} MB, "
            f"{self.files / seconds:,.0f} files/s, {self._failed:,} failed  {self._current}"
        )
