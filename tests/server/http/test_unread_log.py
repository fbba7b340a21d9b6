"""Logs: what is lost of one that nobody reads is said, and libraries show no values."""

import json
import os
import re
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from server.log import MAX_WAITING_RECORDS
from tests.programs import PROGRAMS, Piped, run
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


PROGRAM = """
import logging
from server.log import LOG, log_over_http
log_over_http("info", as_json=True)
library = logging.getLogger("some.library")
library.info("not shown")
library.warning("refused %r", "zyxwsecret")
library.warning(f"refused {'zyxwsecret'}")
try:
    raise ValueError("zyxwsecret")
except ValueError:
    library.exception("failed for %s", "zyxwsecret")
LOG.info("call", extra={"client": "c" * 1_000, "token": None})
LOG.debug("not shown")
"""


def test_values_and_words_of_exceptions_are_left_out() -> None:
    done = run(sys.executable, "-c", PROGRAM)
    assert "zyxwsecret" not in done.stderr
    refused, formatted, failed, call = (json.loads(line) for line in done.stderr.splitlines())
    assert refused["event"] == "library"
    assert refused["logger"] == "some.library"
    assert refused["message"] == "refused %r"
    assert formatted["logger"] == "some.library"
    assert "message" not in formatted
    assert formatted["at"] == ["<string>:8 <module>"]
    assert (refused["level"], failed["level"], call["level"]) == ("warning", "error", "info")
    assert failed["error"] == "ValueError"
    assert failed["at"] == ["<string>:10 <module>"]
    assert call["client"] == "c" * 200
    assert "token" not in call


@pytest.mark.parametrize("as_json", [True, False])
def test_a_client_cannot_steer_the_terminal(as_json: bool) -> None:
    name = "caf\u00e9 \u009b2J\u0085\u202e\U000e0041\x1b[2J"
    program = (
        "from server.log import LOG, log_over_http\n"
        f"log_over_http('info', as_json={as_json})\n"
        f"LOG.info('call', extra={{'client': {name!a}}})\n"
    )
    done = run(
        sys.executable, "-c", program, encoding="utf-8", env={**os.environ, "PYTHONUTF8": "1"}
    )
    line = done.stderr.removesuffix("\n")
    assert line.isprintable()
    shown = line if as_json else f'{{"client": {line.partition("client=")[2]}}}'
    assert json.loads(shown)["client"] == name
    assert "café" in line
