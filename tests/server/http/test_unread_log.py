"""A log that nobody reads: the server goes on, and says what was lost."""

import json
import os
import re
import select
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from server.log import MAX_WAITING_RECORDS
from tests.programs import PROGRAMS, Piped
from tests.server.http.served import SECONDS, Served

REFUSED = b"GET /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@contextmanager
def unread(index: Path, *options: str) -> Iterator[Served]:
    """A server whose stderr is a pipe that nobody reads after its first line."""
    with Piped[bytes](
        [PROGRAMS / "mcp-lucene", index, "--http", "--port", "0", *options],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            found = re.search(r"http://[^\s\"]+", process.stderr.readline().decode())
            assert found
            yield Served(found[0], Path(), process)
        finally:
            process.kill()


def refuse(server: Served, times: int) -> None:
    """Send requests that are refused, and read their answers."""
    with server.raw() as connection:
        connection.settimeout(5)
        for _ in range(0, times, 50):
            connection.sendall(REFUSED * 50)
            answers = b""
            while answers.count(b"HTTP/1.1 404") < 50:
                answers += connection.recv(65536)


@pytest.mark.parametrize("options", [(), pytest.param(("--json-logs",), marks=pytest.mark.soak)])
def test_requests_are_answered_while_nobody_reads_the_log(
    documents: Path, options: tuple[str, ...]
) -> None:
    with unread(documents, *options) as server:
        assert server.call(query="text").status_code == 200
        refuse(server, 2_000)
        began = time.monotonic()
        assert server.call(query="text").json()["result"]["structuredContent"]["totalHits"] == 1
        assert time.monotonic() - began < 2
        lost = int(server.metrics()["mcp_lucene_dropped_log_messages_total"])
        # What fits into the pipe and into the queue is not lost.
        assert 0 < lost < 2_000 - MAX_WAITING_RECORDS
        log = b""
        while b"messages_dropped" not in log:
            assert select.select([server.process.stderr], [], [], SECONDS)[0]
            log += os.read(server.process.stderr.fileno(), 65536)
        (line,) = (line for line in log.decode().splitlines() if "messages_dropped" in line)
        if options:
            assert json.loads(line)["messages"] == lost
        else:
            assert f'messages_dropped messages={lost} reason="nobody read stderr"' in line
        assert server.metrics()["mcp_lucene_dropped_log_messages_total"] == lost


@pytest.mark.soak
def test_a_server_whose_log_nobody_reads_stops_in_order(documents: Path) -> None:
    with unread(documents) as server:
        refuse(server, 2_000)
        began = time.monotonic()
        server.process.terminate()
        assert server.process.wait(timeout=SECONDS) == 0
        assert time.monotonic() - began < 5


@pytest.mark.soak
def test_a_log_that_is_read_loses_nothing(documents: Path) -> None:
    with unread(documents) as server:
        lines: list[bytes] = []
        reader = threading.Thread(target=lambda: lines.extend(server.process.stderr or ()))
        reader.start()
        refuse(server, 2_000)
        assert server.metrics()["mcp_lucene_dropped_log_messages_total"] == 0
        server.process.terminate()
        assert server.process.wait(timeout=SECONDS) == 0
        reader.join(SECONDS)
    assert sum(b"status=404" in line for line in lines) == 2_000
    assert lines[-1].endswith(b"INFO stopped\n")
