"""Reports of long runs: progress, problems, and what an interruption kept.

Progress is a bar on a terminal and lines in a pipe; the answer is text, or JSON for a program.
Problems are on stderr, up to a limit of each kind, with files by their absolute paths.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from typing import Any, Final, Literal

from idx.output.printing import created, say, tell, tell_json, time_left
from idx.sync import events
from idx.sync.events import Event, Kept
from shared.files.access import OWN
from shared.messages import quantity, visible_line
from shared.model.failures import ERRORS

_SECONDS_BETWEEN_LINES: Final = 10.0  # between progress lines if stderr is not a terminal
_MAX_WARNINGS_OF_A_KIND: Final = 10  # warnings of one kind; the rest are only counted
SAME_COMMAND: Final = "run the same command to continue"  # advice for runs that skip completed work

_Kind = Literal["empty", "unsupported", "partial", "secret"]

_REST: Final[dict[_Kind, tuple[str, str]]] = {
    "empty": ("more empty file", "more empty files"),
    "unsupported": ("more file of an unsupported kind", "more files of unsupported kinds"),
    "partial": ("more file read only in part", "more files read only in part"),
    "secret": ("more secret skipped", "more secrets skipped"),
}
"""The warnings that are only counted, one and several."""

Show = Callable[[Event], None]


@contextmanager
def reported_interruption(kept: Kept, go_on: str | None = None) -> Iterator[None]:
    """Report the work kept on stderr after an interruption, with advice on the rest of it."""
    try:
        yield
    except KeyboardInterrupt:
        advice = f"; {go_on}" if go_on else ""
        say(f"Interrupted: {kept}{advice}.")
        raise


def report(run: Generator[Event, None, None], print_: Show) -> events.Finished | None:
    """Consume the events of a run and show them; return the last one unless the run ended early.

    What goes to stdout is printed by `print_`. The events are always closed, so that completed work
    is committed.
    """
    # Lines of JSON on the same terminal would interrupt the progress bar.
    display = _terminal if print_ is not print_event and sys.stderr.isatty() else _plain
    problems, last = Problems(), None
    with closing(run), display(print_, problems) as show:
        try:
            for event in run:
                show(event)
                last = event
        except KeyboardInterrupt:
            for line in problems.rest():
                say(line)
            raise
    return last if isinstance(last, events.Finished) else None


def print_event(event: Event) -> None:
    tell_json({"event": type(event).__name__.lower(), **asdict(event)})


def print_news(event: Event) -> None:
    match event:
        case events.Indexed():
            tell(f"{event.action} {event.source_document} ({quantity(event.chunks, 'chunk')})")
        case events.Deleted():
            tell(f"deleted {event.source_document}")
        case events.Watching():
            say(f"Watching {quantity(event.folders, 'folder')}; Ctrl-C ends it.")


def print_answer(event: Event) -> None:
    match event:
        case events.Planned():
            tell(plan_line(event))
        case events.Finished():
            tell(result_line(event))


def plan_line(plan: events.Planned) -> str:
    numbers = (
        f"{plan.add:,} to add, {plan.update:,} to update, {plan.delete:,} to delete, "
        f"{plan.skip:,} unchanged"
    )
    if plan.failed_before:
        numbers += f", {plan.failed_before:,} unreadable before (idx failures; again: --retry)"
    return f"Plan: {numbers}"


def result_line(end: events.Finished) -> str:
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


@contextmanager
def _plain(print_: Show, problems: "Problems") -> Iterator[Show]:
    """Print lines only, with a progress line at intervals."""
    so_far = _Progress()
    told = time.monotonic()

    def show(event: Event) -> None:
        nonlocal told
        for line in problems.lines(event):
            say(line)
        print_(event)
        so_far.count(event)
        if time.monotonic() - told > _SECONDS_BETWEEN_LINES:
            told = time.monotonic()
            say(so_far.line())

    yield show


@contextmanager
def _terminal(print_: Show, problems: "Problems") -> Iterator[Show]:
    """Show a progress bar on stderr below the lines."""
    from rich import progress as bars
    from rich.console import Console
    from rich.table import Column

    so_far = _Progress()
    figures = Column(ratio=1, no_wrap=True, overflow="ellipsis")
    columns: tuple[Any, ...] = (
        bars.BarColumn(bar_width=16),
        bars.MofNCompleteColumn(),
        bars.TimeRemainingColumn(),
        bars.TextColumn("{task.description}", markup=False, table_column=figures),
    )
    console = Console(stderr=True)
    with bars.Progress(*columns, console=console, transient=True, expand=True) as progress:
        bar = progress.add_task("examining the folders", total=None)

        def show(event: Event) -> None:
            so_far.count(event)
            match event:
                case events.Planned():
                    progress.update(bar, total=event.add + event.update)
                case events.Recognized(pages=pages, total=total):
                    # From here on the bar shows pages.
                    progress.update(bar, total=total, completed=pages)
            if not so_far.pages_to_read:
                progress.update(bar, completed=so_far.files)
            progress.update(bar, description=so_far.figures())
            lines = [*problems.lines(event)]
            if lines or isinstance(event, events.Planned | events.Finished):
                # Stopped, because the bar would otherwise appear among the lines; above it, the
                # library would print what is for stdout on stderr.
                progress.stop()
                for line in lines:
                    say(line)
                print_(event)
                if not isinstance(event, events.Finished):
                    progress.start()
            else:
                print_(event)

        yield show


class Problems:
    """Messages about the problems of one or several consecutive runs."""

    def __init__(self) -> None:
        self._counts: Counter[_Kind] = Counter()

    def lines(self, event: Event) -> Iterator[str]:
        """Yield the messages for an event; at the end of a run, also the counts of the rest."""
        match event:
            case events.Created():
                yield created(event.index_path)
            case events.Indexed(warnings=warnings) if warnings:
                yield from self._warnings("partial", event.file_path, warnings)
            case events.NotIndexed(kind="failed" | "garbled"):
                yield f"Error: {event.file_path}: {event.reason}"
            case events.NotIndexed(kind="empty" | "unsupported" as kind):
                if kind == "empty" or event.is_named:
                    yield from self._warnings(kind, event.file_path, (event.reason,))
            case events.NotIndexed(kind="secret") | events.LeftOut():
                allowing = "" if event.reason == OWN else "; to index it: --allow-secret"
                reason = f"{event.reason}, and is skipped{allowing}"
                yield from self._warnings("secret", event.file_path, (reason,))
            case events.Problem():
                yield f"Error: {event.message}"
            case events.MissingFolder():
                yield f"Warning: {event.message}"
            case events.Finished():
                yield from self.rest()

    def rest(self) -> Iterator[str]:
        """Yield the number of unshown warnings of each kind, and reset the counts."""
        for kind, number in self._counts.items():
            if number > _MAX_WARNINGS_OF_A_KIND:
                more = quantity(number - _MAX_WARNINGS_OF_A_KIND, *_REST[kind])
                option = " --secrets" if kind == "secret" else ""
                yield f"Warning: and {more}; list them with: idx failures{option}"
        self._counts.clear()

    def _warnings(self, kind: _Kind, path: str, reasons: tuple[str, ...]) -> Iterator[str]:
        self._counts[kind] += 1
        if self._counts[kind] <= _MAX_WARNINGS_OF_A_KIND:
            for reason in reasons:
                yield f"Warning: {path}: {reason}"


class _Progress:
    def __init__(self) -> None:
        self.files = 0
        self.pages_to_read = 0
        self._pages = 0
        self._total = 0
        self._bytes = 0
        self._chunks = 0
        self._failed = 0
        self._current = ""
        self._bytes_to_read = 0
        self._started = self._began_pages = time.monotonic()

    def count(self, event: Event) -> None:
        match event:
            case events.Planned():
                self._total, self._bytes_to_read = event.add + event.update, event.bytes
                self._started = time.monotonic()
            case events.Indexed() | events.NotIndexed():
                self.files += event.container is None
                self._bytes += event.bytes
                self._current = visible_line(event.source_document)
                if isinstance(event, events.Indexed):
                    self._chunks += event.chunks
                else:
                    self._failed += event.kind in ERRORS
            case events.Deleted():
                self._current = visible_line(event.source_document)
            case events.Recognized():
                if not self.pages_to_read:
                    self._began_pages = time.monotonic()
                self._pages, self.pages_to_read = event.pages, event.total

    def line(self) -> str:
        now = time.monotonic()
        if self.pages_to_read:
            left = time_left(now - self._began_pages, self._pages, self.pages_to_read)
        else:
            left = time_left(now - self._started, self._bytes, self._bytes_to_read)
        return f"{self.files:,} of {quantity(self._total, 'file')}{left}, {self.figures()}"

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
