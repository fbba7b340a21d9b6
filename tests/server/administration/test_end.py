"""The end of a server ends what it started, and the index stays whole."""

import signal
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import pytest

from idx.sync.events import Deleted, Event, Indexed, NotIndexed, Planned
from server.administration.operation import Progress
from shared import Index, Searcher
from tests.server.administration.administered import SECONDS, is_alive, wait_until_gone
from tests.server.administration.conftest import MANY
from tests.server.administration.crawling import crawling


def check_index(path: Path) -> None:
    """It has a part of the files, and can be written."""
    with Index(path, wait=0):
        pass
    with Searcher(path) as searcher:
        assert searcher.documents(limit=1).total_documents < MANY


def test_a_client_that_leaves_ends_the_crawl_in_order(empty_index: Path, many_files: Path) -> None:
    with crawling(empty_index, many_files) as (server, crawl):
        server.stdin.close()
        assert server.wait(timeout=SECONDS) == 0
        assert not is_alive(crawl)
        assert server.stderr.read() == b""
    check_index(empty_index)


@pytest.mark.soak
@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_crawl_before_the_server(
    empty_index: Path, many_files: Path, stop: signal.Signals
) -> None:
    with crawling(empty_index, many_files) as (server, crawl):
        server.send_signal(stop)
        assert server.wait(timeout=SECONDS) == -stop
        assert not is_alive(crawl)
    check_index(empty_index)


@pytest.mark.soak
def test_a_second_signal_ends_both_at_once(empty_index: Path, many_files: Path) -> None:
    with crawling(empty_index, many_files) as (server, crawl):
        server.send_signal(signal.SIGTERM)
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=SECONDS) in {-signal.SIGTERM, -signal.SIGINT}
        wait_until_gone(crawl)
    check_index(empty_index)


@pytest.mark.soak
def test_a_crawl_whose_server_was_killed_ends_by_itself(
    empty_index: Path, many_files: Path
) -> None:
    with crawling(empty_index, many_files) as (server, crawl):
        server.kill()
        server.wait(timeout=SECONDS)
        wait_until_gone(crawl)
    check_index(empty_index)


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
