"""The end of a server ends what it started, and the index stays whole."""

import signal
from pathlib import Path

import pytest

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
        assert server.stderr.read() == ""
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
