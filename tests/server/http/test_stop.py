"""The end of a server: what runs is answered, what comes is refused, and it ends with 0."""

import signal
import subprocess
import threading
import time
from pathlib import Path

import httpx2
import pytest

from tests.programs import PROGRAMS, Started
from tests.server.http.served import (
    ACCEPT,
    SECONDS,
    begin_call,
    initialize,
    served,
    status_of_answer,
    wait_for,
)

pytestmark = pytest.mark.soak


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_call_that_runs_is_answered_and_others_are_refused(
    documents: Path, tmp_path: Path, stop: signal.Signals
) -> None:
    with (
        served(documents, log=tmp_path / "log") as server,
        server.connection() as running,
        server.connection() as open_before,
    ):
        open_before.request("GET", "/readyz")
        assert status_of_answer(open_before) == 200
        last = begin_call(running)
        wait_for(lambda: server.metrics()["mcp_lucene_running_requests"] == 1, "it runs")
        server.process.send_signal(stop)
        wait_for(lambda: server.get("/readyz").status_code == 503, "it stops")
        open_before.request("GET", "/readyz")
        assert status_of_answer(open_before) == 503
        assert server.get("/healthz").status_code == 200
        for refused in (server.call(query="text"), initialize(server)):
            assert refused.status_code == 503
            assert refused.headers["retry-after"] == "1"
        assert server.process.poll() is None
        running.send(last)
        assert status_of_answer(running) == 200
        assert server.process.wait(timeout=SECONDS) == 0
        with pytest.raises(httpx2.ConnectError):
            server.get("/healthz")
        assert "error=" not in server.logged()


def test_a_search_that_takes_long_is_finished(documents: Path, tmp_path: Path) -> None:
    # Each pattern is near the limit of what is taken.
    slow = " ".join(f"/[ab]*a[ab]{{9}}{number}/" for number in range(40))
    answers = []
    with served(documents, log=tmp_path / "log") as server:
        client = threading.Thread(target=lambda: answers.append(server.call(query=slow)))
        client.start()
        wait_for(lambda: server.metrics()["mcp_lucene_running_requests"] == 1, "it runs")
        server.process.terminate()
        client.join(SECONDS)
        assert [answer.status_code for answer in answers] == [200]
        assert answers[0].json()["result"]["structuredContent"]["query"] == slow


def test_open_streams_do_not_keep_the_server(documents: Path, tmp_path: Path) -> None:
    with served(documents, log=tmp_path / "log") as server:
        session = {"Mcp-Session-Id": initialize(server).headers["mcp-session-id"]}
        with httpx2.stream("GET", server.url, headers=ACCEPT | session, timeout=SECONDS) as stream:
            assert stream.status_code == 200
            began = time.monotonic()
            server.process.terminate()
            # It ends as a response should, and is not torn off.
            stream.read()
            assert server.process.wait(timeout=SECONDS) == 0
            assert time.monotonic() - began < 9
        assert "error=" not in server.logged()


def test_a_call_that_does_not_end_is_dropped_after_ten_seconds(
    documents: Path, tmp_path: Path
) -> None:
    with served(documents, log=tmp_path / "log") as server, server.connection() as running:
        begin_call(running)
        wait_for(lambda: server.metrics()["mcp_lucene_running_requests"] == 1, "it runs")
        began = time.monotonic()
        server.process.terminate()
        assert server.process.wait(timeout=SECONDS) == 0
        assert time.monotonic() - began > 9
        assert "WARNING calls_dropped calls=1" in server.logged()


def test_a_second_signal_ends_it_at_once(documents: Path, tmp_path: Path) -> None:
    with served(documents, log=tmp_path / "log") as server, server.connection() as running:
        begin_call(running)
        wait_for(lambda: server.metrics()["mcp_lucene_running_requests"] == 1, "it runs")
        server.process.terminate()
        wait_for(lambda: server.get("/readyz").status_code == 503, "it stops")
        began = time.monotonic()
        server.process.terminate()
        assert server.process.wait(timeout=SECONDS) == 0
        assert time.monotonic() - began < 9


def test_a_server_that_is_idle_stops_at_once(documents: Path, tmp_path: Path) -> None:
    with served(documents, log=tmp_path / "log") as server:
        assert server.call(query="text").status_code == 200
        server.process.terminate()
        assert server.process.wait(timeout=SECONDS) == 0
    assert server.logged().splitlines()[-1].endswith("INFO stopped")


def test_nothing_but_the_address_is_printed(documents: Path) -> None:
    with Started(
        *(PROGRAMS / "mcp-lucene", documents, "--http", "--port", "0", "--log-level", "error"),
        stdin=subprocess.DEVNULL,
    ) as process:
        assert process.stderr.readline().startswith("Listening on http://127.0.0.1:")
        process.terminate()
        assert process.communicate(timeout=SECONDS) == ("", "")
        assert process.returncode == 0
