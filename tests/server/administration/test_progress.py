"""The counters of a crawl, from the events that `idx sync --json` tells."""

from collections.abc import Iterable
from dataclasses import asdict

from idx.sync.events import Deleted, Event, Indexed, NotIndexed, Planned
from server.administration.operation import Progress


def take(progress: Progress, events: Iterable[Event]) -> None:
    for event in events:
        progress.process_event({"event": type(event).__name__.lower(), **asdict(event)})


def plan(update: int, skip: int = 0, failed_before: int = 0) -> Planned:
    return Planned(0, update, 0, skip, failed_before, bytes=update)


def test_a_file_that_is_empty_now_is_one_of_those_that_were_planned() -> None:
    progress = Progress()
    empty = NotIndexed("a", "/papers/a", "empty", "has no text", 0)
    take(
        progress, [plan(update=10), Indexed("updated", "b", "/papers/b", 3, 1), empty, Deleted("a")]
    )
    counters = progress.counters()
    assert (counters.planned, counters.remaining) == (10, 8)
    assert (counters.updated, counters.empty, counters.deleted) == (1, 1, 1)
    progress.begin_run()
    # The one that is empty is not tried again, and the one that was updated is unchanged.
    take(progress, [plan(update=8, skip=1, failed_before=1)])
    counters = progress.counters()
    assert (counters.planned, counters.remaining, counters.skipped) == (10, 8, 0)
